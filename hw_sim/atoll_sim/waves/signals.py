# SPDX-License-Identifier: Apache-2.0
"""The signals that save files show, group by group: the chip's own, by device."""

from collections.abc import Iterator, Sequence
from enum import Enum

from atoll.records import dataclass
from atoll.resolve.soc import Device
from atoll_sim.chip.chip_parts import BuiltMemory, Chip, Master
from atoll_sim.chip.ports import CONTROL, DATA, Protocol, control_signals, data_signals
from atoll_sim.chip.ports import Signal as PortSignal

TOP = "atoll_chip"
NAME_BITS = 384
"""Of the text in atoll_operator_name.sv."""


class Shown(Enum):
    """How a viewer writes a value."""

    BIT = "bit"
    HEX = "hex"
    DECIMAL = "decimal"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of the waveform.

    Attributes:
        path: scopes and name, joined by dots.
        bits: width; None for a signal that is no vector.
        label: what a viewer may call it instead.
    """

    path: str
    bits: int | None = None
    shown: Shown = Shown.HEX
    label: str = ""

    @property
    def indexed(self) -> str:
        """The path with the index range of a vector, as GTKWave writes it."""
        return self.path if self.bits is None else f"{self.path}[{self.bits - 1}:0]"


@dataclass(frozen=True, slots=True)
class Group:
    """Signals under one title."""

    title: str
    signals: tuple[Signal, ...]


def signal_groups(chip: Chip) -> Iterator[Group]:
    """Yield what runs where, then each device, each memory, the firewalls and the console."""
    yield Group("operators", (_cycle(), *map(_operator, chip.soc.devices)))
    masters = {master.name: master for master in chip.masters}
    for device in chip.soc.devices:
        if device.name in masters:
            yield Group(f"device {device.name}", _device(chip, masters[device.name], device))
    for memory in chip.memories:
        yield Group(f"memory {memory.name}", tuple(_memory(memory)))
    yield Group("firewalls", tuple(_firewalls(chip)))
    yield Group("console", tuple(_console()))


def _cycle() -> Signal:
    return Signal(f"{TOP}.cycle_q", 64, Shown.DECIMAL, "cycle")


def _operator(device: Device) -> Signal:
    path = f"{TOP}.u_{device.name}_operator.name"
    return Signal(path, NAME_BITS, Shown.TEXT, f"{device.name} runs")


def _device(chip: Chip, master: Master, device: Device) -> tuple[Signal, ...]:
    return (_operator(device), *_bus(chip, master), *_inside(master))


def _bus(chip: Chip, master: Master) -> Iterator[Signal]:
    for name in ("valid", "ready", "we", "instr"):
        yield _bit(f"{master.signal}_{name}")
    yield _vector(f"{master.signal}_addr", 32)
    yield _vector(f"{master.signal}_wdata", 8 * chip.data_bytes)
    yield _vector(f"{master.signal}_be", chip.data_bytes)
    yield _bit(f"{master.signal}_rvalid")
    yield _vector(f"{master.signal}_rdata", 8 * chip.data_bytes)
    yield _vector(f"{master.signal}_resp", 2)


def _inside(master: Master) -> Iterator[Signal]:
    """Yield a core's own signals, or an engine's interrupt and the starts of its bursts."""
    if master.core:
        for path, bits in master.core.waves.items():
            yield Signal(f"{TOP}.u_{master.name}.{path}", bits)
    if master.npu and master.npu.irq is not None:
        yield _bit(f"{master.signal}_irq")
    if master.npu and not master.stand_in:
        for port in master.ports:
            name = f"{master.signal}_{port.name}_{DATA[port.protocol].infix}"
            yield from _port_signals(name, DATA[port.protocol], data_signals(port))
        control = CONTROL[master.npu.spec.ports.control]
        signals = control_signals(master.npu.spec.ports.control)
        yield from _port_signals(f"{master.signal}_{control.infix}", control, signals)


def _port_signals(name: str, protocol: Protocol, signals: Sequence[PortSignal]) -> Iterator[Signal]:
    """Yield what shows of a port whose signals begin with `name`."""
    for signal in signals:
        if signal.name in protocol.shown:
            made = f"{name}_{signal.name}"
            yield _bit(made) if signal.width == 1 else _vector(made, signal.width)


def _memory(memory: BuiltMemory) -> Iterator[Signal]:
    """Yield the handshakes of all its ports, one bit for each."""
    for name in ("valid", "ready", "rvalid"):
        yield _vector(f"{memory.signal}_{name}", len(memory.ports))


def _firewalls(chip: Chip) -> Iterator[Signal]:
    yield _vector("violated", len(chip.masters))
    yield _bit("guard_irq")
    for master in chip.masters:
        yield _bit(f"{master.signal}_blocked")


def _console() -> Iterator[Signal]:
    for name in ("uart", "exit", "trace", "result"):
        yield _bit(f"console_{name}")
    yield _vector("console_value", 32)
    yield _vector("request_i", 32)
    yield _vector("irq", 32)


def _bit(name: str) -> Signal:
    return Signal(f"{TOP}.{name}", None, Shown.BIT)


def _vector(name: str, bits: int) -> Signal:
    return Signal(f"{TOP}.{name}", bits)
