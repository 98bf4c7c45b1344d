# SPDX-License-Identifier: Apache-2.0
"""Make a failing case as simple as it can be without losing the failure."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.differential.case import Case
from tests.differential.text import readers_of
from tests.tflite_builder import Model, Operator

MOST_TRIES = 400
GIVEN = ("int8", "int16")
"""Types of results that may become inputs; any other value might be no index within a tensor."""


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return a simpler case that still fails; it runs cases until none of the next ones does."""
    tries = 0
    simpler = _simpler(case)
    while tries < MOST_TRIES and (candidate := next(simpler, None)) is not None:
        tries += 1
        if fails(candidate):
            case, simpler = candidate, _simpler(candidate)
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """Yield cases that lack one thing, large things first."""
    for model in _simpler_models(case.model):
        yield replace(case, model=model)
    setting = case.setting
    plain = (
        replace(setting, limit=None),
        replace(setting, shared=0.0),
        replace(setting, rewrite=True),
    )
    for choice in (*plain, replace(setting, accelerators=False), replace(setting, chip="lagoon")):
        if choice != setting:
            yield replace(case, setting=choice)


def _simpler_models(model: Model) -> Iterator[Model]:
    for position in range(len(model.operators) - 1):
        head = model.operators[: position + 1]
        if all(model.tensors[number].dtype != "resource" for number in head[-1].outputs):
            yield replace(model, operators=head, outputs=head[-1].outputs or model.outputs[:1])
    for position, op in enumerate(model.operators):
        yield from _without(model, position, op)
    for position in range(len(model.outputs) if len(model.outputs) > 1 else 0):
        yield replace(model, outputs=_left_out(model.outputs, position))
    read = readers_of(model)
    for position, number in enumerate(model.inputs):
        unused = number not in read and number not in model.outputs
        if unused and len(model.inputs) > 1:
            yield replace(model, inputs=_left_out(model.inputs, position))


def _without(model: Model, position: int, op: Operator) -> Iterator[Model]:
    """Yield the model without an operator; what still needs its result gets it as an input."""
    operators = (*model.operators[:position], *model.operators[position + 1 :])
    rest = replace(model, operators=operators)
    needed = [n for n in op.outputs if n in readers_of(rest) or n in model.outputs]
    if operators and all(model.tensors[number].dtype in GIVEN for number in needed):
        yield replace(rest, inputs=(*model.inputs, *needed))


def _left_out(numbers: tuple[int, ...], position: int) -> tuple[int, ...]:
    return (*numbers[:position], *numbers[position + 1 :])
