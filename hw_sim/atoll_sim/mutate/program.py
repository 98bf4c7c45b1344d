# SPDX-License-Identifier: Apache-2.0
"""Faults in the program: steps that are missing, exchanged, or work on other buffers."""

from dataclasses import replace
from random import Random

from atoll.ir.tir import AcceleratorWait, CoreAction, EngineAction, Step
from atoll_sim.mutate.mutant import Mutant, Right


def drop_copy(right: Right, random: Random) -> Mutant | None:
    """Leave out an operator that only moves bytes."""
    copies = [copy.number for copy in right.compiled.contract.copies]
    return _without(right, random.choice(copies), "copy") if copies else None


def drop_operator(right: Right, random: Random) -> Mutant | None:
    """Leave out an operator that computes something."""
    copies = {copy.number for copy in right.compiled.contract.copies}
    numbers = sorted(right.compiled.contract.phases.keys() - copies)
    return _without(right, random.choice(numbers), "operator") if numbers else None


def drop_wait(right: Right, random: Random) -> Mutant | None:
    """Do not wait for what was started on a device."""
    steps = right.compiled.module.entry.steps
    waits = [index for index, s in enumerate(steps) if isinstance(s.action, AcceleratorWait)]
    if not waits:
        return None
    index = random.choice(waits)
    step = steps[index]
    sentence = f"nobody waits for '{step.operator}' on {step.device}"
    return right.with_steps(step.operator, sentence, (*steps[:index], *steps[index + 1 :]))


def swap_steps(right: Right, random: Random) -> Mutant | None:
    """Exchange two neighbouring steps."""
    steps = right.compiled.module.entry.steps
    if len(steps) < 2:
        return None
    first = random.randrange(len(steps) - 1)
    one, two = steps[first], steps[first + 1]
    order = (*steps[:first], two, one, *steps[first + 2 :])
    sentence = f"'{_title(two)}' comes before '{_title(one)}'"
    made = right.with_steps(one.operator, sentence, order)
    return replace(made, swapped=(first, first + 1))


def wrong_operand(right: Right, random: Random) -> Mutant | None:
    """Call a kernel on another buffer than the planned one."""
    steps = right.compiled.module.entry.steps
    calls = [n for n, s in enumerate(steps) if isinstance(s.action, CoreAction)]
    if not calls:
        return None
    index = random.choice(calls)
    step = steps[index]
    action = step.action
    assert isinstance(action, CoreAction)
    position = random.randrange(len(action.arguments))
    was, now = action.arguments[position], random.choice([*right.compiled.plan.placements])
    if was == now:
        return None
    names = (*action.arguments[:position], now, *action.arguments[position + 1 :])
    wrong = replace(step, action=replace(action, arguments=names))
    sentence = f"'{step.operator}' works on '{now}' instead of '{was}'"
    return right.with_step(index, wrong, step.operator, sentence)


def wrong_list(right: Right, random: Random) -> Mutant | None:
    """Give an accelerator the commands of another operator of its own."""
    steps = right.compiled.module.entry.steps
    runs = [
        (index, step, step.action)
        for index, step in enumerate(steps)
        if isinstance(step.action, EngineAction)
    ]
    if not runs:
        return None
    index, step, action = random.choice(runs)
    others = [each for _, _, each in runs if each.device == action.device and each is not action]
    if not others:
        return None
    other = random.choice(others)
    wrong = replace(step, action=replace(action, commands=other.commands, count=other.count))
    sentence = f"'{step.operator}' runs '{other.commands}' instead of its own commands"
    return right.with_step(index, wrong, step.operator, sentence)


def _without(right: Right, number: int, what: str) -> Mutant:
    steps = right.compiled.module.entry.steps
    name = next(step.operator for step in steps if step.number == number)
    kept = [step for step in steps if step.number != number]
    return right.with_steps(name, f"{what} '{name}' is left out", kept)


def _title(step: Step) -> str:
    waits = isinstance(step.action, AcceleratorWait)
    return f"wait for {step.operator}" if waits else step.operator
