# SPDX-License-Identifier: Apache-2.0
"""Write benches in SystemVerilog: of an engine, and of the adapters of all data ports."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from atoll_sim.chip.ports import ADDRESS, BITS, DATA, LANES, control_signals

WIDTHS = {BITS: "8*DataBytes", LANES: "DataBytes", ADDRESS: "32"}
AXI = DATA["axi4"].signals
AXIL = control_signals("axi4_lite")
# Signals that the memory has no use for.
IGNORED = ("awsize", "awburst", "wlast", "arsize", "arburst")
# The control port is answered in the next cycle, so nobody looks at its handshakes.
CONTROL = {
    **{"awaddr": "address_i", "awvalid": "write_i", "wvalid": "write_i", "bready": "1'b1"},
    **{"wdata": "wdata_i", "wstrb": "4'hf", "bresp": "bresp_o"},
    **{"araddr": "address_i", "arvalid": "read_i", "rready": "1'b1"},
    **{"rdata": "rdata_o", "rresp": "rresp_o"},
}


def engine_bench(kind: str, engine: str, parameters: Mapping[str, int]) -> Mapping[str, str]:
    """Return module ``<engine>_<kind>`` by its file name.

    Args:
        kind: ``system_bench`` or ``ports_bench``.
        engine: module of the engine.
        parameters: of the engine, with defaults; `DataBytes` is one.
    """
    text = _render(
        kind,
        engine=engine,
        parameters=parameters,
        axi=[(name, WIDTHS.get(str(width), str(width))) for name, width, _ in AXI],
        axil=[(each.name, CONTROL.get(each.name, f"unused_{each.name}")) for each in AXIL],
        answers={name for name, _, asks in AXI if not asks},
        ignored=IGNORED,
    )
    return {f"{engine}_{kind}.sv": text}


def data_bench() -> Mapping[str, str]:
    """Return module ``atoll_data_bench`` by its file name: each adapter of a data port, joined."""
    kinds = [(DATA[name], DATA[name].infix) for name in ("axi4", "axi4_lite", "obi", "wishbone")]
    ports = [
        {
            "name": name,
            "infix": protocol.infix,
            "adapter": protocol.adapter,
            "width": protocol.width,
            "signals": [
                (signal, WIDTHS.get(str(width), str(width)).replace("Data", "Port"), asks)
                for signal, width, asks in protocol.signals
            ],
        }
        for protocol, name in (*kinds, (DATA["wishbone"], "wbp"))
    ]
    return {"atoll_data_bench.sv": _render("data_bench", ports=ports)}


def _render(kind: str, **values: object) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "rtl"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(f"{kind}.sv.j2").render(values)
