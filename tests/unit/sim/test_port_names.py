# SPDX-License-Identifier: Apache-2.0
"""Ports of a protocol are named by a pattern, and signals that no chip uses are tied."""

from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.resolve.soc import AcceleratorSpec
from atoll_sim.chip.checks import port_faults
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.ports import engine_wiring, identifiers_of, port_names, side_ports

ENGINE = """
accelerator: far
version: 1
ports: {control: apb, data: {gm: {protocol: axi4, bytes: 4}}}
operators: {ADD: {cost: 100}}
registers: {size: 4 KiB, map: {CONTROL: 0}}
program: {run: [{write: CONTROL, value: 1}]}
rtl:
  module: Far
  sources: [./far.v]
  parameters: {}
  ports: {PORTS}
  ties: {TIES}
"""
PORTS = "clk_i: ACLK, s_apb_*: '{SIGNAL}', s_apb_pstrb_i: null, gm_axi_*: 'm_axi_gm_{SIGNAL}_{io}'"
MODULE = """
module Other (input PPROT);  // module Far (input m_axi_gm_AWUSER_o);
endmodule
module Far #(parameter W = 1) (
  input ACLK,
  input [2:0] PPROT, /* m_axi_gm_ARQOS_o, */
`ifdef NEVER
  output m_axi_gm_AWQOS_o,
`else
  output [3:0] m_axi_gm_AWCACHE_o,
`endif
  output [W-1:0] m_axi_gm_ARID_o,
  input [W-1:0] m_axi_gm_RID_i
);
  wire m_axi_gm_AWPROT_o;
endmodule
"""


def far(folder: Path, ports: str = PORTS, ties: str = "") -> AcceleratorSpec:
    (folder / "far.v").write_text(MODULE)
    text = ENGINE.replace("{PORTS}", f"{{{ports}}}").replace("{TIES}", f"{{{ties}}}")
    (folder / "far.yaml").write_text(text)
    (folder / "chip.yaml").write_text(
        "extends: lagoon\nsoc: own\ndevices: {npu: {accelerator: ./far.yaml, params: null}}\n"
    )
    (engine,) = load_soc(folder / "chip.yaml").engines
    return engine.spec


def test_a_pattern_names_the_ports_of_a_protocol(tmp_path: Path) -> None:
    names = port_names(far(tmp_path))
    assert names["s_apb_psel_i"] == "PSEL"
    assert names["s_apb_prdata_o"] == "PRDATA"
    assert names["s_apb_pstrb_i"] is None, "a single name is stronger"
    assert names["gm_axi_araddr_o"] == "m_axi_gm_ARADDR_o"
    assert names["gm_axi_arready_i"] == "m_axi_gm_ARREADY_i"
    assert "rst_ni" not in names


def test_signals_that_no_chip_uses_are_tied(tmp_path: Path) -> None:
    spec = far(tmp_path)
    assert side_ports(spec) == {
        "PPROT": "0",
        "m_axi_gm_AWCACHE_o": "open",
        "m_axi_gm_ARID_o": "wire gm_axi_arid",
        "m_axi_gm_RID_i": "wire gm_axi_rid",
    }
    chip = plan_chip(load_soc(tmp_path / "chip.yaml"))
    master = next(each for each in chip.masters if each.npu)
    (port,) = master.ports
    assert identifiers_of(spec, port) == {"arid", "rid"}
    connections = engine_wiring(master).connections
    assert f".m_axi_gm_RID_i({master.signal}_gm_axi_rid)" in connections
    assert ".m_axi_gm_AWCACHE_o()" in connections
    tied = far(tmp_path, ties="m_axi_gm_RID_i: 1, m_axi_gm_ARID_o: open")
    assert identifiers_of(tied, port) == frozenset(), "what the description ties stays so"


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ("m_axi_*: 'M_{SIGNAL}'", "has no ports 'm_axi_*' to name"),
        ("gm_axi_*: m_axi", "'gm_axi_*' stands for many ports"),
        ("s_apb_*: '!{SIGNAL}'", "'s_apb_*' stands for many ports"),
        ("s_apb_psel_i: '{SIGNAL}'", "'s_apb_psel_i' is one port"),
        ("gm_axi_*: null", "'gm_axi_*' stands for many ports"),
    ],
)
def test_patterns_that_name_nothing(ports: str, said: str, tmp_path: Path) -> None:
    (fault,) = port_faults(far(tmp_path, ports), "accelerator", None)
    assert fault.code == "E147"
    assert said in fault.message
    assert fault.at
    assert fault.at.path == tmp_path / "far.yaml"
    assert fault.remedy
