# SPDX-License-Identifier: Apache-2.0
"""The steps of a program: what the host writes, waits for, pushes and pops, in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from atoll.program.expressions import Expression, parse
from atoll.records import dataclass

ADDRESS = ".address"
"""How a name ends that stands for where a buffer begins."""


class Verb(StrEnum):
    """What a step does.

    WRITE writes a register. WAIT reads one until some of its bits are as they shall be; the device
    works meanwhile. PUSH writes bytes of a buffer to a window, word by word to one address or to
    rising ones, the last word filled with zeros; POP reads them, and drops what is past the last
    byte. REPEAT does steps a number of times.
    """

    WRITE = "write"
    WAIT = "wait"
    PUSH = "push"
    POP = "pop"
    REPEAT = "repeat"


MOVES = (Verb.PUSH, Verb.POP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        verb: what it does.
        name: the register or window; the name of the count of a repetition, which is 0 at first.
        value: formula of what is written, of the bytes that are moved, or of how often.
        buffer: an operand or packed constant, of which bytes from `offset` on are moved.
        rises: words are moved to rising addresses from the window on.
        mask, equals: what is waited for.
        steps: what is repeated.
    """

    verb: Verb
    name: str
    value: str = "0"
    buffer: str = ""
    offset: str = "0"
    rises: bool = False
    mask: int = 0
    equals: int = 0
    steps: tuple["Step", ...] = ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What it computes itself."""
        if self.verb is Verb.WAIT:
            return ()
        formulas = (self.offset, self.value) if self.verb in MOVES else (self.value,)
        return tuple(map(parse, formulas))


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What it means that a register's bits under `mask` are not 0 when the steps have ended."""

    register: str
    mask: int
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How the host drives an accelerator by its registers.

    Attributes:
        identity: what registers hold that tell what it is.
        open, close: before and after an operator.
        runs: the steps of each kind of operator.
        failures: looked at in order when an operator has ended.
        abort: once the host gives up.
        clear: takes the interrupt back.
    """

    identity: Mapping[str, int] = field(default_factory=dict)
    open: tuple[Step, ...] = ()
    close: tuple[Step, ...] = ()
    runs: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    abort: tuple[Step, ...] = ()
    clear: tuple[Step, ...] = ()


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps, and those inside them."""
    for step in steps:
        yield step
        yield from all_steps(step.steps)


def last_wait(steps: Sequence[Step]) -> int:
    """Return the place of the step that the host leaves the device alone for.

    It is the last wait that is not repeated; past the end if there is none.
    """
    waits = [number for number, step in enumerate(steps) if step.verb is Verb.WAIT]
    return waits[-1] if waits else len(steps)
