// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_core.svh"

// A CV32E40P core on the system bus, without its extensions for floating point and PULP.
//
// Line n of 2 to 17 is the core's interrupt n + 14, line 1 the software interrupt. The core has no
// bus-error input: a failed load reads 0, a failed store is lost. Its clock gate is open in reset.
module atoll_cv32e40p
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes    = 8,
  // Address of the first instruction.
  parameter logic [31:0] ResetAddress = 32'h80,
  // The 64 KiB of the core's own registers.
  parameter logic [31:0] LocalOrigin  = 32'h0200_0000,
  // The number by which the chip knows the core.
  parameter int unsigned Hart         = 0
) (
  `ATOLL_CORE_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalReset, ResetAddress[1:0] == '0)

  `ATOLL_CORE_BUS_OF_HART(Hart)

  logic unused_inputs;

  assign unused_inputs = ^{irq_i[31:18], irq_i[0], instr_err, data_err};

  cv32e40p_core u_core (
    .clk_i,
    .rst_ni,
    .pulp_clock_en_i    (1'b0),
    .scan_cg_en_i       (!rst_ni),
    .boot_addr_i        (ResetAddress),
    .mtvec_addr_i       ({ResetAddress[31:8], 8'h00}),
    .dm_halt_addr_i     ('0),
    .hart_id_i          (32'(Hart)),
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
    .irq_i              ({irq_i[17:2], 8'h00, timer, 3'h0, irq_i[1], 3'h0}),
    .irq_ack_o          (),
    .irq_id_o           (),
    .debug_req_i        (1'b0),
    .debug_havereset_o  (),
    .debug_running_o    (),
    .debug_halted_o     (),
    .fetch_enable_i     (1'b1),
    .core_sleep_o       ()
  );

endmodule
