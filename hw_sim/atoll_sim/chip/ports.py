# SPDX-License-Identifier: Apache-2.0
"""The ports of accelerators, signal by signal, and the adapters that join them to the bus."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from atoll.isa.function_unit import OPCODES, FunctionUnit
from atoll.records import dataclass
from atoll.resolve.soc import AcceleratorSpec
from atoll_sim.chip.chip_parts import DataPort, Master
from atoll_sim.chip.sources import Rtl, header_words

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

ANY = "*"
"""How the name of many ports ends, those of one protocol."""

_USERS = tuple(
    (f"{channel}user", channel not in "br", 0) for channel in ("aw", "w", "b", "ar", "r")
)
SIDE_SIGNALS: Mapping[str, tuple[tuple[str, bool, int], ...]] = MappingProxyType(
    {
        "axi": (
            *(
                (f"{way}{name}", True, 0)
                for way in ("aw", "ar")
                for name in ("id", "lock", "cache", "prot", "qos", "region")
            ),
            *(("bid", False, 0), ("rid", False, 0)),
            *_USERS,
        ),
        "axil": (("awprot", True, 0), ("arprot", True, 0)),
        "apb": (("pprot", True, 0),),
        "obi": (("aid", True, 0), ("rid", False, 0), ("rready", True, 1)),
        "wb": (("cti", True, 0), ("bte", True, 0), ("lock", True, 0), ("rty", False, 0)),
    }
)
"""By protocol, what a module may have besides `Protocol.signals`: name, whether the requester
drives it, and what an input is tied to."""

IDENTIFIERS = ("awid", "bid", "arid", "rid")
IDENTIFIER_BITS = 16
"""Of those that the chip keeps; a module may have fewer."""

WIRE = "wire "
"""What a side signal is tied to that is one of the chip."""

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


@dataclass(frozen=True, slots=True)
class Wiring:
    """How a module is joined to the chip, in SystemVerilog.

    Attributes:
        connections: of its ports.
        assigns: what drives signals of the chip whose ports the module lacks, and adapters.
    """

    connections: tuple[str, ...]
    assigns: tuple[str, ...]


def engine_wiring(master: Master) -> Wiring:
    """Return how an accelerator is joined to the signals of the chip."""
    engine, signal, far = master.npu, master.signal, master.port
    assert engine
    wires = {"clk_i": f"{master.clock}_i" if master.clock else "clk_i", "rst_ni": master.reset}
    stand_ins: dict[str, str] = {}
    for port in master.ports:
        protocol = DATA[port.protocol]
        full = {"size": f"3'd{port.bytes.bit_length() - 1}", "burst": "2'd1"}
        for each in data_signals(port):
            middle = f"{port.name}_{protocol.infix}_{each.name}"
            name = f"{middle}_{'o' if each.asks else 'i'}"
            wires[name] = f"{signal}_{middle}"
            stand_ins[name] = full.get(each.name[2:], LACKING.get(each.name, ""))
    control = CONTROL[engine.spec.ports.control]
    for each in control_signals(engine.spec.ports.control):
        name = f"s_{control.infix}_{each.name}_{'i' if each.asks else 'o'}"
        wires[name] = f"{signal}_{control.infix}_{each.name}"
        stand_ins[name] = LACKING.get(each.name, "")
    if engine.spec.ports.interrupt != "none":
        wires["irq_o"] = f"{signal}_edge" if engine.spec.ports.interrupt == "edge" else f"{far}_irq"
    sides = side_ports(engine.spec)
    ties = {name: tie.replace(WIRE, f"{signal}_") for name, tie in sides.items()}
    ties |= engine.spec.rtl_ties
    return _wire(wires, port_names(engine.spec), ties, stand_ins)


def unit_wiring(unit: FunctionUnit, clock: str, reset: str, prefix: str) -> Wiring:
    """Return how a function unit is joined to signals that begin with `prefix`."""
    wires = {name: f"{prefix}_{name.rpartition('_')[0]}" for name in UNIT_PORTS}
    wires |= {"clk_i": clock, "rst_ni": reset}
    if unit.rtl_interface:
        return _interface_wiring(unit, wires, f"{prefix}_xif")
    at_once = unit.rtl_ports.get("rvalid_o", "") is None
    ready = wires["rready_i"] if at_once else "1'b1"
    return _wire(
        wires, unit.rtl_ports, unit.rtl_ties, {"rvalid_o": wires["valid_i"], "ready_o": ready}
    )


def _interface_wiring(unit: FunctionUnit, wires: Mapping[str, str], xif: str) -> Wiring:
    """Return how a unit is joined to an instance of ``if_xif``, and that to the signals."""
    own = {name: wires[name] for name in ("clk_i", "rst_ni")}
    header, names = header_words(unit), dict(unit.rtl_ports)
    for channel in CHANNELS:
        usual = (f"xif_{channel}_if", f"xif_{channel}", f"{channel}_if", channel)
        if (
            name := names.get(channel) or next((n for n in usual if n in header), None)
        ) is not None:
            own[channel], names[channel] = xif, name
    wiring = _wire(own, names, unit.rtl_ties, {})
    ports = [f".{name}({signal})" for name, signal in wires.items()]
    ports += [f".{channel}({xif})" for channel in CHANNELS]
    made = (
        f"if_xif #(.X_NUM_RS(2), .X_ID_WIDTH(4)) {xif} ();",
        f"atoll_unit_to_xif {xif}_offer ({', '.join(ports)});",
    )
    return Wiring(wiring.connections, (*made, *wiring.assigns))


def _wire(
    wires: Mapping[str, str],
    names: Mapping[str, str | None],
    ties: Mapping[str, str],
    stand_ins: Mapping[str, str],
) -> Wiring:
    connections: list[str] = []
    assigns: list[str] = []
    for port, signal in wires.items():
        if (name := names.get(port, port)) is not None:
            inverted = "~" if name.startswith("!") else ""
            connections.append(f".{name.removeprefix('!')}({inverted}{signal})")
        elif port.endswith("_o"):
            assigns.append(f"assign {signal} = {stand_ins[port]};")
    connections += [f".{name}({'' if tied == 'open' else tied})" for name, tied in ties.items()]
    return Wiring(tuple(connections), tuple(assigns))


LACKING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("err", "pslverr"), "1'b0"),
        **dict.fromkeys(("bresp", "rresp"), "2'd0"),
        **dict.fromkeys(("wstrb", "be", "sel"), "'1"),
        **dict.fromkeys(("pready", "bready", "rready"), "1'b1"),
    }
)
"""What stands for an output that a module lacks: no error, all bytes, always ready."""

UNIT_PORTS: Mapping[str, bool] = MappingProxyType(
    {
        **dict.fromkeys(("clk_i", "rst_ni", "valid_i"), True),
        "ready_o": False,
        **dict.fromkeys(("function_i", "a_i", "b_i"), True),
        "rvalid_o": False,
        "rready_i": True,
        "result_o": False,
    }
)
"""The ports of docs/function-units.md, and whether each is an input."""


CHANNELS = ("compressed", "issue", "commit", "mem", "mem_result", "result")
INTERFACE_PORTS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("clk_i", "rst_ni", *CHANNELS), True)
)
"""Those of a unit with modports of ``if_xif``."""


def may_lack(port: str, known: Mapping[str, bool]) -> bool:
    """Tell whether a module can do without a port: an input, or an output with a stand-in."""
    if known in (UNIT_PORTS, INTERFACE_PORTS):
        return port not in ("result_o", "issue", "result")
    signal = port.rpartition("_")[0].rpartition("_")[2]
    stands_in = signal in LACKING or signal[2:] in ("size", "burst")
    return stands_in or (known[port] and port != "clk_i")


def address_ports(spec: Rtl) -> Mapping[str, int]:
    """Return the module's ports that may have other widths than the chip, and the bits they need.

    Addresses of memory may have more, which are left out: generated engines have 64.
    """
    if isinstance(spec, FunctionUnit):
        needed = 10 if all(each.opcode == OPCODES["custom-0"] for each in spec.instructions) else 12
        return {spec.rtl_ports.get("function_i") or "function_i": needed}
    if not isinstance(spec, AcceleratorSpec):
        return {}
    control = CONTROL[spec.ports.control]
    bits = (max(spec.registers.values(), default=0) + REGISTER_BYTES - 1).bit_length()
    found = {
        port_names(spec).get(name) or name: ADDRESS_BITS
        for port in spec.ports.data
        for signal, width, _ in DATA[port.protocol].signals
        if width == ADDRESS and (name := f"{port.name}_{DATA[port.protocol].infix}_{signal}_o")
    }
    found |= {name: 1 for name, tied in side_ports(spec).items() if tied.startswith(WIRE)}
    for name, width, asks in control.signals:
        if width == ADDRESS:
            port = f"s_{control.infix}_{name}_{'i' if asks else 'o'}"
            found[(port_names(spec).get(port) or port).removeprefix("!")] = bits
    return found


def port_names(spec: AcceleratorSpec) -> Mapping[str, str | None]:
    """Return what the module calls each port that its description names, alone or by a pattern."""
    known = ports_of(spec)
    patterns = ((port, name) for port, name in spec.rtl_ports.items() if port.endswith(ANY))
    found: dict[str, str | None] = {
        port: fill_pattern(name or "", port.removeprefix(pattern[: -len(ANY)]))
        for pattern, name in patterns
        for port in known
        if port.startswith(pattern[: -len(ANY)])
    }
    return found | {port: name for port, name in spec.rtl_ports.items() if not port.endswith(ANY)}


def fill_pattern(pattern: str, port: str) -> str:
    """Return a name by a pattern such as ``M_AXI_{SIGNAL}``, of ``awaddr_o``."""
    signal, _, way = port.rpartition("_")
    for word in (signal, signal.upper()):
        pattern = pattern.replace("{SIGNAL}" if word.isupper() else "{signal}", word)
    return pattern.replace("{io}", way)


def port_groups(spec: AcceleratorSpec) -> Mapping[str, tuple[str, bool]]:
    """Return what the ports of each protocol begin with, its infix, and whether they answer."""
    control = CONTROL[spec.ports.control].infix
    asking = ((port.name, DATA[port.protocol].infix) for port in spec.ports.data)
    return {
        **{f"{name}_{infix}_": (infix, False) for name, infix in asking},
        f"s_{control}_": (control, True),
    }


def side_ports(spec: AcceleratorSpec) -> Mapping[str, str]:
    """Return what ports of the module are joined to that no other chip has, where it has them.

    They are identifiers of AXI, which are kept, and such as protection, which nobody reads.
    """
    header = header_words(spec)
    found: dict[str, str] = {}
    for prefix, (infix, answers) in port_groups(spec).items():
        pattern = spec.rtl_ports.get(f"{prefix}{ANY}") or f"{prefix}{{signal}}_{{io}}"
        for signal, asks, value in SIDE_SIGNALS.get(infix, ()):
            enters = asks == answers
            if (name := fill_pattern(pattern, f"{signal}_{'i' if enters else 'o'}")) in header:
                tied = str(value) if enters else "open"
                found[name] = f"{WIRE}{prefix}{signal}" if signal in IDENTIFIERS else tied
    return found


def identifiers_of(spec: AcceleratorSpec, port: DataPort) -> frozenset[str]:
    """Return which `IDENTIFIERS` a module has at a port to memory."""
    wires = {tied for name, tied in side_ports(spec).items() if name not in spec.rtl_ties}
    return frozenset(each for each in IDENTIFIERS if f"{WIRE}{port.name}_axi_{each}" in wires)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A way in which an accelerator asks at a port to memory, in expressions of SystemVerilog.

    Attributes:
        asks: a request is there.
        taken: it is accepted.
        answered: one that was accepted before is answered, and the answer accepted.
        payload: what must not change until it is accepted.
    """

    asks: str
    taken: str
    answered: str
    payload: str


