// SPDX-License-Identifier: Apache-2.0
// `atoll_guard` of three firewalls as the target of one bus master.
module atoll_guard_bench
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
  // See atoll_guard
  input  logic [ 2:0] violated_i,
  input  logic [95:0] violation_addr_i,
  input  logic [ 2:0] violation_we_i,
  input  logic [ 2:0] violation_bus_i,
  output logic [ 2:0] clear_o,
  output logic        irq_o,
  // Of a watchdog that the guard's registers set
  output logic        restarted_o,
  output logic        rst_no
);

  resp_e resp;
  logic unused, kick, forget;
  logic [31:0] period;

  assign mst_resp_o = resp;
  assign unused     = ^mst_addr_i[31:11];

  atoll_guard #(
    .DataBytes (8),
    .NumMasters(3)
  ) u_guard (
    .clk_i,
    .rst_ni(rst_no),
    .valid_i (mst_valid_i),
    .ready_o (mst_ready_o),
    .we_i    (mst_we_i),
    .addr_i  (mst_addr_i[10:0]),
    .wdata_i (mst_wdata_i),
    .be_i    (mst_be_i),
    .rvalid_o(mst_rvalid_o),
    .rdata_o (mst_rdata_o),
    .resp_o  (resp),
    .violated_i,
    .violation_addr_i,
    .violation_we_i,
    .violation_bus_i,
    .clear_o,
    .irq_o,
    .period_o   (period),
    .kick_o     (kick),
    .restarted_i(restarted_o),
    .forget_o   (forget)
  );

  atoll_watchdog u_watchdog (
    .clk_i,
    .rst_ni,
    .period_i(period),
    .kick_i  (kick),
    .forget_i(forget),
    .restarted_o,
    .rst_no
  );

endmodule
