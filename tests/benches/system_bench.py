"""Write the bench of an engine: the engine, and a memory that answers without Python."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from atoll_sim.chip.generate import ANSWERS, AXI, AXIL

WIDTHS = {"bits": "8*DataBytes", "bytes": "DataBytes"}
# Signals that the memory has no use for.
IGNORED = ("awsize", "awburst", "wlast", "arsize", "arburst")
# The control port is answered in the next cycle, so nobody looks at its handshakes.
CONTROL = {
    **{"awaddr": "address_i", "awvalid": "write_i", "wvalid": "write_i", "bready": "1'b1"},
    **{"wdata": "wdata_i", "wstrb": "4'hf", "bresp": "bresp_o"},
    **{"araddr": "address_i", "arvalid": "read_i", "rready": "1'b1"},
    **{"rdata": "rdata_o", "rresp": "rresp_o"},
}


def system_bench(engine: str, parameters: Mapping[str, int]) -> Mapping[str, str]:
    """Return module ``<engine>_system_bench`` by its file name.

    Args:
        engine: module of the engine.
        parameters: of the engine, with defaults; `DataBytes` is one.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "rtl"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    text = environment.get_template("system_bench.sv.j2").render(
        engine=engine,
        parameters=parameters,
        axi=[(name, WIDTHS.get(str(width), str(width))) for name, width in AXI],
        axil=[(name, CONTROL.get(name, f"unused_{name}")) for name, _ in AXIL],
        answers=ANSWERS,
        ignored=IGNORED,
    )
    return {f"{engine}_system_bench.sv": text}
