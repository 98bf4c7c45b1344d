# SPDX-License-Identifier: Apache-2.0
"""QOperator models: nodes that quantise themselves become what QDQ models write for them.

A QLinearConv is a DequantizeLinear of each operand, a Conv, and a QuantizeLinear. The rest of the
front end knows this form alone. The bias stays int32: it counts in the scale of sums.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from onnx import AttributeProto, NodeProto, helper

from atoll.records import dataclass

MICROSOFT = "com.microsoft"

_FLATTENED = 13
"""Softmax of older opsets flattens all axes from its own on."""

Axis = Callable[[NodeProto], int]


def _first(node: NodeProto) -> int:
    return 0


def _last(node: NodeProto) -> int:
    return -1


def _of_rows(node: NodeProto) -> int:
    return 0 if _integer(node, "transB") else 1


@dataclass(frozen=True, slots=True)
class _Form:
    """What the operands of a node are.

    Attributes:
        op: the operator of real numbers.
        operands: positions of the values that come with a scale and a zero point behind them.
        result: position of the scale of the result.
        others: positions of operands that stay as they are.
        axis: dimension of the second operand along which it may have several scales.
        drops: attributes that the operator of real numbers does not have.
    """

    op: str
    operands: tuple[int, ...]
    result: int
    others: tuple[int, ...] = ()
    axis: Axis = _first
    drops: tuple[str, ...] = ()


_UNARY = (0,), 3
_BINARY = (0, 3), 6

_FORMS: Mapping[str, _Form] = {
    "QLinearConv": _Form("Conv", *_BINARY, (8,), drops=("channels_last",)),
    "QLinearMatMul": _Form("MatMul", *_BINARY, axis=_last),
    f"{MICROSOFT}.QLinearConv": _Form("Conv", *_BINARY, (8,), drops=("channels_last",)),
    f"{MICROSOFT}.QLinearAdd": _Form("Add", *_BINARY),
    f"{MICROSOFT}.QLinearMul": _Form("Mul", *_BINARY),
    f"{MICROSOFT}.QGemm": _Form("Gemm", (0, 3), 7, (6,), axis=_of_rows),
    f"{MICROSOFT}.QLinearGlobalAveragePool": _Form(
        "GlobalAveragePool", *_UNARY, drops=("channels_last",)
    ),
    f"{MICROSOFT}.QLinearAveragePool": _Form("AveragePool", *_UNARY, drops=("channels_last",)),
    f"{MICROSOFT}.QLinearLeakyRelu": _Form("LeakyRelu", *_UNARY),
    f"{MICROSOFT}.QLinearSigmoid": _Form("Sigmoid", *_UNARY),
    f"{MICROSOFT}.QLinearSoftmax": _Form("Softmax", *_UNARY, drops=("opset",)),
}
_JOIN = f"{MICROSOFT}.QLinearConcat"
_SAME = {f"{MICROSOFT}.{name}": name for name in ("QuantizeLinear", "DequantizeLinear")}


def name_of(node: NodeProto) -> str:
    """Return what a node's operator is called, with its domain unless that is ONNX's own."""
    return f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type


class Rewriter:
    """Makes names that the file does not have."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._numbers = count()

    def rewrite(self, node: NodeProto) -> Iterator[NodeProto]:
        """Yield what a node stands for: itself, unless it quantises itself."""
        op = name_of(node)
        if op in _SAME:
            yield _rename(node, _SAME[op])
        elif op == _JOIN and len(node.input) > 4:
            yield from self._join(node)
        elif (
            op in _FORMS and len(node.input) > _FORMS[op].operands[-1] + 2 and not _is_refused(node)
        ):
            yield from self._expand(node, _FORMS[op])
        else:
            yield node

    def _expand(self, node: NodeProto, form: _Form) -> Iterator[NodeProto]:
        inputs: list[str] = []
        for number, at in enumerate(form.operands):
            axis = form.axis(node) if number else 0
            made, name = self._dequantize(node, at, axis)
            yield made
            inputs.append(name)
        inputs += [node.input[at] for at in form.others if at < len(node.input)]
        kept = [each for each in node.attribute if each.name not in form.drops]
        yield from self._quantize(node, form.op, inputs, kept, form.result)

    def _join(self, node: NodeProto) -> Iterator[NodeProto]:
        inputs: list[str] = []
        for at in range(2, len(node.input), 3):
            made, name = self._dequantize(node, at, 0)
            yield made
            inputs.append(name)
        yield from self._quantize(node, "Concat", inputs, node.attribute, 0)

    def _dequantize(self, node: NodeProto, at: int, axis: int) -> tuple[NodeProto, str]:
        name = self._fresh(node.input[at])
        operands = list(node.input[at : at + 3])
        return helper.make_node("DequantizeLinear", operands, [name], node.name, axis=axis), name

    def _quantize(
        self,
        node: NodeProto,
        op: str,
        inputs: Sequence[str],
        attributes: Sequence[AttributeProto],
        result: int,
    ) -> Iterator[NodeProto]:
        """Yield the operator of real numbers, and its QuantizeLinear if the result has a scale."""
        scaled = result < len(node.input) and node.input[result]
        name = self._fresh(node.output[0]) if scaled else node.output[0]
        made = helper.make_node(op, inputs, [name], node.name)
        made.attribute.extend(attributes)
        yield made
        if scaled:
            operands = [name, *node.input[result : result + 2]]
            yield helper.make_node("QuantizeLinear", operands, [node.output[0]], node.name)

    def _fresh(self, name: str) -> str:
        while (made := f"{name}.real{next(self._numbers)}") in self._taken:
            pass
        self._taken.add(made)
        return made


def _integer(node: NodeProto, name: str, absent: int = 0) -> int:
    return next((each.i for each in node.attribute if each.name == name), absent)


def _is_refused(node: NodeProto) -> bool:
    """Tell whether a node is what no ONNX operator is: of channels last, or an old softmax."""
    last = _integer(node, "axis", -1) == -1
    return bool(_integer(node, "channels_last")) or (
        not last and _integer(node, "opset", _FLATTENED) < _FLATTENED
    )


def _rename(node: NodeProto, op: str) -> NodeProto:
    made = NodeProto()
    made.CopyFrom(node)
    made.op_type, made.domain = op, ""
    return made
