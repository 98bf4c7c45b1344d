# SPDX-License-Identifier: Apache-2.0
"""Interfaces that public engines have: identifiers, wide addresses and elements, memory windows."""

from pathlib import Path

import pytest

import atoll
from atoll.diagnostics.errors import AtollError

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

APB = """
  input ACLK, input ARESETN, input PSEL, input PENABLE, input PWRITE, input [2:0] PPROT,
  input [7:0] PADDR, input [31:0] PWDATA, output PREADY, output reg [31:0] PRDATA"""

PAIRS = """
accelerator: pairs
version: 1
ports: {control: apb, data: {m: {protocol: axi4, bytes: 4}}}
operators:
  ADD: {limits: {element_bytes: {min: 4}, broadcast: {max: 0}}, cost: 100 + 30 * elements}
registers:
  size: 4 KiB
  map: {CONTROL: 0x00, A: 0x04, B: 0x08, C: 0x0C, COUNT: 0x10, CLEAR: 0x14}
program:
  run:
    - {write: A, value: input1.address}
    - {write: B, value: input2.address}
    - {write: C, value: output.address}
    - {write: COUNT, value: elements}
    - {write: CONTROL, value: 1}
    - {wait: CONTROL, mask: 1, equals: 0}
  clear: [{write: CLEAR, value: 1}]
rtl:
  module: Pairs
  sources: [./pairs.v]
  parameters: {}
  ports:
    clk_i: ACLK
    rst_ni: ARESETN
    irq_o: IRQ
    s_apb_*: '{SIGNAL}'
    s_apb_pstrb_i: null
    s_apb_pslverr_o: null
    m_axi_*: 'M_AXI_{SIGNAL}'
"""
"""It reads both operands at once, each with an identifier of its own, and looks for that."""

PAIRS_RTL = f"""
module Pairs ({APB}, output reg IRQ,
  output [63:0] M_AXI_ARADDR, output [1:0] M_AXI_ARID, output [7:0] M_AXI_ARLEN,
  output [2:0] M_AXI_ARSIZE, output [1:0] M_AXI_ARBURST, output [3:0] M_AXI_ARCACHE,
  output M_AXI_ARVALID, input M_AXI_ARREADY, input [31:0] M_AXI_RDATA, input [1:0] M_AXI_RID,
  input [1:0] M_AXI_RRESP, input M_AXI_RLAST, input M_AXI_RVALID, output M_AXI_RREADY,
  output [63:0] M_AXI_AWADDR, output [1:0] M_AXI_AWID, output [7:0] M_AXI_AWLEN,
  output [2:0] M_AXI_AWSIZE, output [1:0] M_AXI_AWBURST, output M_AXI_AWVALID, input M_AXI_AWREADY,
  output [31:0] M_AXI_WDATA, output [3:0] M_AXI_WSTRB, output M_AXI_WLAST, output M_AXI_WVALID,
  input M_AXI_WREADY, input [1:0] M_AXI_BRESP, input [1:0] M_AXI_BID, input M_AXI_BVALID,
  output M_AXI_BREADY
);
  reg [31:0] a, b, c, count, at, x, y;
  reg [1:0] got, asked;
  reg busy, addressed, written;
  wire [1:0] id = asked[0] ? 2'd2 : 2'd1;
  assign PREADY = 1;
  assign M_AXI_ARADDR = {{32'd0, (asked[0] ? b : a) + 4 * at}};
  assign M_AXI_ARID = id;
  assign M_AXI_ARLEN = 0, M_AXI_ARSIZE = 2, M_AXI_ARBURST = 1, M_AXI_ARCACHE = 3;
  assign M_AXI_ARVALID = busy && asked != 2'd3;
  assign M_AXI_RREADY = 1;
  assign M_AXI_AWADDR = {{32'd0, c + 4 * at}};
  assign M_AXI_AWID = 2'd3;
  assign M_AXI_AWLEN = 0, M_AXI_AWSIZE = 2, M_AXI_AWBURST = 1;
  assign M_AXI_AWVALID = busy && got == 2'd3 && !addressed;
  assign M_AXI_WVALID = busy && got == 2'd3 && !written;
  assign M_AXI_WDATA = x + y, M_AXI_WSTRB = 4'hf, M_AXI_WLAST = 1, M_AXI_BREADY = 1;
  wire taken = PSEL && PENABLE && PWRITE;
  always @(posedge ACLK or negedge ARESETN)
    if (!ARESETN) begin
      busy <= 0; IRQ <= 0; got <= 0; asked <= 0; addressed <= 0; written <= 0; at <= 0;
    end else begin
      if (taken) case (PADDR)
        8'h00: begin busy <= 1; at <= 0; IRQ <= 0; end
        8'h04: a <= PWDATA;
        8'h08: b <= PWDATA;
        8'h0c: c <= PWDATA;
        8'h10: count <= PWDATA;
        default: IRQ <= 0;
      endcase
      if (M_AXI_ARVALID && M_AXI_ARREADY) asked <= asked[0] ? 2'd3 : 2'd1;
      if (M_AXI_RVALID && M_AXI_RID == 2'd1) begin x <= M_AXI_RDATA; got[0] <= 1; end
      if (M_AXI_RVALID && M_AXI_RID == 2'd2) begin y <= M_AXI_RDATA; got[1] <= 1; end
      if (M_AXI_AWVALID && M_AXI_AWREADY) addressed <= 1;
      if (M_AXI_WVALID && M_AXI_WREADY) written <= 1;
      if (M_AXI_BVALID && M_AXI_BID == 2'd3) begin
        got <= 0; asked <= 0; addressed <= 0; written <= 0; at <= at + 1;
        if (at + 1 == count) begin busy <= 0; IRQ <= 1; end
      end
    end
  always @* PRDATA = {{31'd0, busy}};
endmodule
"""

