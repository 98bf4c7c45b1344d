# SPDX-License-Identifier: Apache-2.0
"""RELAYOUT: the elements of an image change places in memory, their values stay."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from math import prod

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, binary, clamp, minimum, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.layouts import AXES, Layout, Patches
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Distances
from atoll.ops.moves.movement import Copy


class Relayout(Copy):
    """Give a tensor another layout; placement makes it, no model file holds it.

    One of input and output has none: it is in row-major order.
    """

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a tensor of the output's type and shape, one of the two in row-major order."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the bytes written, and whether they are patches."""
        (output,) = graph.results(op)
        patches = output.layout is not None and output.layout.patches is not None
        return {"macs": 0, "bytes": output.size, "patches": int(patches)}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: bytes are written in another order than they are read."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Move element by element, in the order of the side that has a layout."""
        source, (output,) = require_input(op, graph, 0), graph.results(op)
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        if output.layout is None:
            assert source.layout is not None
            _move(builder, y, x, source.layout, gathers=False)
            return builder.lowered()
        layout = output.layout
        if layout.elements != prod(layout.extents) or layout.patches:
            with builder.loop("i", 0, layout.elements) as i:
                y[i] = layout.fill
        if layout.patches:
            _patch(builder, y, x, layout, layout.patches)
        else:
            _move(builder, y, x, layout, gathers=True)
        return builder.lowered()


def _move(builder: KernelBuilder, y: Buffer, x: Buffer, layout: Layout, *, gathers: bool) -> None:
    """Move between row-major order and a layout without patches, to the layout if it `gathers`."""
    extents = dict(zip(AXES, layout.image, strict=True))
    channels = extents["C"]
    extents |= {"C": -(-channels // layout.block), "c": layout.block}
    plain = {"N": prod(layout.image[1:]), "H": prod(layout.image[2:]), "W": channels}
    plain |= {"C": layout.block, "c": 1}
    with ExitStack() as nest:
        at: dict[str, Expr] = {}
        for axis in layout.order:
            loop = builder.loop("block" if axis == "c" else axis.lower(), 0, extents[axis])
            at[axis] = nest.enter_context(loop)
        if channels % layout.block:
            channel = add(multiply(at["C"], layout.block), at["c"])
            nest.enter_context(builder.when(binary(Operation.LT, channel, channels)))
        laid = add(*(multiply(at[axis], layout.strides[axis]) for axis in layout.order))
        index = add(*(multiply(at[axis], plain[axis]) for axis in layout.order))
        if channels % layout.block:
            index = minimum(index, prod(layout.image) - 1)
        to, start = (laid, index) if gathers else (index, laid)
        y[to] = x[start]


def _patch(builder: KernelBuilder, y: Buffer, x: Buffer, layout: Layout, patches: Patches) -> None:
    """Fill what the windows cover inside the image; all else is filled already."""
    count, height, width, channels = layout.image
    strides, (_, taps_across) = layout.strides, patches.kernel
    with ExitStack() as nest:

        def loop(name: str, times: int) -> Expr:
            return nest.enter_context(builder.loop(name, 0, times))

        def inside(value: Expr, extent: int) -> None:
            for test in (binary(Operation.LE, 0, value), binary(Operation.LT, value, extent)):
                nest.enter_context(builder.when(test))

        n = loop("n", count)
        places = [
            loop(name, times) for name, times in zip(("oy", "ox"), patches.places, strict=True)
        ]
        taps = [loop(name, times) for name, times in zip(("ky", "kx"), patches.kernel, strict=True)]
        source: list[Expr] = []
        for at, tap, step, dilation, before, extent in zip(
            *(places, taps, patches.stride, patches.dilation, patches.before, (height, width)),
            strict=True,
        ):
            place = add(multiply(at, step), multiply(tap, dilation))
            source.append(builder.let("place", subtract(place, before)))
            inside(source[-1], extent)
        c = loop("c", channels)
        number = add(multiply(taps[0], taps_across), taps[1])
        k = builder.let("k", add(multiply(number, channels), c))
        index = add(multiply(add(multiply(n, height), source[0]), width), source[1])
        index = add(multiply(index, channels), c)
        to = add(multiply(n, strides["N"]), multiply(places[0], strides["H"]))
        to = add(to, multiply(places[1], strides["W"]), _channel(builder, k, layout))
        to, index = (
            clamp(each, 0, last - 1)
            for each, last in ((to, layout.elements), (index, prod(layout.image)))
        )
        y[to] = x[index]


def _channel(builder: KernelBuilder, k: Expr, layout: Layout) -> Expr:
    """Return where channel `k` lies from its position's first on."""
    strides = layout.strides
    if layout.block == 1:
        return multiply(k, strides["C"])
    block = builder.let("block", binary(Operation.DIV, k, layout.block))
    within = subtract(k, multiply(block, layout.block))
    return add(multiply(block, strides["C"]), multiply(within, strides["c"]))


def _one_is_plain(op: Operator, graph: Graph) -> Iterator[Fault]:
    (output,) = graph.results(op)
    if (require_input(op, graph, 0).layout is None) is (output.layout is None):
        yield checks.fault(op, "has a layout on both sides or on none", tensor=output)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    _one_is_plain,
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
)

RELAYOUT = Relayout()
