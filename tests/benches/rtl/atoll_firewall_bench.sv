// SPDX-License-Identifier: Apache-2.0
// `atoll_firewall` before a memory that covers all that its windows cover, and more.
module atoll_firewall_bench
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The master behind the firewall
  input  logic                   mst_valid_i,
  output logic                   mst_ready_o,
  input  logic                   mst_we_i,
  input  logic [           31:0] mst_addr_i,
  input  logic                   mst_mapped_i,
  input  logic [8*DataBytes-1:0] mst_wdata_i,
  input  logic [  DataBytes-1:0] mst_be_i,
  output logic                   mst_rvalid_o,
  output logic [8*DataBytes-1:0] mst_rdata_o,
  output logic [            1:0] mst_resp_o,
  // Makes the firewall forget
  input  logic                   clear_i,
  // What the firewall lets through, and what it reports
  output logic                   bus_valid_o,
  output logic                   blocked_o,
  output logic                   violated_o,
  output logic [           31:0] violation_addr_o,
  output logic                   violation_we_o,
  output logic                   violation_bus_o,
  // Answers of the bus become errors
  input  logic                   fail_i
);

  // Bytes 3 to 0x7d may be read, bytes 0x22 to 0x5e written as well.
  localparam window_t READABLE = '{first: 32'h2000_0003, last: 32'h2000_007d};
  localparam window_t WRITABLE = '{first: 32'h2000_0022, last: 32'h2000_005e};

  logic bus_ready, bus_rvalid;
  logic [8*DataBytes-1:0] bus_rdata;
  logic [1:0] bus_resp;
  resp_e mst_resp;

  assign mst_resp_o = mst_resp;

  atoll_firewall #(
    .DataBytes  (DataBytes),
    .NumReadable(1),
    .NumWritable(1)
  ) u_firewall (
    .clk_i,
    .rst_ni,
    .readable_i  (READABLE),
    .writable_i  (WRITABLE),
    .mst_valid_i,
    .mst_ready_o,
    .mst_we_i,
    .mst_addr_i,
    .mst_mapped_i,
    .mst_be_i,
    .mst_rvalid_o,
    .mst_rdata_o,
    .mst_resp_o  (mst_resp),
    .bus_valid_o,
    .bus_ready_i (bus_ready),
    .bus_rvalid_i(bus_rvalid),
    .bus_rdata_i (bus_rdata),
    .bus_resp_i  (fail_i ? RespSlave : resp_e'(bus_resp)),
    .clear_i,
    .blocked_o,
    .violated_o,
    .violation_addr_o,
    .violation_we_o,
    .violation_bus_o
  );

  atoll_memory #(
    .DataBytes  (DataBytes),
    .SizeBytes  (256),
    .WordBytes  (4),
    .ReadLatency(3)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .origin_i(32'h2000_0000),
    .valid_i (bus_valid_o),
    .ready_o (bus_ready),
    .we_i    (mst_we_i),
    .addr_i  (mst_addr_i),
    .wdata_i (mst_wdata_i),
    .be_i    (mst_be_i),
    .rvalid_o(bus_rvalid),
    .rdata_o (bus_rdata),
    .resp_o  (bus_resp)
  );

endmodule
