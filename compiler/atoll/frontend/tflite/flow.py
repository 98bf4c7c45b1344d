# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE of TFLite files: what they run takes their place, so that a network has neither.

Constants decide how often a WHILE turns at most, and its body is there once for each turn. So is
the branch of an IF whose condition is known; where a run decides, both are, and SELECT_V2 chooses
of their results, as of those of the turns after which a run may leave a WHILE. Values go in and out
as bytes, as with TFLM (`CopyOpInputsToSubgraphInputs`).
"""

from collections.abc import Sequence
from dataclasses import field, replace
from math import prod

from atoll.diagnostics.errors import ModelError
from atoll.frontend.network_names import identifier
from atoll.frontend.tflite.bodies import Bodies, all_constant_faults
from atoll.frontend.tflite.checks import describe, is_constant, place
from atoll.frontend.tflite.reader import FileModel, FileOperator, FileSubgraph, FileTensor
from atoll.records import dataclass

MOST_TURNS = 512
MOST_OPERATORS = 4096
"""Operators that bodies have, counted in every turn; eight operands count as one more."""

MOST_DEPTH = 16
"""Bodies in one another."""

FLOW = ("IF", "WHILE")
_STATES = frozenset({"ASSIGN_VARIABLE", "CALL_ONCE"})
_AGAIN = "convert the model again; the file contradicts itself"
_BOUNDED = "let a counter end the loop too, as maximum_iterations=N does in TensorFlow"
_SHORTER = "export fewer iterations or a smaller body, and run the network several times"
_MAYBE = ("conditionally", "export what is run, or assign behind what it returns")
_AGAIN_AND_AGAIN = ("more than once", "export the loop with the state as one of its values")
"""How IF and WHILE run what has states, and what to do instead."""


def with_bodies(model: FileModel) -> FileModel:
    """Return the model without IF and WHILE.

    Raises:
        ModelError: E052, subgraphs do not fit, or constants are damaged; E054, there are too many
            turns or no end of them.
    """
    if not any(op.code in FLOW for op in model.operators):
        return model
    if faults := [*all_constant_faults(model)]:
        raise ModelError.all(faults)
    return _Flow(model).flat()


@dataclass(frozen=True)
class _Scope:
    """A subgraph that runs.

    Attributes:
        number: of the subgraph.
        prefix: what the names of its operators begin with.
        above: the subgraphs that run it, and it.
        maybe: the operator that may leave it out, None if there is none.
        again: the operator that runs it more than once, None if there is none.
        values: the tensors of the model in the making that its own are.
    """

    number: int
    prefix: str = ""
    above: tuple[int, ...] = (0,)
    maybe: FileOperator | None = None
    again: FileOperator | None = None
    values: dict[int, int] = field(default_factory=dict)

    def name(self, op: FileOperator) -> str:
        """Return what an operator of it is called."""
        code = op.code.lower()
        kind = op.kind or (code if op.code in FLOW else identifier(code, "operator"))
        return f"{self.prefix}{kind}_{op.index}"


class _Flow:
    """Runs the subgraphs on what is known, and collects the operators that are left to run."""

    def __init__(self, model: FileModel) -> None:
        whole = FileSubgraph(model.tensors, model.operators, model.inputs, model.outputs)
        self._model, self._subgraphs = model, (whole, *model.others)
        self._made = Bodies(model)
        self._kept: dict[tuple[int, int], int] = {}
        self._spent = 0

    def flat(self) -> FileModel:
        scope = _Scope(0, values={number: number for number in range(len(self._model.tensors))})
        self._run(scope)
        outputs = tuple(scope.values[number] for number in self._model.outputs)
        return replace(
            self._model,
            buffers=tuple(self._made.buffers),
            tensors=tuple(self._made.tensors),
            operators=self._made.remaining_operators(outputs),
            outputs=outputs,
        )

    def _run(self, scope: _Scope) -> None:
        for each in self._subgraphs[scope.number].operators:
            op = replace(each, name=scope.name(each)) if scope.number else each
            self._spend(op)
            if op.code in FLOW:
                results = self._if(op, scope) if op.code == "IF" else self._while(op, scope)
                scope.values.update(zip(op.outputs, results, strict=True))
                continue
            _check_states(op, scope)
            inputs = tuple(self._read(scope, number) for number in op.inputs)
            outputs = tuple(self._number(scope, number) for number in op.outputs)
            self._made.add(replace(op, inputs=inputs, outputs=outputs))

    def _spend(self, op: FileOperator) -> None:
        self._spent += (1 + len(op.inputs) // 8) if op.name else 0
        if self._spent > MOST_OPERATORS:
            message = (
                f"{place(op)}: is one of more than {MOST_OPERATORS} operators over all iterations"
            )
            raise ModelError("E054", message, remedy=_SHORTER)

    def _read(self, scope: _Scope, number: int) -> int:
        """Return the tensor that an operand is; -1 stays."""
        return self._number(scope, number) if number >= 0 else -1

    def _number(self, scope: _Scope, number: int) -> int:
        """Return the tensor that one of a subgraph is; what keeps its value is there once."""
        if number not in scope.values:
            tensor, key = self._subgraphs[scope.number].tensors[number], (scope.number, number)
            kept = is_constant(self._model, tensor) or tensor.variable
            if not kept or key not in self._kept:
                scope.values[number] = self._made.another(tensor)
            if kept:
                scope.values[number] = self._kept.setdefault(key, scope.values.get(number, -1))
        return scope.values[number]

    def _operands(self, op: FileOperator, scope: _Scope) -> list[int]:
        if not op.inputs or -1 in op.inputs:
            raise _damage(op, "lacks an input")
        return [self._read(scope, number) for number in op.inputs]

    def _if(self, op: FileOperator, scope: _Scope) -> list[int]:
        """Return the results of the branch that is known, else those that SELECT_V2 chooses."""
        condition, *given = self._operands(op, scope)
        sides = tuple(zip(_calls(op), ("then", "else"), strict=True))
        known, prefix = self._truth(op, condition), op.name or f"if_{op.index}"
        wanted = self._wanted_tensors(scope, op.outputs)
        if known is not None:
            sides = sides[:1] if known else sides[1:]
        made = [
            self._call(
                op,
                replace(
                    scope,
                    number=number,
                    prefix=f"{prefix}_{word}_",
                    maybe=op if known is None else scope.maybe,
                ),
                given,
                wanted,
            )
            for number, word in sides
        ]
        if known is not None:
            return made[0]
        pairs = enumerate(zip(*made, strict=True))
        return [
            self._made.select(condition, pair, f"{prefix}_select_v2_{at}") for at, pair in pairs
        ]

    def _while(self, op: FileOperator, scope: _Scope) -> list[int]:
        """Return what the last turn leaves."""
        (test, body), prefix = _calls(op), op.name or f"while_{op.index}"
        wanted = self._wanted_tensors(scope, op.outputs)
        values = self._operands(op, scope)
        if len(values) != len(wanted):
            raise _damage(op, f"has {len(values)} inputs and {len(wanted)} outputs")
        values = self._made.alike(op, values, wanted, f"{prefix}_value")
        leaving: list[tuple[int, list[int]]] = []
        for turn in range(MOST_TURNS + 1):
            if turn:
                scope = replace(scope, again=scope.again or op)
            here = replace(scope, number=test, prefix=f"{prefix}_{turn}_cond_")
            condition = self._condition(op, here, values)
            if (goes_on := self._truth(op, condition)) is False:
                return self._choose(leaving, values, prefix)
            if goes_on is None:
                leaving.append((condition, values))
                scope = replace(scope, maybe=scope.maybe or op)
            self._spend(replace(op, name=f"{prefix}_{turn}"))
            here = replace(scope, number=body, prefix=f"{prefix}_{turn}_")
            values = self._call(op, here, values, wanted)
        message = f"{place(op)}: runs more than {MOST_TURNS} iterations"
        if leaving:
            subgraph = self._subgraphs[test]
            tensor = f"{describe(subgraph.tensors[subgraph.outputs[0]])} of subgraph {test}"
            message = f"{place(op)}: {tensor} decides at run time whether the loop continues, "
            message += f"and no constant ends it within {MOST_TURNS} iterations"
        raise ModelError("E054", message, remedy=_BOUNDED if leaving else _SHORTER)

    def _choose(
        self, leaving: Sequence[tuple[int, list[int]]], values: list[int], prefix: str
    ) -> list[int]:
        """Return the values at the first of some conditions that is false, else those given.

        What a turn computes is right if the run gets there, so that its counter is a constant.
        """
        for turn, (condition, before) in reversed([*enumerate(leaving)]):
            pairs = enumerate(zip(values, before, strict=True))
            names = f"{prefix}_{turn}_select_v2"
            values = [self._made.select(condition, pair, f"{names}_{at}") for at, pair in pairs]
        return values

    def _condition(self, op: FileOperator, scope: _Scope, values: Sequence[int]) -> int:
        """Run the condition of a WHILE and return its result."""
        found = self._call(op, scope, values, None)
        if not found:
            raise _damage(op, f"its condition, subgraph {scope.number}, has no result")
        return found[0]

    def _truth(self, op: FileOperator, number: int) -> bool | None:
        """Return a condition if it is known.

        Raises:
            ModelError: E054, it is no truth value.
        """
        tensor = self._made.tensors[number]
        if tensor.dtype != "bool" or prod(tensor.shape) != 1:
            message = f"{place(op)}: its condition, {describe(tensor)}, is {tensor.dtype} "
            message += f"{list(tensor.shape)} instead of one truth value"
            raise ModelError("E054", message, remedy=_AGAIN)
        return self._made.truth(number)

    def _call(
        self,
        op: FileOperator,
        scope: _Scope,
        given: Sequence[int],
        results: Sequence[FileTensor] | None,
    ) -> list[int]:
        """Run a subgraph for an operator, and return its results.

        Args:
            op: an IF or a WHILE.
            scope: of the operator, but with the number of the subgraph, and the prefix of its own.
            given: a value for each of its inputs.
            results: like these, None if it may have any.
        """
        self._check_call(op, scope)
        subgraph = self._subgraphs[scope.number]
        for side, there, here in (
            ("inputs", subgraph.inputs, given),
            ("outputs", subgraph.outputs, subgraph.outputs if results is None else results),
        ):
            if len(there) != len(here):
                fit = f"has {len(here)} {side} for the {len(there)} of subgraph {scope.number}"
                raise _damage(op, fit)
        wanted = [subgraph.tensors[number] for number in subgraph.inputs]
        for tensor in wanted:
            if is_constant(self._model, tensor):
                where = f"{describe(tensor)} of subgraph {scope.number}"
                raise _damage(op, f"gives a value to {where}, which is a constant")
        values = self._made.alike(op, given, wanted, f"{scope.prefix}input")
        above = (*scope.above, scope.number)
        inner = replace(scope, above=above, values=dict(zip(subgraph.inputs, values, strict=True)))
        self._run(inner)
        found = [self._read(inner, number) for number in subgraph.outputs]
        if results is None:
            return found
        return self._made.alike(op, found, results, f"{scope.prefix}output")

    def _check_call(self, op: FileOperator, scope: _Scope) -> None:
        """Require a subgraph that does not run itself."""
        if scope.number in scope.above:
            raise _damage(op, f"runs subgraph {scope.number}, which runs it")
        if len(scope.above) > MOST_DEPTH:
            message = f"{place(op)}: is within more than {MOST_DEPTH} bodies in one another"
            raise ModelError("E054", message, remedy="export fewer levels of loops and branches")

    def _wanted_tensors(self, scope: _Scope, numbers: Sequence[int]) -> list[FileTensor]:
        return [self._subgraphs[scope.number].tensors[number] for number in numbers]


def _check_states(op: FileOperator, scope: _Scope) -> None:
    """Refuse what changes a state where it may not run, or keeps it from turn to turn."""
    variable = op.code in _STATES
    if not (variable or (op.form and op.form.states)):
        return
    by, (how, remedy) = scope.maybe, _MAYBE
    if not by and not variable:
        by, (how, remedy) = scope.again, _AGAIN_AND_AGAIN
    if by:
        message = f"{place(op)}: changes a state, and {place(by)} runs it {how}"
        raise ModelError("E054", message, remedy=remedy)


def _calls(op: FileOperator) -> tuple[int, ...]:
    if not op.calls:
        raise _damage(op, f"has no {op.code.capitalize()}Options")
    return op.calls


def _damage(op: FileOperator, message: str) -> ModelError:
    return ModelError("E052", f"{place(op)}: {message}", remedy=_AGAIN)
