// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Stands in for the host core: the test bench makes its accesses, one at a time.
//
// A change of `toggle_i` starts an access to a whole 32-bit word; `done_o` equals `toggle_i`
// again when the answer is there. The access's inputs hold until then.
module atoll_external_host
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The access that the test bench wants
  input  logic                   toggle_i,
  input  logic                   we_i,
  input  logic [           31:0] addr_i,
  input  logic [           31:0] wdata_i,
  // Its answer
  output logic                   done_o,
  output logic [           31:0] rdata_o,
  output logic [            1:0] resp_o,
  // Request to the bus
  output logic                   bus_valid_o,
  input  logic                   bus_ready_i,
  output logic                   bus_we_o,
  output logic [           31:0] bus_addr_o,
  output logic [8*DataBytes-1:0] bus_wdata_o,
  output logic [  DataBytes-1:0] bus_be_o,
  // Answer of the bus
  input  logic                   bus_rvalid_i,
  input  logic [8*DataBytes-1:0] bus_rdata_i,
  input  resp_e                  bus_resp_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  logic [LaneBits-1:0] lane;
  logic issued_q;

  assign lane        = addr_i[2+:LaneBits];
  assign bus_valid_o = toggle_i != done_o && !issued_q;
  assign bus_we_o    = we_i;
  assign bus_addr_o  = {addr_i[31:2+LaneBits], (2 + LaneBits)'(0)};
  assign bus_wdata_o = {Lanes{wdata_i}};
  assign bus_be_o    = DataBytes'(4'hf) << (4 * lane);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issued_q <= 1'b0;
      done_o   <= 1'b0;
      rdata_o  <= '0;
      resp_o   <= '0;
    end else if (bus_valid_o) begin
      issued_q <= bus_ready_i;
    end else if (bus_rvalid_i) begin
      issued_q <= 1'b0;
      done_o   <= toggle_i;
      rdata_o  <= bus_rdata_i[32*lane+:32];
      resp_o   <= bus_resp_i;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {done_o, bus_valid_o})
  `ATOLL_ASSERT_IF(OnlyWholeWords, bus_valid_o, addr_i[1:0] == '0)
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, bus_rvalid_i, issued_q)

endmodule
