// SPDX-License-Identifier: Apache-2.0
// What adapters of cores have in common: their ports (docs/extending.md), and the way to the system bus.
`ifndef ATOLL_CORE_SVH
`define ATOLL_CORE_SVH

// Clock and asynchronous reset; request, whether it is an instruction fetch, and answer; level
// interrupts; the core says that it stands still for good
`define ATOLL_CORE_PORTS(DataBytes) \
  input  logic                   clk_i, \
  input  logic                   rst_ni, \
  output logic                   valid_o, \
  input  logic                   ready_i, \
  output logic                   we_o, \
  output logic [           31:0] addr_o, \
  output logic [8*DataBytes-1:0] wdata_o, \
  output logic [  DataBytes-1:0] be_o, \
  output logic                   instr_o, \
  input  logic                   rvalid_i, \
  input  logic [8*DataBytes-1:0] rdata_i, \
  input  logic                   err_i, \
  input  logic [           31:0] irq_i, \
  output logic                   trap_o

// These, and those to a function unit: a request, which keeps its payload until it is taken, with the
// function (custom opcode 0 to 3, funct7, funct3) and the registers rs1 and rs2; the answer, kept likewise
`define ATOLL_CORE_AND_UNIT_PORTS(DataBytes) \
  output logic                   unit_valid_o, \
  input  logic                   unit_ready_i, \
  output logic [           11:0] unit_function_o, \
  output logic [           31:0] unit_a_o, \
  output logic [           31:0] unit_b_o, \
  input  logic                   unit_rvalid_i, \
  output logic                   unit_rready_o, \
  input  logic [           31:0] unit_result_i, \
  `ATOLL_CORE_PORTS(DataBytes)

// The signals of a core's two OBI ports, `instr_` and `data_`, and its `timer`, on the system bus by
// `atoll_core_bus`. The adapter has parameters `DataBytes` and `LocalOrigin`.
`define ATOLL_CORE_BUS `ATOLL_CORE_BUS_OF(1'b0, 0)

// Likewise, of a core with the number `Hart`, which has the comparator and the software interrupt of that
// number; the latter is line 1.
`define ATOLL_CORE_BUS_OF_HART(Hart) `ATOLL_CORE_BUS_OF(1'b1, Hart)

`define ATOLL_CORE_BUS_OF(SharesMsipValue, HartValue) \
  logic instr_req, instr_gnt, instr_rvalid, instr_err; \
  logic data_req, data_gnt, data_we, data_rvalid, data_err, timer; \
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata; \
  logic [3:0] data_be; \
  atoll_core_bus #( \
    .DataBytes  (DataBytes), \
    .LocalOrigin(LocalOrigin), \
    .SharesMsip (SharesMsipValue), \
    .Hart       (HartValue) \
  ) u_bus ( \
    .clk_i, \
    .rst_ni, \
    .instr_req_i   (instr_req), \
    .instr_gnt_o   (instr_gnt), \
    .instr_addr_i  (instr_addr), \
    .instr_rvalid_o(instr_rvalid), \
    .instr_rdata_o (instr_rdata), \
    .instr_err_o   (instr_err), \
    .data_req_i    (data_req), \
    .data_gnt_o    (data_gnt), \
    .data_we_i     (data_we), \
    .data_be_i     (data_be), \
    .data_addr_i   (data_addr), \
    .data_wdata_i  (data_wdata), \
    .data_rvalid_o (data_rvalid), \
    .data_rdata_o  (data_rdata), \
    .data_err_o    (data_err), \
    .valid_o, \
    .ready_i, \
    .we_o, \
    .addr_o, \
    .wdata_o, \
    .be_o, \
    .instr_o, \
    .rvalid_i, \
    .rdata_i, \
    .err_i, \
    .timer_o       (timer), \
    .halted_o      (trap_o) \
  );

`endif
