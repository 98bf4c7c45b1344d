# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED whose filter is computed: a product of matrices, and perhaps a clamp."""

from collections.abc import Iterator

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Attribute, Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Parts
from atoll.ops.rounding import ROUNDING

CLAMPS = ("none", "relu", "relu6")
"""Activations that operators of their own do as well."""


def is_computed(op: Operator, graph: Graph) -> bool:
    """Tell whether the filter is no constant."""
    weights = checks.operand(op, graph, 1)
    return weights is not None and weights.data is None


def rules(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require what a product of matrices has: two dimensions, no bias, a clamp if anything."""
    weights, bias = require_input(op, graph, 1), checks.operand(op, graph, 2)
    if len(weights.shape) != 2:
        message = f"has shape {list(weights.shape)} instead of 2 dimensions"
        yield checks.fault(op, message, tensor=weights)
    if bias is not None:
        yield checks.fault(op, "adds to products of a computed filter", tensor=bias)
    if op.attributes.get("activation", "none") not in CLAMPS:
        message = f"fused activation '{op.attributes['activation']}' follows a computed filter"
        yield checks.fault(op, message, tensor=graph.results(op)[0])


def product(op: Operator, graph: Graph) -> Parts:
    """Return a BATCH_MATMUL of the input's rows with the filter, which is transposed."""
    x, weights, (output,) = (
        require_input(op, graph, 0),
        require_input(op, graph, 1),
        graph.results(op),
    )
    outputs, depth = weights.shape
    rows = x.elements // depth
    operators: list[Operator] = []
    tensors: list[Tensor] = []

    def like(tensor: Tensor, name: str, shape: tuple[int, ...]) -> str:
        made, scaled = f"{op.name}_{name}", tensor.quantization
        tensors.append(Tensor(name=made, shape=shape, dtype=tensor.dtype, quantization=scaled))
        return tensors[-1].name

    def part(kind: str, inputs: tuple[str, ...], made: str, **attributes: Attribute) -> None:
        name = op.name if kind == "batch_matmul" else f"{op.name}_to_{made}"
        operators.append(
            Operator(
                name=name,
                kind=kind,
                inputs=inputs,
                outputs=(made,),
                attributes=attributes,
                index=op.index,
            )
        )

    flat = x.name
    if len(x.shape) != 2:
        flat = like(x, "rows", (rows, depth))
        part("reshape", (x.name,), flat)
    clamp = str(op.attributes.get("activation", "none"))
    shaped, clamped = len(output.shape) == 2, clamp != "none"
    rounding = {name: op.attributes[name] for name in (ROUNDING,) if name in op.attributes}
    last = output.name if shaped else like(output, "flat", (rows, outputs))
    made = like(output, "product", (rows, outputs)) if clamped else last
    part("batch_matmul", (flat, weights.name), made, adj_x=False, adj_y=True, **rounding)
    if clamped:
        part(clamp, (made,), last)
    if not shaped:
        part("reshape", (last,), output.name)
    return Parts(operators=tuple(operators), tensors=tuple(tensors))
