// SPDX-License-Identifier: Apache-2.0

// Stands for a memory in a proof of who reaches it: its ports are those of the real one, and it
// answers each of them as `atoll_any_slave` does.
module atoll_memory
  import atoll_bus_pkg::*;
#(
  parameter int unsigned DataBytes   = 8,
  parameter int unsigned NumPorts    = 1,
  parameter int unsigned SizeBytes   = 4096,
  parameter int unsigned WordBytes   = 4,
  parameter int unsigned NumBanks    = 1,
  parameter int unsigned ReadLatency = 1,
  parameter bit          Writable    = 1'b1
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic [               31:0]           origin_i,
  input  logic [NumPorts-1:0]                  valid_i,
  output logic [NumPorts-1:0]                  ready_o,
  input  logic [NumPorts-1:0]                  we_i,
  input  logic [NumPorts-1:0][           31:0] addr_i,
  input  logic [NumPorts-1:0][8*DataBytes-1:0] wdata_i,
  input  logic [NumPorts-1:0][  DataBytes-1:0] be_i,
  output logic [NumPorts-1:0]                  rvalid_o,
  output logic [NumPorts-1:0][8*DataBytes-1:0] rdata_o,
  output logic [NumPorts-1:0][            1:0] resp_o
);

  for (genvar p = 0; p < NumPorts; p++) begin : gen_port
    atoll_any_slave #(
      .DataBytes(DataBytes)
    ) u_port (
      .clk_i,
      .rst_ni,
      .valid_i (valid_i[p]),
      .ready_o (ready_o[p]),
      .rvalid_o(rvalid_o[p]),
      .rdata_o (rdata_o[p]),
      .resp_o  (resp_o[p])
    );
  end

endmodule
