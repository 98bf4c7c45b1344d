# SPDX-License-Identifier: Apache-2.0
"""The conformance kit on what is no accelerator: DMA engines, and function units alone."""

from pathlib import Path

import pytest

import atoll

ENGINE = """
accelerator: mover
version: 1
operators:
  COPY: {LIMITS}
parameters:
  data_bytes: {default: 8, choices: [8]}
  turns: {default: 1, choices: [1]}
registers:
  size: 4 KiB
  map: {ID: 0x00, PARAMS: 0x04, CONTROL: 0x0C, STATUS: 0x10, ERROR: 0x14, FAULT_ADDRESS: 0x18,
    LIST_ADDRESS: 0x1C, LIST_COUNT: 0x20, COMPLETED: 0x24, IRQ_ENABLE: 0x28, IRQ_STATUS: 0x2C}
emitter: atoll_sim.engines.ripple.emitter:RippleEmitter
model: ./mover.py:Mover
"""
MODEL = """
from atoll_sim.engines.ripple.model import RippleModel


class Mover(RippleModel):
    def run(self, bus, list_address, count):
        return super().run(Watched(bus), list_address, count)


class Watched:
    def __init__(self, bus):
        self.bus = bus

    def read(self, address, size):
        return self.bus.read(address, size)

    def write(self, address, data):
        FAULT
        self.bus.write(address, data)
"""
FAULTS = {
    "a byte too many": ("if len(data) % 8 == 1: data += bytes(1)", "outside the result is 0x00"),
    "low bits of the address": ("address &= ~3", "outside the result"),
    "the last byte of a page": (
        "if address % 4096 and (address + len(data)) % 4096 == 0: data = data[:-1]",
        "of the result",
    ),
}


def engine(folder: Path, fault: str, limits: str = "") -> Path:
    (folder / "mover.py").write_text(MODEL.replace("FAULT", fault))
    path = folder / "mover.yaml"
    path.write_text(ENGINE.replace("LIMITS", limits))
    return path


def test_a_dma_engine_is_tried(tmp_path: Path) -> None:
    limits = "limits: {bytes: {max: 5000}}"
    found = atoll.check_accelerator(engine(tmp_path, "pass", limits), operators=3)
    assert found.passed, found.text()
    names = [each.name for each in found.trials]
    assert names[:2] == ["copies aligned, by the model", "copies anywhere, by the model"]
    assert found.trials[0].tried == 29, "those beyond the limit are not the engine's"
    assert found.coverage[0].feature == "bytes"
    assert found.coverage[0].most <= 5000


@pytest.mark.parametrize("name", FAULTS)
def test_a_dma_engine_that_is_wrong_is_found(name: str, tmp_path: Path) -> None:
    fault, said = FAULTS[name]
    found = atoll.check_accelerator(engine(tmp_path, fault), operators=2)
    assert not found.passed
    assert said in found.text()


UNIT = """
function_unit: two
version: 1
instructions:
  total: {funct3: 0}
  swap: {funct3: 1}
model: ./two.py:Two
rtl: {module: Cfu, sources: [./cfu.v], names: cfu_playground, language: verilog-2001}
"""
UNIT_MODEL = """
class Two:
    def total(self, a, b):
        return a + b & 0xFFFF_FFFF

    def swap(self, a, b):
        return (a << 16 | a >> 16) & 0xFFFF_FFFF
"""
CFU = """
module Cfu (
  input cmd_valid,
  output cmd_ready,
  input [9:0] cmd_payload_function_id,
  input [31:0] cmd_payload_inputs_0,
  input [31:0] cmd_payload_inputs_1,
  output rsp_valid,
  input rsp_ready,
  output [31:0] rsp_payload_outputs_0,
  input clk,
  input reset
);
  reg do;
  reg [31:0] bit;
  wire take = cmd_valid && cmd_ready;
  assign cmd_ready = !do || rsp_ready;
  assign rsp_valid = do;
  assign rsp_payload_outputs_0 = bit;
  always @(posedge clk) begin
    if (reset) do <= 1'b0;
    else if (cmd_ready) do <= cmd_valid;
    if (take)
      bit <= cmd_payload_function_id[0]
        ? {cmd_payload_inputs_0[15:0], cmd_payload_inputs_0[31:16]}
        : cmd_payload_inputs_0 + cmd_payload_inputs_1;
  end
endmodule
"""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """Return the description of a unit with the names of CFU-Playground, in Verilog of 2001."""
    (tmp_path / "two.py").write_text(UNIT_MODEL)
    (tmp_path / "cfu.v").write_text(CFU)
    (tmp_path / "two.yaml").write_text(UNIT)
    return tmp_path / "two.yaml"


