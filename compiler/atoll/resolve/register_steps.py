# SPDX-License-Identifier: Apache-2.0
"""Sequences of accesses to registers that a description tells: what a core does, step by step.

They let a core begin (`release`), or maintain lines of a data cache (`cache.maintenance`).
"""

from collections.abc import Iterable

from atoll.description.devices import RegisterStep as StepModel
from atoll.records import dataclass

WORD = 4
ALL = 2**32 - 1

ENTRY, VECTORS = "entry", "vectors"
OF_A_CORE = (ENTRY, VECTORS)
"""What a step of a release may write: where the core's first instruction is, and its vectors."""

LINE, FIRST, LAST, END, SIZE = "line", "first", "last", "end", "size"
OF_LINES = ((LINE,), (FIRST, LAST), (FIRST, END), (FIRST, SIZE))
"""What steps on a cache may write: the address of each line in turn, or what tells of all lines:
their first byte, with the first byte of the last one, the first past it, or how many bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterStep:
    """An access to a register of 32 bits.

    Attributes:
        address: of the register, as the core sees it that makes the step.
        waits: it is read until it has the value; otherwise it is written.
        value: which; or what stands for it, one of `OF_A_CORE` or of `OF_LINES`.
        mask: bits of the value; others stay as they are, or do not matter.
    """

    address: int
    waits: bool
    value: int | str
    mask: int = ALL

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:#x}"
        bits = "" if self.mask == ALL else f" in bits {self.mask:#x}"
        return f"{'wait for' if self.waits else 'write'} {value}{bits} at {self.address:#x}"


Steps = tuple[RegisterStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSteps:
    """How registers maintain a data cache.

    Attributes:
        clean: writes lines back.
        invalidate: forgets lines.
    """

    clean: Steps
    invalidate: Steps


SOFTWARE_LINE = 3 - 14
"""Stands for the software interrupt, bit 3 of `mip`, where line n is bit n + 14."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """How one core interrupts another through registers.

    Attributes:
        core: the other one.
        line: of it, or `SOFTWARE_LINE`; it stays high until that clears it.
        send: what the one does so that it rises, by its addresses.
        clear: what the other one does so that it falls, by its own.
    """

    core: str
    line: int
    send: Steps
    clear: Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What tells a core and its host to look into a mailbox in memory.

    Attributes:
        event: they send each other events, as Arm cores do.
        core: how the host interrupts the core; None if it does not.
        host: how the core interrupts the host; None if it does not.
    """

    event: bool = False
    core: Interrupt | None = None
    host: Interrupt | None = None


def line_name(line: int) -> str:
    """Return what people call the line of an `Interrupt`."""
    return "the software interrupt" if line == SOFTWARE_LINE else f"line {line}"


def steps_of(described: Iterable[StepModel] | None) -> Steps:
    """Return the steps of a description without faults."""
    return tuple(
        RegisterStep(
            address=address_of(each),
            waits=each.wait is not None,
            value=each.value,
            mask=mask_of(each),
        )
        for each in described or ()
    )


def is_by_line(steps: Steps) -> bool:
    """Tell whether steps are made for each line of a cache, not once for many."""
    return any(each.value == LINE for each in steps)


def register_spans(steps: Iterable[RegisterStep]) -> tuple[range, ...]:
    """Return the words that steps access, joined where they adjoin, in order."""
    spans: list[range] = []
    for address in sorted({each.address for each in steps}):
        if spans and spans[-1].stop == address:
            spans[-1] = range(spans[-1].start, address + WORD)
        else:
            spans.append(range(address, address + WORD))
    return tuple(spans)


def address_of(step: StepModel) -> int:
    """Return the address of the register that a step accesses."""
    found = step.write if step.write is not None else step.wait
    assert found is not None
    return found


def mask_of(step: StepModel) -> int:
    """Return the bits that a step is about."""
    return ALL if step.mask is None else step.mask
