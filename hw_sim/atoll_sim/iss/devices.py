# SPDX-License-Identifier: Apache-2.0
"""The registers of the chip around cores that no RTL makes: each device with its own class.

Times are cycles of the host, but those of what a core has to itself, which are the core's. A
register that does not exist, or not for this access, raises `BusFault`, as the hardware answers
SLVERR (docs/platform.md).
"""

from collections.abc import Callable

from atoll.protocol import ConsoleRegister, GuardRegister
from atoll.resolve.mailbox import ID, registers_of
from atoll_sim.engines.interface import BusFault, Device

MAILBOX = registers_of(held=True)
BUSY, DONE = 1, 2
CAUSE_WRITE, CAUSE_BUS = 1, 2


class Console:
    """The test bench's registers."""

    def __init__(
        self, request: Callable[[], int], wrote: Callable[[ConsoleRegister, int], None]
    ) -> None:
        """Connect it.

        Args:
            request: what REQUEST reads.
            wrote: called with each register written, and its value.
        """
        self._request = request
        self._wrote = wrote

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        if offset != ConsoleRegister.REQUEST:
            raise BusFault(offset, decode=False)
        return self._request()

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        if offset not in set(ConsoleRegister) - {ConsoleRegister.REQUEST}:
            raise BusFault(offset, decode=False)
        self._wrote(ConsoleRegister(offset), value)


class Guard:
    """What firewalls kept back and the bus failed, and the watchdog."""

    def __init__(self, devices: int) -> None:
        self._devices = devices
        self._seen: dict[int, tuple[int, int]] = {}
        self._enabled = 0
        self._period = 0
        self._kicked = 0
        self.restarted = False

    def record(self, device: int, address: int, *, writes: bool, bus: bool) -> None:
        """Remember the first access of a device that failed."""
        cause = CAUSE_WRITE * writes | CAUSE_BUS * bus
        self._seen.setdefault(device, (address, cause))

    @property
    def raised(self) -> bool:
        """Whether its interrupt line is high."""
        return bool(self._status() & self._enabled)

    @property
    def restarts(self) -> int | None:
        """When the watchdog restarts the chip, unless it is kicked."""
        return self._kicked + self._period if self._period else None

    def restart(self) -> None:
        """Restart the chip: only that it happened is kept."""
        self._enabled = self._period = 0
        self._seen.clear()
        self.restarted = True

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        registers = {
            GuardRegister.STATUS: self._status(),
            GuardRegister.IRQ_ENABLE: self._enabled,
            GuardRegister.PERIOD: self._period,
            GuardRegister.RESTARTED: int(self.restarted),
        }
        if offset in registers:
            return registers[GuardRegister(offset)]
        device, which = divmod(offset - GuardRegister.FIRST, 8)
        if not 0 <= device < self._devices or which not in (0, 4):
            raise BusFault(offset, decode=False)
        return self._seen.get(device, (0, 0))[which // 4]

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        match offset:
            case GuardRegister.STATUS:
                self._seen = {d: seen for d, seen in self._seen.items() if not value >> d & 1}
            case GuardRegister.IRQ_ENABLE:
                self._enabled = value & (1 << self._devices) - 1
            case GuardRegister.PERIOD:
                self._period, self._kicked = value, now
            case GuardRegister.KICK:
                self._kicked = now
            case GuardRegister.RESTARTED:
                self.restarted = self.restarted and not value & 1
            case _:
                raise BusFault(offset, decode=False)

    def _status(self) -> int:
        return sum(1 << device for device in self._seen)


class Watched:
    """Registers after each access to which somebody looks at the interrupt lines."""

    def __init__(self, device: Device, look: Callable[[int], None]) -> None:
        self._device = device
        self._look = look

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        value = self._device.read(offset, core, now)
        self._look(now)
        return value

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        self._device.write(offset, value, core, now)
        self._look(now)


class Mailbox:
    """Through which the host has another core run a step.

    Attributes:
        rung: since when the core's line is high, or None.
        answered: since when the host's is.
    """

    def __init__(
        self,
        host: str,
        release: Callable[[int], None] | None = None,
        hears: Callable[[str, bool], None] = lambda _core, _ends: None,
    ) -> None:
        """Connect it.

        Args:
            host: the core that rings.
            release: told when the other core leaves its reset, if the host decides when.
            hears: told the name of the other core when it takes a step, and when that has ended.
        """
        self._host = host
        self._release = release
        self._hears = hears
        self._command = self._result = 0
        self.rung: int | None = None
        self.answered: int | None = None

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        done = self.answered is not None and self.answered <= now
        busy = self.rung is not None or (self.answered is not None and not done)
        status = BUSY * busy | DONE * done
        registers = {MAILBOX["ID"]: ID, MAILBOX["STATUS"]: status}
        if core == self._host:
            registers[MAILBOX["RESULT"]] = self._result
        else:
            registers[MAILBOX["COMMAND"]] = self._command
        if offset not in registers:
            raise BusFault(offset, decode=False)
        if offset == MAILBOX["COMMAND"] and self.rung is not None:
            self._hears(core, False)
        return registers[offset]

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        hosts, busy = core == self._host, self.rung is not None
        if hosts and offset == MAILBOX["COMMAND"] and not busy:
            self._command, self.rung, self.answered = value, now, None
        elif hosts and offset == MAILBOX["CLEAR"]:
            self.answered = None
        elif hosts and offset == MAILBOX["RELEASE"] and self._release and value == 1:
            self._release(now)
        elif not hosts and offset == MAILBOX["RESULT"] and busy:
            self._result, self.rung, self.answered = value, None, now
            self._hears(core, True)
        else:
            raise BusFault(offset, decode=False)


class CoreLocal:
    """What a core keeps to itself: its timer, and where it says that it stands still."""

    COMPARE, TIME, HALT = 0x4000, 0xBFF8, 0xC000

    def __init__(self, halted: Callable[[], None], hart: int) -> None:
        """Connect it: `hart` says which comparator is the core's."""
        self._halted = halted
        self._at = self.COMPARE + 8 * hart
        self._compare = 2**64 - 1
        self._ahead = 0

    @property
    def due(self) -> int:
        """When the timer's interrupt is raised."""
        return max(0, self._compare - self._ahead)

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        time = now + self._ahead
        words = _words(self._at, self._compare) | _words(self.TIME, time)
        return words.get(offset, 0)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        if offset == self.HALT:
            self._halted()
        elif offset - self._at in (0, 4):
            self._compare = _with_word(self._compare, offset - self._at, value)
        elif offset - self.TIME in (0, 4):
            self._ahead = _with_word(now + self._ahead, offset - self.TIME, value) - now


def _words(offset: int, value: int) -> dict[int, int]:
    return {offset: value & 0xFFFF_FFFF, offset + 4: value >> 32 & 0xFFFF_FFFF}


def _with_word(whole: int, offset: int, value: int) -> int:
    shift = 8 * offset
    return whole & ~(0xFFFF_FFFF << shift) | value << shift
