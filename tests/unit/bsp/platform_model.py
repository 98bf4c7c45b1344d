# SPDX-License-Identifier: Apache-2.0
"""The devices around the core: the test bench's console, and a reef that only counts."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.unit.bsp.machine import INTERRUPT, HaltError, Machine, Memory, Registers

from atoll.bsp.interface import Firmware
from atoll.resolve import mailbox
from atoll.resolve.soc import ResolvedSoc

PAINT = 0xA5
ID, PARAMS, WEIGHT_ROWS, CONTROL, STATUS, ERROR, FAULT, LIST, COUNT = range(0, 0x24, 4)
COMPLETED, IRQ_ENABLE, IRQ_STATUS = 0x24, 0x28, 0x2C
GUARD_STATUS, GUARD_RESTARTED = 0x800, 0x810


@dataclass
class Console:
    """Answers requests from a list; notes what the firmware says.

    Attributes:
        restarted: the watchdog restarted the chip.
        periods: what the firmware set it to.
    """

    requests: list[int]
    text: str = ""
    status: int | None = None
    trace: list[tuple[int, int, int]] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    restarted: bool = False
    periods: list[int] = field(default_factory=list)

    def read(self, offset: int) -> int:
        if offset == GUARD_STATUS:
            return 0
        if offset == GUARD_RESTARTED:
            return self.restarted
        assert offset == 0x0C
        return self.requests.pop(0)

    def write(self, offset: int, value: int) -> None:
        match offset:
            case 0x00:
                self.text += chr(value)
            case 0x04:
                self.status = value
                raise HaltError
            case 0x08:
                self.trace.append((value >> 24, value >> 16 & 0xFF, value & 0xFFFF))
            case 0x800 | 0x804:
                assert value == 0xFFFF_FFFF
            case 0x808:
                self.periods.append(value)
            case 0x80C | 0x810:
                assert value == 1
                self.restarted = self.restarted and offset != GUARD_RESTARTED
            case 0x10:
                self.results.append(value - (value >> 31 << 32))
            case _:
                raise AssertionError(f"console register {offset:#x}")


@dataclass
class Reef:
    """Completes one command every `pace` reads of the interrupt line; 0: never.

    Attributes:
        error: code to stop with, if not 0.
        waits: cycles from a start to its abort.
        mute: the interrupt gets lost.
    """

    pace: int = 5
    error: int = 0
    params: int = 8 | 8 << 8 | 8 << 16 | 2 << 24
    clock: int = 0
    began: int = 0
    waits: list[int] = field(default_factory=list)
    registers: dict[int, int] = field(default_factory=dict)
    log: list[tuple[int, int]] = field(default_factory=list)
    mute: bool = False

    def __post_init__(self) -> None:
        self.registers |= {
            ID: 0x4645_4552,
            PARAMS: self.params,
            WEIGHT_ROWS: 1 << 28 | 64 << 16 | 256,
            STATUS: 0,
        }
        self.registers |= {IRQ_STATUS: 0, IRQ_ENABLE: 0, COMPLETED: 0, COUNT: 0}

    def read(self, offset: int) -> int:
        return self.registers[offset]

    def write(self, offset: int, value: int) -> None:
        self.log.append((offset, value))
        if offset == IRQ_STATUS:
            self.registers[IRQ_STATUS] &= ~value
        elif offset == CONTROL and value == 1:
            self.registers |= {STATUS: 1, COMPLETED: 0, IRQ_STATUS: 0}
            self.began = self.clock
        elif offset == CONTROL and value == 2:
            self.waits.append(self.clock - self.began)
            self.error = 8
            self._end()
            self.error = 0
        else:
            self.registers[offset] = value

    def line(self) -> bool:
        """Let time go by; tell whether the interrupt line is high."""
        self.clock += 1
        busy = self.registers[STATUS] & 1
        if busy and self.pace and self.clock % self.pace == 0:
            self.registers[COMPLETED] += 1
            if self.error or self.registers[COMPLETED] == self.registers[COUNT]:
                self._end()
        raised = self.registers[IRQ_ENABLE] & self.registers[IRQ_STATUS]
        return bool(raised) and not self.mute

    def _end(self) -> None:
        self.registers |= {STATUS: 4 if self.error else 2, IRQ_STATUS: 1}
        self.registers |= {ERROR: self.error, FAULT: 0xDEAD_0000}


def power_on(
    soc: ResolvedSoc, firmware: Firmware, requests: Iterable[int], reefs: dict[int, Reef]
) -> tuple[Machine, Console]:
    """Load `firmware` into a machine with every memory of `soc`; `reefs` by interrupt line."""
    console = Console(list(requests))
    origins = {npu.irq: npu.registers.origin for npu in soc.npus}
    devices: dict[int, Registers] = {soc.console.origin: console}
    devices |= {origins[line]: reef for line, reef in reefs.items()}
    ram = {memory.origin: bytearray(memory.size) for memory in soc.memories}
    core = Machine(
        memory=Memory(ram, devices),
        lines=lambda: sum(1 << line for line, reef in reefs.items() if reef.line()),
    )
    core.pc = core.memory.load(firmware.elf)
    return core, console


@dataclass
class Mailbox:
    """The mailbox of a core: registers at the host, and `core`, the same as the core sees them.

    Attributes:
        asleep: the core's interrupt never comes.
        commands: what the host asked for.
    """

    identity: int = 0x6174_4D42
    asleep: bool = False
    busy: bool = False
    done: bool = False
    command: int = 0
    result: int = 0
    commands: list[int] = field(default_factory=list)

    @property
    def core(self) -> "CorePort":
        return CorePort(self)

    def read(self, offset: int) -> int:
        status = self.busy | self.done << 1
        return {0x00: self.identity, 0x04: self.command, 0x08: status, 0x0C: self.result}[offset]

    def write(self, offset: int, value: int) -> None:
        match offset:
            case 0x04 if not self.busy:
                self.busy, self.done, self.command = True, False, value
                self.commands.append(value)
            case 0x10:
                self.done = False
            case _:
                raise AssertionError(f"the host writes mailbox register {offset:#x}")


@dataclass
class CorePort:
    """What the core sees of its mailbox."""

    mailbox: Mailbox

    def read(self, offset: int) -> int:
        return self.mailbox.read(offset)

    def write(self, offset: int, value: int) -> None:
        assert offset == 0x0C, f"the core writes mailbox register {offset:#x}"
        assert self.mailbox.busy, "the core answers what nobody asked"
        self.mailbox.busy, self.mailbox.done, self.mailbox.result = False, True, value


def add_core(soc: ResolvedSoc, firmware: Firmware, host: Machine, box: Mailbox) -> Machine:
    """Load the image of the chip's only other core, which shares the host's memories."""
    (cpu,) = soc.remote_cpus
    assert cpu.mailbox is not None
    host.memory.devices = {**host.memory.devices, cpu.mailbox.origin: box}
    others = host.lines
    host.lines = lambda: others() | box.done << (cpu.irq or 0)
    core = Machine(
        memory=Memory(host.memory.ram, {cpu.mailbox.origin: box.core}),
        lines=lambda: (box.busy and not box.asleep) << mailbox.LINE,
        handler=cpu.code.origin + INTERRUPT,
    )
    core.pc = core.memory.load(firmware.elves[1])
    assert core.pc == cpu.code.origin
    return core


def run_both(host: Machine, core: Machine, most: int = 10_000_000) -> None:
    """Run until the host's program ends, an instruction of each in turn."""
    try:
        for _ in range(most):
            host.step()
            core.step()
    except HaltError:
        return
    raise AssertionError(f"still running at {host.pc:#x} and {core.pc:#x}")


def watermark(soc: ResolvedSoc, core: Machine, name: str = "") -> int:
    """Return the bytes of a core's painted stack that were written; the host's if unnamed."""
    stack = next(cpu for cpu in soc.cpus if cpu.name == (name or soc.host)).stack
    data = bytes(core.memory.read(address, 1) for address in range(stack.origin, stack.end))
    return len(data.lstrip(bytes([PAINT])))
