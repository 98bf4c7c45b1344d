// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Fails one access of a bus master. Only for the bench of hardware faults: no chip has it.
//
// A read that fails brings wrong data along, a write does not reach its memory.
module atoll_fault_port
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The first read, or write, that is accepted from now on fails; low forgets
  input  logic                   read_i,
  input  logic                   write_i,
  // How it fails
  input  logic [            1:0] how_i,
  // It has failed
  output logic                   fired_o,
  // The master's accepted requests
  input  logic                   accept_i,
  input  logic                   we_i,
  // Bytes of the request, and those that reach memories
  input  logic [  DataBytes-1:0] be_i,
  output logic [  DataBytes-1:0] be_o,
  // Answers of the bus, and what the master gets
  input  logic                   rvalid_i,
  input  logic [8*DataBytes-1:0] rdata_i,
  output logic [8*DataBytes-1:0] rdata_o,
  input  resp_e                  resp_i,
  output resp_e                  resp_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))

  logic [7:0] outstanding_q, ahead_q;
  logic chosen_q, fired_q, befall, choose, fail;

  assign befall  = !chosen_q && !fired_q && (we_i ? write_i : read_i);
  assign choose  = accept_i && befall;
  assign be_o    = befall && we_i ? '0 : be_i;
  assign fail    = chosen_q && rvalid_i && ahead_q == '0;
  assign rdata_o = fail ? ~rdata_i : rdata_i;
  assign resp_o  = fail ? resp_e'(how_i) : resp_i;
  assign fired_o = fired_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
      ahead_q       <= '0;
      chosen_q      <= 1'b0;
      fired_q       <= 1'b0;
    end else begin
      outstanding_q <= outstanding_q + 8'(accept_i) - 8'(rvalid_i);
      if (choose) ahead_q <= outstanding_q - 8'(rvalid_i);
      else if (rvalid_i) ahead_q <= ahead_q - 8'd1;
      chosen_q <= choose || (chosen_q && !fail);
      fired_q  <= (fired_q || fail) && (read_i || write_i);
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, fired_o)
  `ATOLL_ASSERT_NEXT(OnlyOneFails, fail, !fail)
  `ATOLL_ASSERT_IF(OnlyWhatWasAsked, fail, outstanding_q != '0)

endmodule
