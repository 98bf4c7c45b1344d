# SPDX-License-Identifier: Apache-2.0
"""Signals of the data ports of `atoll_data_bench`: who is silent, and who asks without end."""

from collections.abc import Iterator
from typing import Any

from tests.benches.bus import parameter

PORTS = ("axi", "axil", "obi", "wb", "wbp")
REGION = 4096
SILENT = {
    "axi": ("awvalid", "wvalid", "arvalid", "awid", "arid"),
    "axil": ("awvalid", "wvalid", "arvalid"),
    "obi": ("req",),
    "wb": ("cyc", "stb"),
    "wbp": ("cyc", "stb"),
}
READY = {"axi": ("bready", "rready"), "axil": ("bready", "rready"), "obi": ("rready",)}
ANSWER = {
    "axi": ("axi_rvalid", "axi_bvalid"),
    "axil": ("axil_rvalid", "axil_bvalid"),
    "obi": ("obi_rvalid",),
    "wb": ("wb_ack", "wb_err"),
    "wbp": ("wbp_ack", "wbp_err"),
}


def silence(dut: Any) -> None:
    """Let no master ask for anything, and each take what it is told."""
    for port in PORTS:
        for name in SILENT[port]:
            getattr(dut, f"s_{port}_{name}").value = 0
        for name in READY.get(port, ()):
            getattr(dut, f"s_{port}_{name}").value = 1


def region(name: str) -> int:
    """Return where the port `name` works."""
    return 0x2000_0000 + REGION * PORTS.index(name)


def wishes(name: str, *, reads: bool = True, writes: bool = True) -> Iterator[tuple[str, int]]:
    """Yield signals that make a port ask for beat after beat; AXI for both kinds at once."""
    whole = (1 << parameter("PortBytes")) - 1
    if name in ("axi", "axil"):
        address = {f"{name}_{signal}": region(name) for signal in ("awaddr", "araddr")}
        yield from (address | {f"{name}_wstrb": whole, f"{name}_wdata": 0}).items()
        valid = {"awvalid": writes, "wvalid": writes, "arvalid": reads}
        yield from ((f"{name}_{signal}", int(value)) for signal, value in valid.items())
    elif name == "obi":
        yield from (("obi_req", 1), ("obi_addr", region(name)), ("obi_we", int(not reads)))
        yield from (("obi_be", whole), ("obi_wdata", 0))
    else:
        yield from ((f"{name}_cyc", 1), (f"{name}_stb", 1), (f"{name}_adr", region(name)))
        yield from ((f"{name}_we", int(not reads)), (f"{name}_sel", whole), (f"{name}_dat_w", 0))
    if name == "axi":
        for channel in ("aw", "ar"):
            single = {"len": 0, "size": 0, "burst": 1}
            yield from ((f"axi_{channel}{signal}", value) for signal, value in single.items())
        yield "axi_wlast", 1
