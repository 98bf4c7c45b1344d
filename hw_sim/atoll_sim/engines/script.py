# SPDX-License-Identifier: Apache-2.0
"""What the driver of an accelerator with a program does on its registers, access by access."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.lower.records import record_layout
from atoll.program.expressions import Name
from atoll.program.record import Layout, compute
from atoll.program.steps import ADDRESS, Step, Verb
from atoll.records import dataclass
from atoll.resolve.soc import Engine

WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Access:
    """One step with nothing left to compute.

    Attributes:
        verb: any but REPEAT.
        offset: of the register or window, in bytes.
        value: what is written.
        mask, equals: what is waited for.
        address, size: bytes that are pushed or popped, as the host sees them.
        rises: their words have rising offsets.
    """

    verb: Verb
    offset: int
    value: int = 0
    mask: int = 0
    equals: int = 0
    address: int = 0
    size: int = 0
    rises: bool = False

    def words(self) -> Iterator["Access"]:
        """Yield what is pushed or popped word by word."""
        for done in range(0, self.size, WORD_BYTES):
            yield Access(
                self.verb,
                self.offset + done * self.rises,
                address=self.address + done,
                size=min(WORD_BYTES, self.size - done),
            )


@dataclass(frozen=True, slots=True)
class Script:
    """The accesses of one operator.

    Attributes:
        run: from opening the device to the end of the operator.
        finish: what takes the interrupt back and closes the device.
        abort: what the driver does once it gives up.
    """

    run: tuple[Access, ...]
    finish: tuple[Access, ...]
    abort: tuple[Access, ...]


def script_of(engine: Engine, record: bytes) -> Script:
    """Return what the driver does for a record.

    Raises:
        ValueError: the record is of no kind that the program runs.
    """
    program = engine.spec.program
    assert program
    kinds, number = tuple(program.runs), int.from_bytes(record[:4], "little")
    if number >= len(kinds):
        raise ValueError(f"a record of kind {number}, of {len(kinds)}")
    kind = kinds[number]
    played = (record_layout(kind, engine), record)
    nothing = (Layout(()), b"")
    return Script(
        run=(
            *_accesses(program.open, engine, nothing, {}),
            *_accesses(program.runs[kind], engine, played, {}),
        ),
        finish=tuple(_accesses((*program.clear, *program.close), engine, nothing, {})),
        abort=tuple(_accesses(program.abort, engine, nothing, {})),
    )


def _accesses(
    steps: Sequence[Step], engine: Engine, record: tuple[Layout, bytes], counts: Mapping[str, int]
) -> Iterator[Access]:
    layout, data = record
    known = layout.values(data, counts)
    for step in steps:
        values = [compute(expression, known) for expression in step.expressions]
        if step.verb is Verb.REPEAT:
            for count in range(values[0]):
                yield from _accesses(step.steps, engine, record, {**counts, step.name: count})
            continue
        offset = engine.spec.registers[step.name]
        match step.verb:
            case Verb.WRITE:
                yield Access(step.verb, offset, value=values[0])
            case Verb.WAIT:
                yield Access(step.verb, offset, mask=step.mask, equals=step.equals)
            case Verb.PUSH | Verb.POP:
                begin = known[Name(step.buffer + ADDRESS)]
                at = begin + values[0] & 0xFFFF_FFFF
                yield Access(step.verb, offset, address=at, size=values[1], rises=step.rises)
