"""The registers of an accelerator that the host drives by a program, held against its script.

The script (`atoll_sim.engines.script`) says which accesses the driver makes for an operator, in
order; another access is answered with an error, as hardware that hangs would end it. What is popped
is what the operator computes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from atoll.program.steps import Verb
from atoll.resolve.engine_parts import identity_of
from atoll.resolve.soc import Engine
from atoll_sim.engines.interface import BusFault
from atoll_sim.engines.script import Access, Script

WORD_BYTES = 4


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

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._names = {offset: name for name, offset in engine.spec.registers.items()}
        self._values = dict(identity_of(engine))
        self._begun: Begun | None = None
        self._left: list[Access] = []
        self._waits = 0
        self._results: Mapping[int, bytes] = {}
        self._since: int | None = None
        self._ended: int | None = None

    def begin(self, begun: Begun) -> None:
        """The host turns to an operator."""
        self._begun, self._since, self._ended = begun, None, None
        self._left = list(_words((*begun.script.run, *begun.script.finish)))
        self._left.reverse()
        self._waits = sum(access.verb is Verb.WAIT for access in self._left)

    @property
    def idle(self) -> bool:
        """Whether the driver has done all of what was begun."""
        return not self._left

    def finish(self, now: int, error: int = 0, address: int = 0) -> None:
        """End what runs; nobody hears of an error before the last wait times out."""
        if not error and self._ended is not None and self._ended > now:
            self._ended = now

    def raised(self) -> int | None:
        """Return from when on its interrupt line is high, if it is or will be."""
        waited = bool(self._left) and self._left[-1].verb is Verb.WAIT and self._waits == 1
        return self._ended if waited and self._engine.spec.ports.interrupt != "none" else None

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.list_registers.Registers`."""
        name = self._names.get(offset)
        if name is None:
            raise BusFault(offset, decode=False)
        if self._left and self._left[-1].offset == offset:
            access = self._left[-1]
            if access.verb is Verb.WAIT:
                return self._waited(access, now)
            if access.verb is Verb.POP:
                return self._popped(now)
        return self._values.get(name, 0)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.list_registers.Registers`."""
        name = self._names.get(offset)
        if name is None or name in self._engine.spec.program.identity:  # type: ignore[union-attr]
            raise BusFault(offset, decode=False)
        if self._left:
            self._follow(offset, value, now)
        self._values[name] = value

    def _follow(self, offset: int, value: int, now: int) -> None:
        """Go on in the script with a write.

        Raises:
            BusFault: the script has another access here.
        """
        access = self._left.pop()
        wanted = access.value
        if access.verb is Verb.PUSH and self._begun:
            data = self._begun.read(access.address, access.size)
            wanted = int.from_bytes(data.ljust(WORD_BYTES, b"\0"), "little")
        if access.verb not in (Verb.WRITE, Verb.PUSH) or (offset, value) != (access.offset, wanted):
            self._left = []
            raise BusFault(offset, decode=False)
        self._start(now)

    def _start(self, now: int) -> None:
        """Compute before the device is waited for, or asked for what it made."""
        if self._since is None:
            self._since = now
        ready = not self._left or self._left[-1].verb in (Verb.WAIT, Verb.POP)
        if ready and self._ended is None and self._begun:
            self._results, cycles = self._begun.run(now)
            self._ended = self._since + cycles

    def _waited(self, access: Access, now: int) -> int:
        self._start(now)
        done = self._waits > 1 or self._ended is None or now >= self._ended
        if done:
            self._left.pop()
            self._waits -= 1
            return access.equals
        return ~access.equals & access.mask

    def _popped(self, now: int) -> int:
        self._start(now)
        access = self._left.pop()
        for begin, data in self._results.items():
            if begin <= access.address < begin + len(data):
                at = access.address - begin
                return int.from_bytes(data[at : at + access.size], "little")
        raise BusFault(access.offset, decode=False)


def _words(accesses: tuple[Access, ...]) -> Iterator[Access]:
    """Yield the accesses, those of windows word by word."""
    for access in accesses:
        if access.verb not in (Verb.PUSH, Verb.POP):
            yield access
            continue
        for done in range(0, access.size, WORD_BYTES):
            yield Access(
                access.verb,
                access.offset,
                address=access.address + done,
                size=min(WORD_BYTES, access.size - done),
            )
