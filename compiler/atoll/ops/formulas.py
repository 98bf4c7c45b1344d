# SPDX-License-Identifier: Apache-2.0
"""What the formulas of an accelerator's description stand for, operator by operator."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.description.operators import PROPERTIES
from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ops.fused import absent, inner_tensors, operand_names
from atoll.ops.registry import kind_of
from atoll.plugins.loading import foreign_code, load
from atoll.program.expressions import ExpressionError, parse, value_of
from atoll.program.steps import ADDRESS
from atoll.resolve.soc import Engine, OperatorSupport
from atoll.resolve.specs import PackedConstant
from atoll.utils.remember import Alike, remember

Address = Callable[[str], int]

VALUES_AT_HAND = 4096
"""Operators on instances whose values a process keeps."""


def values_of(op: Operator, graph: Graph, npu: Engine, address: Address) -> Mapping[str, int]:
    """Return what every name stands for that formulas of an operator may have.

    Raises:
        AtollError: E162; a formula has no value.
    """
    values = dict(quantity_values(op, graph, npu))
    for name, tensor in operands(op, graph):
        values |= _properties(name, tensor, address)
    values |= _nowhere(op)
    constants = support_of(op, npu).constants
    made = map(graph.tensor, op.packed) if op.packed else packed_constants(op, graph, npu)
    for packed, tensor in zip(constants, made, strict=True):
        values |= _properties(packed.name, tensor, address)
    return _with_own(values, op, npu)


def _limits_key(op: Operator, graph: Graph, npu: Engine) -> Alike:
    tensors = (*graph.operands(op), *graph.results(op))
    sign = op.name, npu.spec.name, tuple(npu.params.items())
    return Alike(sign, op, tensors, support_of(op, npu))


@remember(_limits_key, most=VALUES_AT_HAND)
def limit_values(op: Operator, graph: Graph, npu: Engine) -> Mapping[str, int]:
    """Return what limits may name: features and the description's own values.

    Raises:
        AtollError: E162; a formula has no value.
    """
    features = kind_of(op).features(op, graph)
    support = support_of(op, npu)
    if support.limits.keys() <= features.keys():
        return features
    values = dict(quantity_values(op, graph, npu))
    for name, tensor in operands(op, graph):
        values |= _properties(name, tensor, lambda name: 0)
    return _with_own({**values, **_nowhere(op)}, op, npu)


def _nowhere(op: Operator) -> dict[str, int]:
    """Return what is known of tensors that lie nowhere; of those that there are not, all is 0."""
    values = {f"{name}.{each}": 0 for name in absent(op) for each in PROPERTIES}
    for name, tensor in inner_tensors(op):
        values |= _properties(name, tensor, lambda name: 0)
    return values


def _with_own(values: dict[str, int], op: Operator, npu: Engine) -> Mapping[str, int]:
    with formulas(op, npu):
        for name, formula in support_of(op, npu).values.items():
            values[name] = value_of(parse(formula), values)
    return values


def quantity_values(op: Operator, graph: Graph, npu: Engine) -> Mapping[str, int]:
    """Return the parameters of an instance, and features and quantities of an operator."""
    kind = kind_of(op)
    return {**npu.params, **kind.features(op, graph), **kind.quantities(op, graph)}


def operands(op: Operator, graph: Graph) -> Iterator[tuple[str, Tensor]]:
    """Yield the inputs that there are and the result, by the names that formulas have."""
    names = operand_names(op)
    for name, tensor in zip(names, graph.operands(op), strict=False):
        if tensor is not None:
            yield name, tensor
    yield "output", graph.results(op)[0]


def _properties(name: str, tensor: Tensor, address: Address) -> dict[str, int]:
    quantization = tensor.quantization
    return {
        f"{name}{ADDRESS}": address(tensor.name),
        f"{name}.bytes": tensor.size,
        f"{name}.elements": tensor.elements,
        f"{name}.zero_point": quantization.zero_points[0] if quantization else 0,
    }


def packed_constants(op: Operator, graph: Graph, npu: Engine) -> Iterator[Tensor]:
    """Yield the constants that the accelerator's own code packs for an operator.

    Raises:
        AtollError: E041, E111, E112; it fails.
    """
    for packed in support_of(op, npu).constants:
        made = _make_constant(packed, op, graph, npu)
        yield Tensor(
            name=f"{op.name}_{packed.name}",
            shape=made.shape,
            dtype=made.dtype.name,
            data=np.ascontiguousarray(made).tobytes(),
        )


def _make_constant(packed: PackedConstant, op: Operator, graph: Graph, npu: Engine) -> NDArray[Any]:
    spec = npu.spec
    at = spec.places.get(f"operators.{op.kind.upper()}.constants.{packed.name}")
    who = f"'{packed.pack}' of accelerator '{spec.name}'"
    pack = load(packed.pack, at=at)
    with foreign_code(f"{who} failed for operator '{op.name}' ({op.kind.upper()})", at=at):
        made = pack(op, graph, npu)
    if isinstance(made, bytes):
        made = np.frombuffer(made, np.int8)
    if not isinstance(made, np.ndarray) or made.dtype.name not in ITEM_BYTES or not made.size:
        what = f"{who} returned {made!r:.60} for operator '{op.name}': no bytes, and no array"
        remedy = f"return bytes, or an array of one of {', '.join(ITEM_BYTES)}"
        raise AtollError("E112", what, at=at, remedy=remedy)
    return made


def support_of(op: Operator, npu: Engine) -> OperatorSupport:
    """Return what an accelerator's description says of an operator that it runs."""
    return npu.spec.support(op.kind)


@contextmanager
def formulas(op: Operator, npu: Engine) -> Iterator[None]:
    """Say which operator a formula has no value for."""
    try:
        yield
    except ExpressionError as fault:
        spec, name = npu.spec, op.kind.upper()
        raise AtollError(
            "E162",
            f"a formula of {name} of accelerator '{spec.name}' {fault}, for operator '{op.name}'",
            at=spec.places.get(f"operators.{name}"),
            remedy="correct the formula, or limit the operators that the accelerator gets",
        ) from fault
