# SPDX-License-Identifier: Apache-2.0
"""Operators that an accelerator takes as one, by a pattern of its description."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.description.operators import operands_of
from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Lowered
from atoll.ops import reference
from atoll.ops.kind import Array, OperatorKind
from atoll.ops.registry import OPERATORS, kind_of

RESULT = "output"

STEPS, ACCELERATOR = "steps", "accelerator"
"""Attributes: the names of the pattern's steps, and whose pattern it is."""


class Fused(OperatorKind):
    """The operators of `Operator.body`, in the order of the pattern's steps.

    The operator's `kind` is what the description calls the pattern. Its inputs are the operands
    of the body's operators that none of these makes, in order. `atoll.place.patterns` makes it,
    no model file holds it, and no core runs it.
    """

    on_cores = False

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an operator with a body."""
        if op.body is None:
            raise ModelError("E054", f"{op.name}: has no body", remedy="let placement make it")

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Run the body on its operators' references."""
        body = _body(op)
        pairs = zip(_operands(op), inputs, strict=True)
        given = {name: x for (_, name), x in pairs if x is not None and name in body.inputs}
        return (reference.run(body, given)[body.outputs[0]],)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """No core runs it."""
        raise AssertionError(f"{op.name}: no core runs operators as one")

    def why_off_cores(self, op: Operator) -> str:
        """Name the operators that it stands for."""
        names = ", ".join(each.name for each in _body(op).operators)
        return f"{op.attributes[ACCELERATOR]} takes {names} as one"

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return those of all steps, each with the name of the step in front, and all `macs`."""
        found = {
            f"{step}_{name}": value
            for step, each in _stepwise(op)
            for name, value in kind_of(each).features(each, _body(op)).items()
        }
        macs = sum(found[f"{step}_macs"] for step, _ in _stepwise(op))
        return {"macs": macs, **found}

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return those of all steps, likewise."""
        return {
            f"{step}_{name}": value
            for step, each in _stepwise(op)
            for name, value in kind_of(each).quantities(each, _body(op)).items()
        }


FUSED = Fused()


def is_fused(op: Operator) -> bool:
    """Tell whether an operator is one of several by a pattern."""
    return op.body is not None and op.kind not in OPERATORS


def operand_names(op: Operator) -> tuple[str, ...]:
    """Return what formulas call the inputs of an operator; there may be inputs without a name."""
    if not is_fused(op):
        return operands_of(op.kind.upper())
    return tuple(name for name, _ in _operands(op))


def absent(op: Operator) -> Iterator[str]:
    """Yield what formulas call the optional inputs that an operator does not have."""
    steps = _stepwise(op) if is_fused(op) else (("", op),)
    for step, each in steps:
        for at, name in enumerate(operands_of(each.kind.upper())):
            if not any(each.inputs[at : at + 1]):
                yield f"{step}_{name}" if step else name


def inner_tensors(op: Operator) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors between the operators of a pattern, by the names that formulas have."""
    if is_fused(op):
        for step, each in [*_stepwise(op)][:-1]:
            yield f"{step}_{RESULT}", _body(op).tensor(each.outputs[0])


def owner(op: Operator, graph: Graph, name: str) -> tuple[Operator, Graph]:
    """Return the operator that reads or makes the operand `name`, and the graph with its tensors.

    It is `op` itself unless that is one of several.
    """
    if not is_fused(op):
        return op, graph
    body = _body(op)
    if name == RESULT:
        return body.operators[-1], body
    at = operand_names(op).index(name)
    counts = [len([*_outside(each, body)]) for each in body.operators]
    for each, count in zip(body.operators, counts, strict=True):
        if at < count:
            return each, body
        at -= count
    raise AssertionError(f"{op.name} has no operand {name}")


def outside(operators: Sequence[Operator]) -> tuple[str, ...]:
    """Return the operands of some operators that none of them makes, as often as they are read."""
    made = {name for each in operators for name in each.outputs}
    return tuple(name for each in operators for name in each.inputs if name and name not in made)


def _body(op: Operator) -> Graph:
    assert op.body is not None, f"{op.name} has no body"
    return op.body


def _stepwise(op: Operator) -> Iterator[tuple[str, Operator]]:
    return zip(str(op.attributes[STEPS]).split(), _body(op).operators, strict=True)


def _operands(op: Operator) -> Iterator[tuple[str, str]]:
    """Yield the names that formulas and the body have for each input."""
    for step, each in _stepwise(op):
        for operand, name in _outside(each, _body(op)):
            yield f"{step}_{operand}", name


def _outside(each: Operator, body: Graph) -> Iterator[tuple[str, str]]:
    made = {name for other in body.operators for name in other.outputs}
    names = operands_of(each.kind.upper())
    for at, name in enumerate(each.inputs):
        if name and name not in made:
            yield names[at] if at < len(names) else f"input{at}", name
