"""Loop programs of COPY, RESHAPE, PAD and CONCATENATION: elements move, none changes."""

from contextlib import ExitStack
from math import prod

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import zero_point_of
from atoll.ops.shape import paddings


def lower_copy(op: Operator, graph: Graph) -> Lowered:
    """Lower a copy of all elements in their order."""
    builder = KernelBuilder(op, graph)
    x, y = builder.input(0, "x"), builder.output()
    _move(builder, y, 0, x, 0, graph.results(op)[0].elements)
    return builder.lowered()


def lower_reshape(op: Operator, graph: Graph) -> Lowered:
    """Lower a reshape, which keeps the order of the elements."""
    return lower_copy(op, graph)


def lower_pad(op: Operator, graph: Graph) -> Lowered:
    """Lower a padding with real zeros: fill the output, then copy the input into it."""
    source, (output,) = graph.tensor(op.inputs[0]), graph.results(op)
    before = [pair[0] for pair in paddings(op, graph)]
    builder = KernelBuilder(op, graph)
    x, y = builder.input(0, "x"), builder.output()
    with builder.loop("i", 0, output.elements) as i:
        y[i] = zero_point_of(output)
    outer = max(
        (d + 1 for d in range(len(before)) if source.shape[d] != output.shape[d]), default=0
    )
    from_index: Expr = Const(0)
    to_index: Expr = Const(0)
    with ExitStack() as nest:
        for d in range(outer - 1):
            i = nest.enter_context(builder.loop(f"d{d}", 0, source.shape[d]))
            from_index = add(from_index, multiply(i, prod(source.shape[d + 1 :])))
            to_index = add(to_index, multiply(add(i, before[d]), prod(output.shape[d + 1 :])))
        if outer:
            to_index = add(to_index, before[outer - 1] * prod(output.shape[outer:]))
        _move(builder, y, to_index, x, from_index, prod(source.shape[max(outer - 1, 0) :]))
    return builder.lowered()


def lower_concatenation(op: Operator, graph: Graph) -> Lowered:
    """Lower a concatenation: for each outer index, one run from every input."""
    (output,) = graph.results(op)
    axis = op.integer("axis") % len(output.shape)
    builder = KernelBuilder(op, graph)
    sources = [builder.input(position, f"x{position}") for position in range(len(op.inputs))]
    y = builder.output()
    runs = [prod(graph.tensor(name).shape[axis:]) for name in op.inputs]
    with builder.loop("outer", 0, prod(output.shape[:axis])) as outer:
        target = builder.let("target", multiply(outer, sum(runs)))
        for position, (x, run) in enumerate(zip(sources, runs, strict=True)):
            start = add(target, sum(runs[:position]))
            _move(builder, y, start, x, multiply(outer, run), run)
    return builder.lowered()


def _move(
    builder: KernelBuilder, y: Buffer, to: Operand, x: Buffer, start: Operand, count: int
) -> None:
    with builder.loop("i", 0, count) as i:
        y[add(to, i)] = x[add(start, i)]
