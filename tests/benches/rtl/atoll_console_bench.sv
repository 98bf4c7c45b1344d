// SPDX-License-Identifier: Apache-2.0
// `atoll_console` as the target of one bus master.
module atoll_console_bench
  import atoll_bus_pkg::*;
(
  // Clock and reset
  input  logic        clk_i,
  input  logic        rst_ni,
  // The bus
  input  logic        mst_valid_i,
  output logic        mst_ready_o,
  input  logic        mst_we_i,
  input  logic [31:0] mst_addr_i,
  input  logic [63:0] mst_wdata_i,
  input  logic [ 7:0] mst_be_i,
  output logic        mst_rvalid_o,
  output logic [63:0] mst_rdata_o,
  output logic [ 1:0] mst_resp_o,
  // See atoll_console
  input  logic [31:0] request_i,
  output logic        uart_o,
  output logic        exit_o,
  output logic        trace_o,
  output logic        result_o,
  output logic [31:0] value_o
);

  resp_e resp;
  logic unused;

  assign mst_resp_o = resp;
  assign unused     = ^mst_addr_i[31:12];

  atoll_console #(
    .DataBytes(8)
  ) u_console (
    .clk_i,
    .rst_ni,
    .valid_i (mst_valid_i),
    .ready_o (mst_ready_o),
    .we_i    (mst_we_i),
    .addr_i  (mst_addr_i[11:0]),
    .wdata_i (mst_wdata_i),
    .be_i    (mst_be_i),
    .rvalid_o(mst_rvalid_o),
    .rdata_o (mst_rdata_o),
    .resp_o  (resp),
    .request_i,
    .uart_o,
    .exit_o,
    .trace_o,
    .result_o,
    .value_o
  );

endmodule
