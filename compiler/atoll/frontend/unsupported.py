# SPDX-License-Identifier: Apache-2.0
"""What a model file holds that cannot be compiled: each kind of fault once, with all operators."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from atoll.diagnostics.errors import Fault, ModelError
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.records import dataclass

MOST_NUMBERS = 8
"""Operators that a message names; the others are counted."""

_INSTEAD = (
    ("CUSTOM Flex", "convert with TFLITE_BUILTINS_INT8 alone, without SELECT_TF_OPS"),
    ("CUSTOM ", "export the model without it, or write the operator (docs/extending.md)"),
    ("CALL", "export one function, with what it calls inlined"),
    *(
        (code, "export each step by itself, of Gemm, Sigmoid and others, and quantise these")
        for code in ("LSTM", "GRU", "RNN")
    ),
    ("Loop", "export without loops, each step written out"),
    ("Scan", "export without loops, each step written out"),
    ("If", "export the branch that is taken"),
    ("BatchNormalization", "fold it into the convolution before it, and quantise afterwards"),
    ("DynamicQuantizeLinear", "quantise statically, with representative data"),
    ("ConvInteger", "quantise statically, with representative data"),
    ("MatMulInteger", "quantise statically, with representative data"),
)
_ANY = "build the layer of what atoll operators lists, or write the operator (docs/extending.md)"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An operator of a file that no kind serves.

    Attributes:
        code: what the file calls it.
        label: its number in the file, its name if it is of what another operator runs.
        place: the operator and its tensor, as messages say it.
    """

    code: str
    label: str
    place: str


def list_unsupported(
    operators: Sequence[Unsupported], total: int, otherwise: str = _ANY, noun: str = "operator"
) -> Iterator[Fault]:
    """Yield one fault for each code, in the order of the file.

    Args:
        operators: of which at least one is reported.
        total: operators that the file has.
        otherwise: the remedy where none is particular to an operator.
        noun: what the file calls them.
    """
    for code in dict.fromkeys(each.code for each in operators):
        first, *others = (each for each in operators if each.code == code)
        message = f"{first.place}: the operator is not supported"
        if others:
            numbers = list_labels([each.label for each in others], noun)
            message += f", nor {'are' if len(others) > 1 else 'is'} {numbers} of the same kind: "
            message += f"{1 + len(others)} of {total} {noun}s"
        remedy = next((words for start, words in _INSTEAD if code.startswith(start)), otherwise)
        yield Fault(code="E053", message=message, remedy=remedy)


def operator_faults(graph: Graph) -> tuple[Fault, ...]:
    """Return what kinds refuse of a graph's operators; those refused alike are one fault."""
    found: dict[tuple[str, str], tuple[Fault, list[Operator]]] = {}
    for op in graph.operators:
        try:
            kind_of(op).check(op, graph)
        except ModelError as error:
            for fault in error.faults:
                _, _, why = fault.message.partition(": ")
                found.setdefault((op.kind, why), (fault, []))[1].append(op)
    return tuple(_together(fault, others) for fault, (_, *others) in found.values())


def _together(fault: Fault, others: Iterable[Operator]) -> Fault:
    labels = [op.label for op in others]
    if not labels:
        return fault
    return replace(fault, message=f"{fault.message}; likewise {list_labels(labels)}")


def list_labels(labels: Sequence[str], noun: str = "operator") -> str:
    """Name some operators, and count those that are too many to name."""
    shown, hidden = labels[:MOST_NUMBERS], len(labels) - MOST_NUMBERS
    words = [*shown] + ([f"{hidden} more"] if hidden > 0 else [])
    *first, last = words
    return f"{noun}s {', '.join(first)} and {last}" if first else f"{noun} {last}"
