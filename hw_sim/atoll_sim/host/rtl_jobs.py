# SPDX-License-Identifier: Apache-2.0
"""What the host does with the registers of an accelerator in RTL to have it run something."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import islice, takewhile

from atoll.program.steps import Verb
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.list_registers import ABORT, BUSY, CLEAR, DOORBELL
from atoll_sim.engines.script import Access, script_of
from atoll_sim.host.external import Do, Job, Report
from atoll_sim.shadow.device_rows import accesses_to_try, known_registers

IRQ_BIT = 1
START_BIT = 1
WORD_BYTES = 4
ALL_ONES = 0xFFFF_FFFF
COMMAND_BYTES = 64

Read = Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is the same for all jobs of an accelerator.

    Attributes:
        look: addresses of registers that the first job reads before anything else.
        before: what memory holds, by address.
        after: spans of memory that may change.
        patience: cycles after which a driver gives up a command that does not end.
        cycle_time: picoseconds of a cycle.
    """

    look: tuple[int, ...] = ()
    before: Mapping[int, bytes] = field(default_factory=dict)
    after: tuple[tuple[int, int], ...] = ()
    patience: int
    cycle_time: int


def list_job(engine: Engine, address: int, count: int, around: Around) -> Job:
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
        look=around.look,
        before=around.before,
        start=start,
        irq=engine.irq,
        read=(at["ERROR"], at["FAULT_ADDRESS"], at["COMPLETED"]),
        finish=((at["IRQ_STATUS"], IRQ_BIT), (at["IRQ_ENABLE"], 0)),
        after=around.after,
        max_cycles=max(1, count) * around.patience,
        cycle_time=around.cycle_time,
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


def program_job(engine: Engine, record: bytes, read: Read, around: Around) -> Job:
    """Return the job of one operator by its record; `read` gives the bytes that are pushed."""
    program, origin = engine.spec.program, engine.registers.origin
    assert program
    script = script_of(engine, record)
    return Job(
        look=around.look,
        before=around.before,
        start=tuple(do for access in script.run for do in _actions(access, origin, read)),
        irq=None,
        read=tuple(origin + engine.spec.registers[each.register] for each in program.failures),
        finish=tuple((origin + each.offset, each.value) for each in script.finish),
        after=around.after,
        max_cycles=around.patience,
        cycle_time=around.cycle_time,
    )


def abort_job(engine: Engine, record: bytes, job: Job, delay: int) -> Job:
    """Return a job that is aborted soon after its start, and waited for as before.

    Args:
        engine: whose it is.
        record: of its operator, if a program drives it.
        job: to its end.
        delay: how many words are pushed behind the start, if any are, or else how often the
            register of the wait is read.
    """
    at = {name: engine.registers.origin + offset for name, offset in engine.spec.registers.items()}
    if engine.spec.program is None:
        end = Do(address=at["STATUS"], mask=BUSY, equals=0)
        begun, abort = job.start, [Do(address=at["CONTROL"], value=ABORT)]
    else:
        script, origin = script_of(engine, record), engine.registers.origin
        *_, last = (each for each in script.run if each.verb is Verb.WAIT)
        end = Do(address=origin + last.offset, mask=last.mask, equals=last.equals)
        writes = takewhile(lambda access: access.verb is Verb.WRITE, script.run)
        sets = len([*writes])
        words = takewhile(lambda do: do.value is not None, job.start[sets:])
        begun = (*job.start[:sets], *islice(words, delay))
        delay -= len(begun) - sets
        abort = [Do(address=origin + each.offset, value=each.value) for each in script.abort]
    look = Do(address=end.address)
    return replace(job, start=(*begun, *[look] * delay, *abort, end), irq=None)


def polled_job(engine: Engine, job: Job) -> Job:
    """Return a job of a list whose interrupt is not enabled: the host asks whether it has ended."""
    enable = engine.registers.origin + engine.spec.registers["IRQ_ENABLE"]
    status = engine.registers.origin + engine.spec.registers["STATUS"]
    begun = (replace(do, value=0) if do.address == enable else do for do in job.start)
    return replace(job, start=(*begun, Do(address=status, mask=BUSY, equals=0)), irq=None)


def probe_job(engine: Engine, around: Around) -> Job:
    """Return a job that tries what no register allows, and reads what is known before and after."""
    origin = engine.registers.origin
    tries = (
        Do(address=origin + each.offset, value=ALL_ONES if each.write else None)
        for each in accesses_to_try(engine)
    )
    known = known_registers(engine)
    return Job(
        look=known,
        before={},
        start=(*tries, *(Do(address=address) for address in known)),
        irq=None,
        read=(),
        finish=(),
        after=(),
        max_cycles=around.patience,
        cycle_time=around.cycle_time,
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
