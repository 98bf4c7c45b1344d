# SPDX-License-Identifier: Apache-2.0
"""The operators that the host has accelerators run by programs, as an ISS needs them."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from atoll.driver.pipeline import Compiled
from atoll.ir.tir import EngineAction, Step
from atoll.resolve.soc import Engine
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.player import list_address
from atoll_sim.engines.program_registers import Begun
from atoll_sim.engines.script import script_of
from atoll_sim.iss.engines import Engines

RunList = Callable[[Engine, int, int, int], tuple[Outcome, int]]


def run_by_program(compiled: Compiled, number: int) -> tuple[Engine, Step] | None:
    """Return the accelerator with a program that runs an operator, and its step."""
    for step in compiled.module.entry.steps:
        if step.number == number and isinstance(step.action, EngineAction):
            engine = compiled.soc.device(step.action.device)
            assert isinstance(engine, Engine)
            return (engine, step) if engine.spec.program else None
    return None


def programs_of(models: Iterable[Compiled], engine: Engine) -> Iterator[tuple[Compiled, Step]]:
    """Yield the operators that an accelerator with a program may be turned to."""
    for compiled in models:
        for step in compiled.module.entry.steps:
            if isinstance(step.action, EngineAction) and step.action.device == engine.name:
                yield compiled, step


def begin_operator(
    found: tuple[Engine, Step],
    compiled: Compiled,
    played: Engines,
    peek: Callable[[int, int], bytes],
    run_list: RunList,
) -> Begun:
    """Return an operator that the host turns to.

    Args:
        found: of `run_by_program`.
        compiled: the network.
        played: who plays the accelerators.
        peek: returns bytes of memory as the host sees them.
        run_list: runs an accelerator that moves its data itself.
    """
    engine, step = found
    assert isinstance(step.action, EngineAction)
    address = list_address(compiled, step)
    record = peek(address, len(compiled.commands[step.action.commands]))

    def run(now: int) -> tuple[Mapping[int, bytes], int]:
        if not engine.spec.fed:
            return {}, run_list(engine, now, address, 1)[1]
        results = played.accelerators.results(engine, address)
        return results, played.cycles_of(engine, address)

    return Begun(script=script_of(engine, record), run=run, read=peek)
