// SPDX-License-Identifier: Apache-2.0

// Stands for an accelerator's registers in a proof of who reaches them: it answers as
// `atoll_any_slave` does; what it is asked with is for the specification to look at.
module atoll_any_registers
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic                   we_i,
  input  logic [           11:0] addr_i,
  input  logic [8*DataBytes-1:0] wdata_i,
  input  logic [  DataBytes-1:0] be_i,
  output logic                   rvalid_o,
  output logic [8*DataBytes-1:0] rdata_o,
  output logic [            1:0] resp_o
);

  logic unused;
  assign unused = ^{we_i, addr_i, wdata_i, be_i};

  atoll_any_slave #(
    .DataBytes(DataBytes)
  ) u_port (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o,
    .rvalid_o,
    .rdata_o,
    .resp_o
  );

endmodule
