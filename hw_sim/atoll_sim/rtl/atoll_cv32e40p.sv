// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A CV32E40P core on the system bus, without its extensions for floating point and PULP.
//
// Line n of 2 to 17 is the core's interrupt n + 14. The core has no bus-error input: a failed load
// reads 0, a failed store is lost. Its clock gate is open in reset.
module atoll_cv32e40p
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes    = 8,
  // Address of the first instruction.
  parameter logic [31:0] ResetAddress = 32'h80,
  // The 64 KiB of the core's own registers.
  parameter logic [31:0] LocalOrigin  = 32'h0200_0000
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Request
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic                   we_o,
  output logic [           31:0] addr_o,
  output logic [8*DataBytes-1:0] wdata_o,
  output logic [  DataBytes-1:0] be_o,
  // The request is an instruction fetch
  output logic                   instr_o,
  // Answer
  input  logic                   rvalid_i,
  input  logic [8*DataBytes-1:0] rdata_i,
  input  logic                   err_i,
  // Level interrupts
  input  logic [           31:0] irq_i,
  // The core says that it stands still for good
  output logic                   trap_o
);

  `ATOLL_ASSERT_INIT(LegalReset, ResetAddress[1:0] == '0)

  logic instr_req, instr_gnt, instr_rvalid, instr_err;
  logic data_req, data_gnt, data_we, data_rvalid, data_err, timer;
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata;
  logic [3:0] data_be;
  logic unused_inputs;

  assign unused_inputs = ^{irq_i[31:18], irq_i[1:0], instr_err, data_err};

  cv32e40p_core u_core (
    .clk_i,
    .rst_ni,
    .pulp_clock_en_i    (1'b0),
    .scan_cg_en_i       (!rst_ni),
    .boot_addr_i        (ResetAddress),
    .mtvec_addr_i       ({ResetAddress[31:8], 8'h00}),
    .dm_halt_addr_i     ('0),
    .hart_id_i          ('0),
    .dm_exception_addr_i('0),
    .instr_req_o        (instr_req),
    .instr_gnt_i        (instr_gnt),
    .instr_rvalid_i     (instr_rvalid),
    .instr_addr_o       (instr_addr),
    .instr_rdata_i      (instr_rdata),
    .data_req_o         (data_req),
    .data_gnt_i         (data_gnt),
    .data_rvalid_i      (data_rvalid),
    .data_we_o          (data_we),
    .data_be_o          (data_be),
    .data_addr_o        (data_addr),
    .data_wdata_o       (data_wdata),
    .data_rdata_i       (data_rdata),
    .apu_busy_o         (),
    .apu_req_o          (),
    .apu_gnt_i          (1'b0),
    .apu_operands_o     (),
    .apu_op_o           (),
    .apu_flags_o        (),
    .apu_rvalid_i       (1'b0),
    .apu_result_i       ('0),
    .apu_flags_i        ('0),
    .irq_i              ({irq_i[17:2], 8'h00, timer, 7'h00}),
    .irq_ack_o          (),
    .irq_id_o           (),
    .debug_req_i        (1'b0),
    .debug_havereset_o  (),
    .debug_running_o    (),
    .debug_halted_o     (),
    .fetch_enable_i     (1'b1),
    .core_sleep_o       ()
  );

  atoll_core_bus #(
    .DataBytes  (DataBytes),
    .LocalOrigin(LocalOrigin)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .instr_req_i   (instr_req),
    .instr_gnt_o   (instr_gnt),
    .instr_addr_i  (instr_addr),
    .instr_rvalid_o(instr_rvalid),
    .instr_rdata_o (instr_rdata),
    .instr_err_o   (instr_err),
    .data_req_i    (data_req),
    .data_gnt_o    (data_gnt),
    .data_we_i     (data_we),
    .data_be_i     (data_be),
    .data_addr_i   (data_addr),
    .data_wdata_i  (data_wdata),
    .data_rvalid_o (data_rvalid),
    .data_rdata_o  (data_rdata),
    .data_err_o    (data_err),
    .valid_o,
    .ready_i,
    .we_o,
    .addr_o,
    .wdata_o,
    .be_o,
    .instr_o,
    .rvalid_i,
    .rdata_i,
    .err_i,
    .timer_o       (timer),
    .halted_o      (trap_o)
  );

endmodule
