# SPDX-License-Identifier: Apache-2.0
"""What accesses to the registers of accelerators mean, as their descriptions have it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

from atoll.program.expressions import names_of, parse, value_of
from atoll.program.steps import Program, Step, Verb, all_steps
from atoll.resolve.engine_parts import emitter_of, identity_of, links
from atoll.resolve.soc import AcceleratorSpec, Engine
from atoll_sim.shadow.access_kinds import Barred, barred_accesses
from atoll_sim.shadow.records import DEVICE, REGISTER, Action, Interrupt

WORD = 0xFFFF_FFFF
PATIENCE = 64
"""Cycles of the slower of the host and an accelerator in which an interrupt line follows."""

LISTS, DOORBELL = "command_list", "doorbell"

Meaning = tuple[Action, str, int, int]
"""What it means to read or write a register whose bits under a mask have a value."""


def device_rows(engine: Engine, masters: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    """Yield the row of an accelerator, if it is known how it is driven."""
    spec = engine.spec
    if not is_driven(spec):
        return
    yield DEVICE.row(
        master=masters[engine.name],
        origin=engine.registers.origin,
        interrupt={"level": Interrupt.LEVEL, "edge": Interrupt.EDGE}.get(
            spec.ports.interrupt, Interrupt.NOTHING
        ),
        queued=int(spec.driver == DOORBELL),
        enabled=int(spec.program is not None),
        patience=PATIENCE * max(1, ceil(1 / engine.bus_cycles)),
    )


def register_rows(engine: Engine, masters: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    """Yield what accesses to the registers of an accelerator mean, if it is known."""
    spec = engine.spec
    if not is_driven(spec):
        return
    for action, name, mask, value in dict.fromkeys(_meanings(engine)):
        yield REGISTER.row(
            master=masters[engine.name],
            action=int(action),
            offset=spec.registers[name],
            mask=mask,
            value=value,
        )
    for barred in barred_accesses(engine):
        yield REGISTER.row(
            master=masters[engine.name],
            action=int(Action.NO_WRITE if barred.write else Action.NO_READ),
            offset=barred.offset,
            mask=0,
            value=0,
        )


def _meanings(engine: Engine) -> Iterator[Meaning]:
    spec = engine.spec
    yield from _of_program(spec.program) if spec.program else _of_driver(engine)
    yield from ((Action.FIXED, name, WORD, value) for name, value in identity_of(engine).items())


def known_registers(engine: Engine) -> tuple[int, ...]:
    """Return the addresses of the registers of which it is known what they read after reset."""
    reads = (Action.FIXED, Action.RESET)
    rows = [row for row in _meanings(engine) if row[0] in reads] if is_driven(engine.spec) else []
    origin = engine.registers.origin
    return tuple(origin + engine.spec.registers[name] for name in dict.fromkeys(r[1] for r in rows))


def accesses_to_try(engine: Engine) -> tuple[Barred, ...]:
    """Return accesses that an accelerator is to answer with an error, if its driver is known."""
    return barred_accesses(engine) if is_driven(engine.spec) else ()


def is_driven(spec: AcceleratorSpec) -> bool:
    """Tell whether it is known how the host drives an accelerator: by lists, or a program."""
    drivers = () if spec.driver_path else (LISTS,)
    return spec.program is not None or spec.driver in drivers


def _of_driver(engine: Engine) -> Iterator[Meaning]:
    """Yield what drivers of command lists and doorbells rely on (docs/accelerators.md)."""
    yield Action.ABORT, "CONTROL", 2, 2
    yield Action.DONE, "STATUS", 1, 0
    yield Action.BUSY, "STATUS", 3, 1
    yield Action.RESET, "STATUS", 7, 0
    yield Action.RESET, "IRQ_STATUS", 1, 0
    yield Action.CLEAR, "IRQ_STATUS", 1, 1
    yield Action.ENABLE, "IRQ_ENABLE", 1, 1
    if engine.spec.driver == DOORBELL:
        yield Action.START, "DOORBELL", 0, 0
        yield Action.COMPLETED, "COMPLETED", WORD, 0
        return
    yield Action.START, "CONTROL", 1, 1
    if not links(emitter_of(engine)):
        yield Action.COUNT, "LIST_COUNT", WORD, 0
        yield Action.COMPLETED, "COMPLETED", WORD, 0


def _of_program(program: Program) -> Iterator[Meaning]:
    """Yield what the steps of a program mean: any register that they write may start it."""
    yield from _writes(Action.CLEAR, program.clear)
    yield from _writes(Action.ABORT, program.abort)
    yield from _writes(Action.NEUTRAL, (*program.open, *program.close))
    ends = []
    for steps in program.runs.values():
        every = [*all_steps(steps)]
        begins = (step for step in every if step.verb in (Verb.WRITE, Verb.PUSH))
        yield from ((Action.START, step.name, 0, 0) for step in begins)
        reads = (step for step in every if step.verb in (Verb.POP, Verb.WAIT))
        yield from ((Action.READABLE, step.name, 0, 0) for step in reads)
        ends.append([step for step in every if step.verb is Verb.WAIT][-1:])
    if all(ends):
        yield from ((Action.DONE, end.name, end.mask, end.equals) for (end,) in ends)
        # A bit that the host waits to fall says busy; one that it waits to rise may be either
        busy = (end for (end,) in ends if end.equals == 0)
        yield from ((Action.RESET, end.name, end.mask, 0) for end in busy)
    yield from ((Action.RESET, each.register, each.mask, 0) for each in program.failures)


def _writes(action: Action, steps: Sequence[Step]) -> Iterable[Meaning]:
    """Yield the writes of steps, but those of computed values: they may mean anything."""
    for step in all_steps(steps):
        if step.verb is Verb.WRITE and not names_of(value := parse(step.value)):
            yield action, step.name, WORD, value_of(value, {})
