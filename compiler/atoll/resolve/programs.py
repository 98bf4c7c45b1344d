# SPDX-License-Identifier: Apache-2.0
"""The program of an accelerator as later stages read it."""

from collections.abc import Mapping

from atoll.description import programs as written
from atoll.description.accelerator import Accelerator, RegisterBlock
from atoll.program.steps import Failure, Program, Step, Verb


def program_of(accelerator: Accelerator) -> Program | None:
    """Return how the host drives an accelerator by its registers, None if `driver` does."""
    program = accelerator.program
    if program is None:
        return None
    block = accelerator.registers
    return Program(
        identity=dict(program.identity),
        open=_steps(program.open, block),
        close=_steps(program.close, block),
        runs=_runs(accelerator, program),
        failures=tuple(_failure(each, block) for each in program.errors),
        abort=_steps(program.abort, block),
        clear=_steps(program.clear, block),
    )


def _failure(failure: written.Failure, block: RegisterBlock) -> Failure:
    mask = failure.mask or 0
    if bits := block.bits(failure.read):
        mask = _mask(bits)
    return Failure(register=_register(failure.read), mask=mask, means=failure.means)


def _runs(accelerator: Accelerator, program: written.Program) -> Mapping[str, tuple[Step, ...]]:
    return {
        kind.lower(): _steps(operator.run or program.run, accelerator.registers)
        for kind, operator in sorted(accelerator.operators.items())
    }


def _steps(steps: written.Steps, block: RegisterBlock) -> tuple[Step, ...]:
    return tuple(_step(step, block) for step in steps)


def _step(step: written.Step, block: RegisterBlock) -> Step:
    verb = next(verb for verb in Verb if getattr(step, verb) is not None)
    moved = f"{step.buffer}.bytes"
    value = {Verb.WRITE: step.value, Verb.REPEAT: step.times}.get(verb, step.bytes or moved)
    mask, equals = step.mask or 0, step.equals or 0
    if bits := block.bits(getattr(step, verb)):
        low, mask = bits[0], _mask(bits)
        value, equals = f"({value or 0}) << {low} & {mask}", equals << low
    return Step(
        verb=verb,
        name=_register(getattr(step, verb)),
        value=value or "0",
        buffer=step.buffer or "",
        offset=step.offset or "0",
        rises=step.rises,
        mask=mask,
        equals=equals,
        steps=_steps(step.do or (), block),
    )


def _register(name: str) -> str:
    """Return the register of a field."""
    return name.partition(".")[0]


def _mask(bits: tuple[int, int]) -> int:
    low, high = bits
    return (1 << high + 1) - (1 << low)
