`include "atoll_assert.svh"

// Stands where the chip has a device that the simulation leaves out.
//
// Answers every access with a decode error and zero data, one cycle later.
module atoll_absent
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Request; nothing but its arrival matters
  input  logic                   valid_i,
  output logic                   ready_o,
  // Answer
  output logic                   rvalid_o,
  output logic [8*DataBytes-1:0] rdata_o,
  output resp_e                  resp_o
);

  logic rvalid_q;

  assign ready_o  = 1'b1;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = '0;
  assign resp_o   = RespDecode;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rvalid_q <= 1'b0;
    else rvalid_q <= valid_i;
  end

  `ATOLL_ASSERT(EveryRequestIsAnswered, valid_i |=> rvalid_o)

endmodule
