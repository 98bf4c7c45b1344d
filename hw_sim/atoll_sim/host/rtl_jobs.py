# SPDX-License-Identifier: Apache-2.0
"""What the host does with the registers of an accelerator in RTL to have it run something."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from atoll.program.steps import Verb
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.list_registers import BUSY, CLEAR, DOORBELL
from atoll_sim.engines.script import Access, script_of
from atoll_sim.host.external import Do, Job, Report

IRQ_BIT = 1
START_BIT = 1
WORD_BYTES = 4
COMMAND_BYTES = 64

Read = Callable[[int, int], bytes]


def list_job(
    engine: Engine,
    address: int,
    count: int,
    before: Mapping[int, bytes],
    after: tuple[tuple[int, int], ...],
    cycle_time: int,
    patience: int,
) -> Job:
    """Return the job of a list of commands."""
    at = {name: engine.registers.origin + offset for name, offset in engine.spec.registers.items()}
    if engine.spec.driver == DOORBELL:
        start = tuple(_rung(at, address, count))
    else:
        start = (
            Do(address=at["LIST_ADDRESS"], value=address),
            Do(address=at["LIST_COUNT"], value=count),
            Do(address=at["IRQ_ENABLE"], value=IRQ_BIT),
            Do(address=at["CONTROL"], value=START_BIT),
        )
    return Job(
        before=before,
        start=start,
        irq=engine.irq,
        read=(at["ERROR"], at["FAULT_ADDRESS"], at["COMPLETED"]),
        finish=((at["IRQ_STATUS"], IRQ_BIT), (at["IRQ_ENABLE"], 0)),
        after=after,
        max_cycles=count * patience,
        cycle_time=cycle_time,
    )


def _rung(at: Mapping[str, int], address: int, count: int) -> Iterator[Do]:
    """Ring for commands one by one; the interrupt after the last is left for the end."""
    yield Do(address=at["CONTROL"], value=CLEAR)
    for number in range(count):
        if number:
            yield Do(address=at["STATUS"], mask=BUSY, equals=0)
            yield Do(address=at["IRQ_STATUS"], value=IRQ_BIT)
        yield Do(address=at["DOORBELL"], value=address + number * COMMAND_BYTES)
    yield Do(address=at["IRQ_ENABLE"], value=IRQ_BIT)


def program_job(
    engine: Engine,
    record: bytes,
    read: Read,
    before: Mapping[int, bytes],
    after: tuple[tuple[int, int], ...],
    cycle_time: int,
    patience: int,
) -> Job:
    """Return the job of one operator by its record; `read` gives the bytes that are pushed."""
    program, origin = engine.spec.program, engine.registers.origin
    assert program
    script = script_of(engine, record)
    return Job(
        before=before,
        start=tuple(do for access in script.run for do in _actions(access, origin, read)),
        irq=None,
        read=tuple(origin + engine.spec.registers[each.register] for each in program.failures),
        finish=tuple((origin + each.offset, each.value) for each in script.finish),
        after=after,
        max_cycles=patience,
        cycle_time=cycle_time,
    )


def list_outcome(report: Report) -> Outcome:
    """Return how a list of commands has ended."""
    error, fault_address, completed = report.registers
    return Outcome(error=error, fault_address=fault_address, completed=completed)


def program_outcome(engine: Engine, report: Report) -> Outcome:
    """Return how an operator has ended: well, if no bits tell otherwise."""
    assert engine.spec.program
    pairs = zip(engine.spec.program.failures, report.registers, strict=True)
    failed = any(value & failure.mask for failure, value in pairs)
    return Outcome(
        error=ErrorCode.BAD_FIELD if failed else 0, fault_address=0, completed=int(not failed)
    )


def popped_bytes(engine: Engine, record: bytes, taken: Iterable[int]) -> Mapping[int, bytes]:
    """Return the bytes that were read from windows, by the address of where they belong."""
    words, script = iter(taken), script_of(engine, record)
    found = {}
    for access in script.run:
        if access.verb is Verb.POP:
            count = -(-access.size // WORD_BYTES)
            data = b"".join(next(words).to_bytes(WORD_BYTES, "little") for _ in range(count))
            found[access.address] = data[: access.size]
    return found


def pushed_bytes(engine: Engine, record: bytes) -> Iterator[range]:
    """Yield the bytes that are written to windows."""
    for access in script_of(engine, record).run:
        if access.verb is Verb.PUSH:
            yield range(access.address, access.address + access.size)


def _actions(access: Access, origin: int, read: Read) -> Iterator[Do]:
    at = origin + access.offset
    match access.verb:
        case Verb.WRITE:
            yield Do(address=at, value=access.value)
        case Verb.WAIT:
            yield Do(address=at, mask=access.mask, equals=access.equals)
        case Verb.PUSH:
            for each in access.words():
                word = read(each.address, each.size).ljust(WORD_BYTES, b"\0")
                yield Do(address=origin + each.offset, value=int.from_bytes(word, "little"))
        case Verb.POP:
            for each in access.words():
                yield Do(address=origin + each.offset)