def watched_channels(master: Master) -> tuple[Channel, ...]:
    """Return the channels of all ports of an accelerator to memory."""
    return tuple(
        channel
        for port in master.ports
        for channel in _channels(port, f"{master.signal}_{port.name}_{DATA[port.protocol].infix}_")
    )


def _channels(port: DataPort, p: str) -> Iterator[Channel]:
    match port.protocol:
        case "obi":
            yield Channel(
                asks=f"{p}req",
                taken=f"{p}req && {p}gnt",
                answered=f"{p}rvalid",
                payload=f"{{{p}addr, {p}we, {p}be, {p}we ? {p}wdata : '0}}",
            )
        case "wishbone":
            ends = f"{p}cyc && {p}stb && ({p}ack || {p}err)"
            yield Channel(
                asks=f"{p}cyc && {p}stb",
                taken=ends,
                answered=ends,
                payload=f"{{{p}adr, {p}we, {p}sel, {p}we ? {p}dat_w : '0}}",
            )
        case _:
            last = f" && {p}rlast" if port.protocol == "axi4" else ""
            for way, answered in (
                ("ar", f"{p}rvalid && {p}rready{last}"),
                ("aw", f"{p}bvalid && {p}bready"),
            ):
                bursts = f", {p}{way}len, {p}{way}size, {p}{way}burst" if last else ""
                yield Channel(
                    asks=f"{p}{way}valid",
                    taken=f"{p}{way}valid && {p}{way}ready",
                    answered=answered,
                    payload=f"{{{p}{way}addr{bursts}}}",
                )
            taken = f"{p}wvalid && {p}wready"
            yield Channel(
                asks=f"{p}wvalid", taken=taken, answered=taken, payload=f"{{{p}wdata, {p}wstrb}}"
            )


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
