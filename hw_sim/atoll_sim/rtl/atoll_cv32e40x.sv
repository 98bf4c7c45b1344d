// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_core.svh"

// A CV32E40X core on the system bus, whose eXtension interface leads to a function unit.
//
// Line n of 2 to 17 is the core's interrupt n + 14, line 1 the software interrupt. Bus errors do
// not reach the core: a failed load reads 0, a failed store is lost. Its clock gate is open in reset.
module atoll_cv32e40x
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
  `ATOLL_CORE_AND_UNIT_PORTS(DataBytes)
);

  localparam int unsigned IdBits = 4;

  `ATOLL_ASSERT_INIT(LegalReset, ResetAddress[1:0] == '0)

  `ATOLL_CORE_BUS_OF_HART(Hart)

  logic unused_inputs;

  assign unused_inputs = ^{irq_i[31:18], irq_i[0], instr_err, data_err};

  if_xif #(
    .X_NUM_RS  (2),
    .X_ID_WIDTH(IdBits)
  ) xif ();

  assign xif.compressed_ready = 1'b1;
  assign xif.compressed_resp  = '0;
  assign xif.mem_valid        = 1'b0;
  assign xif.mem_req          = '0;

  // Release 0.6.0 of the core forgets to write the result of an instruction that is taken while it cannot
  // go on to the execute stage.
  logic goes_on, taken;
  assign goes_on         = u_core.ex_ready;
  assign xif.issue_ready = taken && goes_on;

  logic accept;
  logic [IdBits-1:0] result_id;
  logic [4:0] result_rd;
  logic [31:0] result_data;

  always_comb begin
    xif.issue_resp           = '0;
    xif.issue_resp.accept    = accept;
    xif.issue_resp.writeback = accept;
    xif.result               = '0;
    xif.result.id            = result_id;
    xif.result.rd            = result_rd;
    xif.result.we            = 1'b1;
    xif.result.data          = result_data;
  end

  atoll_xif_unit #(
    .IdBits(IdBits)
  ) u_unit (
    .clk_i,
    .rst_ni,
    .issue_valid_i  (xif.issue_valid && goes_on),
    .issue_ready_o  (taken),
    .issue_instr_i  (xif.issue_req.instr),
    .issue_id_i     (xif.issue_req.id),
    .issue_rs1_i    (xif.issue_req.rs[0]),
    .issue_rs2_i    (xif.issue_req.rs[1]),
    .issue_accept_o (accept),
    .commit_valid_i (xif.commit_valid),
    .commit_id_i    (xif.commit.id),
    .commit_kill_i  (xif.commit.commit_kill),
    .result_valid_o (xif.result_valid),
    .result_ready_i (xif.result_ready),
    .result_id_o    (result_id),
    .result_rd_o    (result_rd),
    .result_data_o  (result_data),
    .unit_valid_o,
    .unit_ready_i,
    .unit_function_o,
    .unit_a_o,
    .unit_b_o,
    .unit_rvalid_i,
    .unit_rready_o,
    .unit_result_i
  );

  cv32e40x_core #(
    .X_EXT     (1'b1),
    .X_NUM_RS  (2),
    .X_ID_WIDTH(IdBits)
  ) u_core (
    .clk_i,
    .rst_ni,
    .scan_cg_en_i       (!rst_ni),
    .boot_addr_i        (ResetAddress),
    .dm_exception_addr_i('0),
    .dm_halt_addr_i     ('0),
    .mhartid_i          (32'(Hart)),
    .mimpid_patch_i     ('0),
    .mtvec_addr_i       ({ResetAddress[31:8], 8'h00}),
    .instr_req_o        (instr_req),
    .instr_gnt_i        (instr_gnt),
    .instr_rvalid_i     (instr_rvalid),
    .instr_addr_o       (instr_addr),
    .instr_memtype_o    (),
    .instr_prot_o       (),
    .instr_dbg_o        (),
    .instr_rdata_i      (instr_rdata),
    .instr_err_i        (1'b0),
    .data_req_o         (data_req),
    .data_gnt_i         (data_gnt),
    .data_rvalid_i      (data_rvalid),
    .data_addr_o        (data_addr),
    .data_be_o          (data_be),
    .data_we_o          (data_we),
    .data_wdata_o       (data_wdata),
    .data_memtype_o     (),
    .data_prot_o        (),
    .data_dbg_o         (),
    .data_atop_o        (),
    .data_rdata_i       (data_rdata),
    .data_err_i         (1'b0),
    .data_exokay_i      (1'b0),
    .mcycle_o           (),
    .xif_compressed_if  (xif),
    .xif_issue_if       (xif),
    .xif_commit_if      (xif),
    .xif_mem_if         (xif),
    .xif_mem_result_if  (xif),
    .xif_result_if      (xif),
    .irq_i              ({irq_i[17:2], 8'h00, timer, 3'h0, irq_i[1], 3'h0}),
    .wu_wfe_i           (1'b0),
    .clic_irq_i         (1'b0),
    .clic_irq_id_i      ('0),
    .clic_irq_level_i   ('0),
    .clic_irq_priv_i    ('0),
    .clic_irq_shv_i     (1'b0),
    .fencei_flush_req_o (),
    .fencei_flush_ack_i (1'b1),
    .debug_req_i        (1'b0),
    .debug_havereset_o  (),
    .debug_running_o    (),
    .debug_halted_o     (),
    .fetch_enable_i     (1'b1),
    .core_sleep_o       ()
  );

endmodule
