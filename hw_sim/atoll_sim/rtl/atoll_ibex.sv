// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_core.svh"

// An Ibex core on the system bus: two stages and write-back, single-cycle multiplier, physical memory
// protection.
//
// Line n of 2 to 16 is the fast interrupt n - 2, line 1 the software interrupt. A failed access traps.
// Its clock gate is open in reset.
module atoll_ibex
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes    = 8,
  // Address of the first instruction.
  parameter logic [31:0] ResetAddress = 32'h80,
  // The 64 KiB of the core's own registers.
  parameter logic [31:0] LocalOrigin  = 32'h0200_0000,
  // The number by which the chip knows the core.
  parameter int unsigned Hart         = 0,
  // Base E: 16 registers.
  parameter bit          HasE         = 1'b0,
  // Extension B: bit manipulation by Zba, Zbb and Zbs.
  parameter bit          HasB         = 1'b0
) (
  `ATOLL_CORE_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalReset, ResetAddress[7:0] == 8'h80)

  `ATOLL_CORE_BUS_OF_HART(Hart)

  logic unused_lines;

  assign unused_lines = ^{irq_i[31:17], irq_i[0]};

  ibex_top #(
    .PMPEnable      (1'b1),
    .PMPNumRegions  (16),
    .RV32E          (HasE),
    .RV32M          (ibex_pkg::RV32MSingleCycle),
    .RV32B          (HasB ? ibex_pkg::RV32BBalanced : ibex_pkg::RV32BNone),
    .BranchTargetALU(1'b1),
    .WritebackStage (1'b1)
  ) u_core (
    .clk_i,
    .rst_ni,
    .test_en_i             (!rst_ni),
    .ram_cfg_i             ('0),
    .hart_id_i             (32'(Hart)),
    .boot_addr_i           ({ResetAddress[31:8], 8'h00}),
    .instr_req_o           (instr_req),
    .instr_gnt_i           (instr_gnt),
    .instr_rvalid_i        (instr_rvalid),
    .instr_addr_o          (instr_addr),
    .instr_rdata_i         (instr_rdata),
    .instr_rdata_intg_i    ('0),
    .instr_err_i           (instr_err),
    .data_req_o            (data_req),
    .data_gnt_i            (data_gnt),
    .data_rvalid_i         (data_rvalid),
    .data_we_o             (data_we),
    .data_be_o             (data_be),
    .data_addr_o           (data_addr),
    .data_wdata_o          (data_wdata),
    .data_wdata_intg_o     (),
    .data_rdata_i          (data_rdata),
    .data_rdata_intg_i     ('0),
    .data_err_i            (data_err),
    .irq_software_i        (irq_i[1]),
    .irq_timer_i           (timer),
    .irq_external_i        (1'b0),
    .irq_fast_i            (irq_i[16:2]),
    .irq_nm_i              (1'b0),
    .scramble_key_valid_i  (1'b0),
    .scramble_key_i        ('0),
    .scramble_nonce_i      ('0),
    .scramble_req_o        (),
    .debug_req_i           (1'b0),
    .crash_dump_o          (),
    .double_fault_seen_o   (),
    .fetch_enable_i        (ibex_pkg::IbexMuBiOn),
    .alert_minor_o         (),
    .alert_major_internal_o(),
    .alert_major_bus_o     (),
    .core_sleep_o          (),
    .scan_rst_ni           (rst_ni)
  );

endmodule