@pytest.mark.rtl
def test_a_unit_alone_is_tried(unit: Path) -> None:
    found = atoll.check_accelerator(unit, operators=4)
    assert found.passed, found.text()
    assert [each.name for each in found.trials][:2] == ["instruction total", "instruction swap"]
    assert "function unit two: 6 of 6 checks right" in found.text()


def test_coverage_of_a_unit_is_refused(unit: Path, tmp_path: Path) -> None:
    with pytest.raises(atoll.UsageError) as refused:
        atoll.check_accelerator(unit, coverage=tmp_path / "reached")
    assert refused.value.faults[0].code == "E191"
    assert not (tmp_path / "reached").exists()


WRONG = {
    "one that no kernel uses": (
        "cmd_payload_inputs_0[31:16]}",
        "cmd_payload_inputs_1[31:16]}",
        "instruction swap: device two, swap(",
    ),
    "an answer that changes": (
        "if (take)", "if (cmd_valid)", "the answer changes before it is taken"
    ),
    "no answer": (
        "do <= cmd_valid;", "do <= 1'b0;", "total, call 1: it never answers"
    ),
}  # fmt: skip


@pytest.mark.rtl
@pytest.mark.parametrize(
    "name",
    [each if n < 2 else pytest.param(each, marks=pytest.mark.slow) for n, each in enumerate(WRONG)],
)
def test_a_unit_that_is_wrong_is_found(name: str, unit: Path) -> None:
    right, wrong, said = WRONG[name]
    path = unit.with_name("cfu.v")
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    found = atoll.check_accelerator(unit, operators=2)
    assert not found.passed
    assert said in found.text()


OFFERED = """
function_unit: mixer
version: 1
style: cvxif
instructions:
  total: {opcode: custom-3, funct3: 0, latency: variable}
  both: {opcode: custom-1, funct3: 5, funct7: 9, latency: variable}
model: ./mixer.py:Mixer
rtl: {module: Mixer, sources: [./mixer.sv], names: if_xif, ports: {clk_i: clk, rst_ni: rst_n}}
"""
OFFERED_MODEL = """
class Mixer:
    def total(self, a, b):
        return a + b & 0xFFFF_FFFF

    def both(self, a, b):
        return a & b
"""
MIXER = """
module Mixer (input logic clk, input logic rst_n, if_xif.coproc_issue xif_issue,
  if_xif.coproc_commit commit_if, if_xif.coproc_result xif_result_if);
  logic busy, sure, both;
  logic [3:0] id;
  logic [4:0] rd;
  logic [31:0] a, b;
  logic known;
  assign known = xif_issue.issue_req.instr[6:0] == 7'h7b && xif_issue.issue_req.instr[14:12] == 0
    || xif_issue.issue_req.instr[6:0] == 7'h2b && xif_issue.issue_req.instr[14:12] == 5
    && xif_issue.issue_req.instr[31:25] == 9;
  assign xif_issue.issue_ready = !busy;
  always_comb begin
    xif_issue.issue_resp = '0;
    xif_issue.issue_resp.accept = known;
    xif_issue.issue_resp.writeback = known;
    xif_result_if.result = '0;
    xif_result_if.result.id = id;
    xif_result_if.result.rd = rd;
    xif_result_if.result.we = 1'b1;
    xif_result_if.result.data = both ? a & b : a + b;
  end
  assign xif_result_if.result_valid = busy && sure;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      busy <= 1'b0;
      sure <= 1'b0;
    end else if (xif_issue.issue_valid && xif_issue.issue_ready && known) begin
      busy <= 1'b1;
      sure <= 1'b0;
      id <= xif_issue.issue_req.id;
      rd <= xif_issue.issue_req.instr[11:7];
      both <= xif_issue.issue_req.instr[6:0] == 7'h2b;
      a <= xif_issue.issue_req.rs[0];
      b <= xif_issue.issue_req.rs[1];
    end else begin
      if (commit_if.commit_valid && commit_if.commit.id == id) sure <= 1'b1;
      if (xif_result_if.result_valid && xif_result_if.result_ready) busy <= 1'b0;
    end
endmodule
"""


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("known", ["== 5", "== 4"])
def test_a_unit_with_the_interface_of_core_v_needs_no_wrapper(known: str, tmp_path: Path) -> None:
    pytest.importorskip("pythondata_cpu_cv32e40x")
    (tmp_path / "mixer.py").write_text(OFFERED_MODEL)
    (tmp_path / "mixer.sv").write_text(MIXER.replace("== 5", known))
    (tmp_path / "mixer.yaml").write_text(OFFERED)
    found = atoll.check_accelerator(tmp_path / "mixer.yaml", operators=4)
    if known == "== 5":
        assert found.passed, found.text()
    else:
        assert "instruction both: device mixer, both(" in found.text(), (
            "one that it refuses gives 0"
        )
