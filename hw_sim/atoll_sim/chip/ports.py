# SPDX-License-Identifier: Apache-2.0
"""The ports of accelerators, signal by signal, and the adapters that join them to the bus."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.records import dataclass
from atoll.resolve.soc import AcceleratorSpec, Engine
from atoll_sim.chip.chip_parts import DataPort

BITS, LANES, ADDRESS = "bits", "lanes", "address"
"""Widths that depend on the port: of its data, its bytes, and of addresses."""

_AXIL: tuple[tuple[str, int | str, bool], ...] = (
    *(("awaddr", ADDRESS, True), ("awvalid", 1, True), ("awready", 1, False)),
    *(("wdata", BITS, True), ("wstrb", LANES, True), ("wvalid", 1, True), ("wready", 1, False)),
    *(("bresp", 2, False), ("bvalid", 1, False), ("bready", 1, True)),
    *(("araddr", ADDRESS, True), ("arvalid", 1, True), ("arready", 1, False)),
    *(("rdata", BITS, False), ("rresp", 2, False), ("rvalid", 1, False), ("rready", 1, True)),
)
_OBI: tuple[tuple[str, int | str, bool], ...] = (
    *(("req", 1, True), ("gnt", 1, False), ("addr", ADDRESS, True), ("we", 1, True)),
    *(("be", LANES, True), ("wdata", BITS, True)),
    *(("rvalid", 1, False), ("rdata", BITS, False), ("err", 1, False)),
)
_WISHBONE: tuple[tuple[str, int | str, bool], ...] = (
    *(("cyc", 1, True), ("stb", 1, True), ("we", 1, True), ("adr", ADDRESS, True)),
    *(("sel", LANES, True), ("dat_w", BITS, True)),
    *(("dat_r", BITS, False), ("ack", 1, False), ("err", 1, False)),
)
_AXI: tuple[tuple[str, int | str, bool], ...] = (
    *(("araddr", ADDRESS, True), ("arlen", 8, True), ("arsize", 3, True), ("arburst", 2, True)),
    *(("arvalid", 1, True), ("arready", 1, False)),
    *(("rdata", BITS, False), ("rresp", 2, False), ("rlast", 1, False), ("rvalid", 1, False)),
    *(("rready", 1, True), ("awaddr", ADDRESS, True), ("awlen", 8, True), ("awsize", 3, True)),
    *(("awburst", 2, True), ("awvalid", 1, True), ("awready", 1, False), ("wdata", BITS, True)),
    *(("wstrb", LANES, True), ("wlast", 1, True), ("wvalid", 1, True), ("wready", 1, False)),
    *(("bresp", 2, False), ("bvalid", 1, False), ("bready", 1, True)),
)
_APB: tuple[tuple[str, int | str, bool], ...] = (
    *(("psel", 1, True), ("penable", 1, True), ("paddr", ADDRESS, True), ("pwrite", 1, True)),
    *(("pwdata", BITS, True), ("pstrb", LANES, True)),
    *(("pready", 1, False), ("prdata", BITS, False), ("pslverr", 1, False)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One protocol as accelerators speak it.

    Attributes:
        infix: what the names of its signals have in the middle: ``m_axi_araddr_o``.
        signals: name, width, and whether the requester drives it.
        adapter: module between the port and the bus.
        shown: signals that waveforms show.
        width: the adapter's parameter for the bytes of a data port.
    """

    infix: str
    signals: tuple[tuple[str, int | str, bool], ...]
    adapter: str
    shown: tuple[str, ...]
    width: str = "PortBytes"


_SHOWN = {
    "axil": ("awvalid", "awaddr", "wdata"),
    "apb": ("psel", "penable", "paddr", "pwrite", "pwdata"),
    "obi": ("req", "we", "addr"),
    "wb": ("cyc", "stb", "we", "adr"),
}

CONTROL: Mapping[str, Protocol] = MappingProxyType(
    {
        name: Protocol(infix=infix, signals=signals, adapter=adapter, shown=_SHOWN[infix])
        for name, infix, signals, adapter in (
            ("axi4_lite", "axil", _AXIL, "atoll_bus_to_axil"),
            ("apb", "apb", _APB, "atoll_bus_to_apb"),
            ("obi", "obi", _OBI, "atoll_bus_to_obi"),
            ("wishbone", "wb", _WISHBONE, "atoll_bus_to_wishbone"),
        )
    }
)
"""Protocols of registers, at which the accelerator answers."""

DATA: Mapping[str, Protocol] = MappingProxyType(
    {
        "axi4": Protocol(
            infix="axi",
            signals=_AXI,
            adapter="atoll_axi_to_bus",
            shown=("arvalid", "araddr", "arlen", "awvalid", "awaddr", "awlen"),
            width="AxiBytes",
        ),
        "axi4_lite": Protocol(
            infix="axil",
            signals=_AXIL,
            adapter="atoll_axil_to_bus",
            shown=("arvalid", "araddr", "awvalid", "awaddr"),
        ),
        "obi": Protocol(infix="obi", signals=_OBI, adapter="atoll_obi_to_bus", shown=_SHOWN["obi"]),
        "wishbone": Protocol(
            infix="wb", signals=_WISHBONE, adapter="atoll_wishbone_to_bus", shown=_SHOWN["wb"]
        ),
    }
)
"""Protocols of ports to memory, at which the accelerator asks."""

REGISTER_BYTES, CONTROL_BITS, ADDRESS_BITS = 4, 12, 32


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of a port.

    Attributes:
        name: in the protocol.
        width: bits.
        asks: the requester drives it.
    """

    name: str
    width: int
    asks: bool


def control_signals(protocol: str) -> tuple[Signal, ...]:
    """Return the signals of a control port."""
    widths = {BITS: 8 * REGISTER_BYTES, LANES: REGISTER_BYTES, ADDRESS: CONTROL_BITS}
    return _signals(CONTROL[protocol], widths)


def data_signals(port: DataPort) -> tuple[Signal, ...]:
    """Return the signals of a port to memory."""
    widths = {BITS: 8 * port.bytes, LANES: port.bytes, ADDRESS: ADDRESS_BITS}
    return _signals(DATA[port.protocol], widths)


def connect(engine: Engine, port: str, signal: str) -> str:
    """Return the connection of a port of docs/accelerators.md with a signal of the chip."""
    name = engine.spec.rtl_ports.get(port, port)
    return f".{name.removeprefix('!')}({'~' if name.startswith('!') else ''}{signal})"


def ports_of(spec: AcceleratorSpec) -> dict[str, bool]:
    """Return the ports of docs/accelerators.md that a module has, and whether each is an input."""
    known = {"clk_i": True, "rst_ni": True}
    for port in spec.ports.data:
        for name, _, asks in DATA[port.protocol].signals:
            way = "o" if asks else "i"
            known[f"{port.name}_{DATA[port.protocol].infix}_{name}_{way}"] = not asks
    control = CONTROL[spec.ports.control]
    for name, _, asks in control.signals:
        known[f"s_{control.infix}_{name}_{'i' if asks else 'o'}"] = asks
    return known | ({"irq_o": False} if spec.ports.interrupt != "none" else {})


def _signals(protocol: Protocol, widths: Mapping[str, int]) -> tuple[Signal, ...]:
    return tuple(
        Signal(name, widths[width] if isinstance(width, str) else width, asks)
        for name, width, asks in protocol.signals
    )
