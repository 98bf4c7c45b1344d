"""The program of an accelerator as later stages read it."""

from collections.abc import Mapping

from atoll.description import programs as written
from atoll.description.accelerator import Accelerator
from atoll.program.steps import Failure, Program, Step, Verb


def program_of(accelerator: Accelerator) -> Program | None:
    """Return how the host drives an accelerator by its registers, None if `driver` does."""
    program = accelerator.program
    if program is None:
        return None
    return Program(
        identity=dict(program.identity),
        open=_steps(program.open),
        close=_steps(program.close),
        runs=_runs(accelerator, program),
        failures=tuple(
            Failure(register=each.read, mask=each.mask, means=each.means) for each in program.errors
        ),
        abort=_steps(program.abort),
        clear=_steps(program.clear),
    )


def _runs(accelerator: Accelerator, program: written.Program) -> Mapping[str, tuple[Step, ...]]:
    return {
        kind.lower(): _steps(operator.run or program.run)
        for kind, operator in sorted(accelerator.operators.items())
    }


def _steps(steps: written.Steps) -> tuple[Step, ...]:
    return tuple(map(_step, steps))


def _step(step: written.Step) -> Step:
    verb = next(verb for verb in Verb if getattr(step, verb) is not None)
    moved = f"{step.buffer}.bytes"
    value = {Verb.WRITE: step.value, Verb.REPEAT: step.times}.get(verb, step.bytes or moved)
    return Step(
        verb=verb,
        name=getattr(step, verb),
        value=value or "0",
        buffer=step.buffer or "",
        offset=step.offset or "0",
        mask=step.mask or 0,
        equals=step.equals or 0,
        steps=_steps(step.do or ()),
    )
