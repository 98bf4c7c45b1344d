# SPDX-License-Identifier: Apache-2.0
"""The registers of an accelerator that the host drives by a program, held against its script.

The script (`atoll_sim.engines.script`) says which accesses the driver makes for an operator, in
order; another access is answered with an error, as hardware that hangs would end it. What is popped
is what the operator computes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from atoll.program.steps import Verb
from atoll.records import dataclass
from atoll.resolve.engine_parts import identity_of
from atoll.resolve.soc import Engine
from atoll_sim.engines.interface import BusFault
from atoll_sim.engines.script import Access, Script

WORD_BYTES = 4

Seen = tuple[Verb, int, int]
"""An access as the device sees it: what is pushed is a write. Third is the value written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An operator that an accelerator runs.

    Attributes:
        script: what the driver does for it.
        run: plays the operator at a time; returns the bytes of its results by address, as the host
            sees them, and after how many cycles it has ended.
        read: returns bytes of memory, for those that are pushed.
    """

    script: Script
    run: Callable[[int], tuple[Mapping[int, bytes], int]]
    read: Callable[[int, int], bytes]


class ProgramRegisters:
    """The control port."""

    def __init__(self, engine: Engine, ask: Callable[[], Sequence[Begun]] | None = None) -> None:
        """Connect it.

        Args:
            engine: the instance.
            ask: returns what the host may turn to, if `begin` does not tell.
        """
        self._engine = engine
        self._ask = ask
        self._names = {offset: name for name, offset in engine.spec.registers.items()}
        self._values = dict(identity_of(engine))
        self._told = {engine.spec.registers[name] for name in _telling_registers(engine)}
        self._begun: Begun | None = None
        self._rivals: list[Begun] = []
        self._seen: list[Seen] = []
        self._left: list[Access] = []
        self._waits = 0
        self._results: Mapping[int, bytes] = {}
        self._since: int | None = None
        self._ended: int | None = None

    def begin(self, begun: Begun, *rivals: Begun) -> None:
        """The host turns to an operator, or to one of its rivals."""
        self._rivals, self._seen = list(rivals), []
        self._since = self._ended = None
        self._follow_script(begun)

    def _follow_script(self, begun: Begun) -> None:
        """Take an operator's script up where the host is."""
        self._begun = begun
        self._left = list(_words(begun.script))[len(self._seen) :]
        self._left.reverse()
        self._waits = sum(access.verb is Verb.WAIT for access in self._left)

    def finish(self, now: int, error: int = 0, address: int = 0) -> None:
        """End what runs; nobody hears of an error before the last wait times out."""
        if not error and self._ended is not None and self._ended > now:
            self._ended = now

    def interrupt_time(self) -> int | None:
        """Return from when on its interrupt line is high, if it is or will be."""
        waited = bool(self._left) and self._left[-1].verb is Verb.WAIT and self._waits == 1
        return self._ended if waited and self._engine.spec.ports.interrupt != "none" else None

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.list_registers.Registers`."""
        name = self._names.get(offset)
        if offset not in self._told:
            self._turn()
        if name is None and not self._is_next(offset):
            raise BusFault(offset, decode=False)
        if self._is_next(offset):
            access = self._left[-1]
            if access.verb is Verb.WAIT:
                return self._wait(access, now)
            if access.verb is Verb.POP:
                return self._pop(now)
        return self._values.get(name or "", 0)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.list_registers.Registers`."""
        name = self._names.get(offset)
        if name in self._engine.spec.program.identity:  # type: ignore[union-attr]
            raise BusFault(offset, decode=False)
        self._turn()
        if name is None and not self._is_next(offset):
            raise BusFault(offset, decode=False)
        if self._left:
            self._follow(offset, value, now)
        if name is not None:
            self._values[name] = value

    def _is_next(self, offset: int) -> bool:
        """Say whether the script goes on there, such as in memory among the registers."""
        return bool(self._left) and self._left[-1].offset == offset

    def _turn(self) -> None:
        """Find out what the host turns to, if it has done all of what was begun."""
        if not self._left and self._ask:
            self.begin(*self._ask())

    def _follow(self, offset: int, value: int, now: int) -> None:
        """Go on in the script with a write.

        Raises:
            BusFault: neither this script nor a rival's has such an access here.
        """
        seen = Verb.WRITE, offset, value
        agrees = _as_seen(self._left.pop(), self._begun) == seen
        self._seen.append(seen)
        if not agrees and not self._takes_rival():
            self._left = []
            raise BusFault(offset, decode=False)
        self._start(now)

    def _takes_rival(self) -> bool:
        """Go on with the first rival that agrees with what was seen, if one does."""
        while self._rivals:
            rival = self._rivals.pop(0)
            if self._agrees(rival):
                self._follow_script(rival)
                return True
        return False

    def _agrees(self, begun: Begun) -> bool:
        """Say whether an operator's script begins with all that was seen."""
        accesses = islice(_words(begun.script), len(self._seen))
        return [_as_seen(access, begun) for access in accesses] == self._seen

    def _pop_seen(self) -> Access:
        access = self._left.pop()
        self._seen.append(_as_seen(access, self._begun))
        return access

    def _start(self, now: int) -> None:
        """Compute before the device is waited for, or asked for what it made."""
        if self._since is None:
            self._since = now
        ready = not self._left or self._left[-1].verb in (Verb.WAIT, Verb.POP)
        if ready and self._ended is None and self._begun and not self._is_undecided():
            self._results, cycles = self._begun.run(now)
            self._ended = self._since + cycles

    def _is_undecided(self) -> bool:
        """Say whether a write is still to come that may tell an operator from a rival."""
        self._rivals = [each for each in self._rivals if self._agrees(each)]
        return bool(self._rivals) and any(a.verb in (Verb.WRITE, Verb.PUSH) for a in self._before())

    def _before(self) -> Iterator[Access]:
        """Yield the accesses that are left before the last wait and what is popped."""
        for access in reversed(self._left):
            if access.verb is Verb.POP or (access.verb is Verb.WAIT and self._waits == 1):
                return
            yield access

    def _wait(self, access: Access, now: int) -> int:
        self._start(now)
        done = self._waits > 1 or self._ended is None or now >= self._ended
        if done:
            self._pop_seen()
            self._waits -= 1
            return access.equals
        return ~access.equals & access.mask

    def _pop(self, now: int) -> int:
        self._start(now)
        access = self._pop_seen()
        for begin, data in self._results.items():
            if begin <= access.address < begin + len(data):
                at = access.address - begin
                return int.from_bytes(data[at : at + access.size], "little")
        raise BusFault(access.offset, decode=False)


def _telling_registers(engine: Engine) -> Iterator[str]:
    """Yield the registers that are read whether an operator runs or not."""
    if program := engine.spec.program:
        yield from program.identity
        yield from (each.register for each in program.failures)


def _as_seen(access: Access, begun: Begun | None) -> Seen:
    """Return what the device sees of an access."""
    if access.verb is Verb.PUSH and begun:
        data = begun.read(access.address, access.size)
        return Verb.WRITE, access.offset, int.from_bytes(data.ljust(WORD_BYTES, b"\0"), "little")
    return access.verb, access.offset, access.value


def _words(script: Script) -> Iterator[Access]:
    """Yield the accesses of a script, those of windows word by word."""
    for access in (*script.run, *script.finish):
        if access.verb not in (Verb.PUSH, Verb.POP):
            yield access
            continue
        yield from access.words()