LANES = """
accelerator: lanes
version: 1
ports: {control: apb, data: {}, interrupt: none}
operators:
  ADD: {limits: {element_bytes: {min: 4}, broadcast: {max: 0}}, cost: 100 + 30 * elements}
registers: {size: 4 KiB, map: {CONTROL: 0x00, A: 0x40, B: 0x60, RESULT: 0x80}}
program:
  run:
    - repeat: part
      times: ceil(elements, 8)
      do:
        - {push: A, buffer: input1, offset: 32 * part, bytes: "SIZE", rises: true}
        - {push: B, buffer: input2, offset: 32 * part, bytes: "SIZE", rises: true}
        - {write: CONTROL, value: 1}
        - {wait: CONTROL, mask: 1, equals: 0}
        - {pop: RESULT, buffer: output, offset: 32 * part, bytes: "SIZE", rises: true}
    - {wait: CONTROL, mask: 1, equals: 0}
rtl:
  module: Lanes
  sources: [./lanes.v]
  parameters: {}
  ports:
    {clk_i: ACLK, rst_ni: ARESETN, s_apb_*: '{SIGNAL}', s_apb_pstrb_i: null, s_apb_pslverr_o: null}
""".replace("SIZE", "min(32, output.bytes - 32 * part)").replace(
    "times: ceil(elements, 8)", 'times: "ceil(elements, 8)"'
)
"""It adds what lies in two memories of eight words among its registers, into a third."""

LANES_RTL = f"""
module Lanes ({APB}
);
  reg [31:0] a[8], b[8], result[8];
  reg [3:0] at;
  wire [2:0] word = PADDR[4:2];
  wire busy = at != 8;
  assign PREADY = 1;
  always @(posedge ACLK or negedge ARESETN)
    if (!ARESETN) at <= 8;
    else begin
      if (PSEL && PENABLE && PWRITE) case (PADDR[7:5])
        3'd0: at <= 0;
        3'd2: a[word] <= PWDATA;
        3'd3: b[word] <= PWDATA;
        default: ;
      endcase
      if (busy) begin
        result[at[2:0]] <= a[at[2:0]] + b[at[2:0]];
        at <= at + 1;
      end
    end
  always @* PRDATA = PADDR[7] ? result[word] : {{31'd0, busy}};
endmodule
"""


def described(folder: Path, name: str, yaml: str, rtl: str) -> Path:
    (folder / f"{name}.v").write_text(rtl)
    (folder / f"{name}.yaml").write_text(yaml)
    return folder / f"{name}.yaml"


@pytest.mark.parametrize("name", ["pairs", "lanes"])
def test_it_is_right(name: str, tmp_path: Path) -> None:
    yaml, rtl = {"pairs": (PAIRS, PAIRS_RTL), "lanes": (LANES, LANES_RTL)}[name]
    path = described(tmp_path, name, yaml, rtl)
    found = atoll.check_accelerator(path, operators=2, faults=0, mutants=0)
    assert found.passed, found.text()
    assert any(each.name == "operators, by firmware" for each in found.trials)
    widths = next(each for each in found.coverage if each.feature == "element_bytes")
    assert (widths.least, widths.most) == (4, 4)


def test_an_engine_that_never_ends_is_named_soon(tmp_path: Path) -> None:
    rtl = PAIRS_RTL.replace("M_AXI_BID == 2'd3", "M_AXI_BID == 2'd0")
    path = described(tmp_path, "pairs", PAIRS, rtl)
    with pytest.raises(AtollError) as caught:
        atoll.check_accelerator(path, operators=2, faults=0, mutants=0)
    (fault,) = caught.value.faults
    assert fault.code == "E088"
    assert "CONTROL & 0x1 is to be 0x0, and CONTROL is 0x1" in fault.message
