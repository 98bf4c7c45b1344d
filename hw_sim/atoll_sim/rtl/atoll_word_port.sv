// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Turns beats of the bus into accesses to whole 32-bit registers.
//
// An access to anything but one whole word, and one that the registers do not grant, is answered
// with an error. The answer follows one cycle after the request.
module atoll_word_port
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // An access to one whole word, for one cycle
  output logic                   read_o,
  output logic                   write_o,
  // The register's offset, and the word to write
  output logic [           11:0] offset_o,
  output logic [           31:0] value_o,
  // In the same cycle: the access is granted, and what a read finds
  input  logic                   granted_i,
  input  logic [           31:0] value_i,
  // The system bus, which is answered one cycle later
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, 12)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  logic [LaneBits-1:0] lane, lane_q;
  logic whole, good, rvalid_q, good_q;
  logic [31:0] value_q;

  // Nothing is worked out without a request, which saves the simulator time.
  always_comb begin
    lane     = '0;
    whole    = 1'b0;
    offset_o = '0;
    value_o  = '0;
    if (valid_i) begin
      for (int unsigned i = 0; i < Lanes; i++) if (be_i[4*i]) lane = LaneBits'(i);
      whole    = be_i == DataBytes'(4'hf) << (4 * lane);
      offset_o = addr_i + 12'(4 * lane);
      value_o  = wdata_i[32*lane+:32];
    end
  end

  assign read_o   = whole && !we_i;
  assign write_o  = whole && we_i;
  assign good     = (read_o || write_o) && granted_i;

  assign ready_o  = 1'b1;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = rvalid_q ? (8 * DataBytes)'(value_q) << (32 * lane_q) : '0;
  assign resp_o   = good_q ? RespOkay : RespSlave;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      good_q   <= 1'b0;
      lane_q   <= '0;
      value_q  <= '0;
    end else begin
      rvalid_q <= valid_i;
      if (valid_i) begin
        good_q  <= good;
        lane_q  <= lane;
        value_q <= good && read_o ? value_i : '0;
      end
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, read_o, write_o})
  `ATOLL_ASSERT_IF(OnlyWholeWords, read_o || write_o, $countones(be_i) == 4)
  `ATOLL_ASSERT_NEXT(AnswersEveryRequest, valid_i, rvalid_o)

endmodule
