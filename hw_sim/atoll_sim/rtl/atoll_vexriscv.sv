// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A VexRiscv core on the system bus: five stages, an instruction cache of 2 KiB, no data cache.
//
// The core loads whole words, of which it keeps the bytes that the instruction asks for. Only in
// simulation are just those asked for, so that every byte is watched. Its data port has no bus
// error: a failed load reads 0, a failed store is lost; what it fetches may not fail unseen either,
// as an all-zero instruction is illegal.
module atoll_vexriscv
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

  logic instr_req, instr_gnt, instr_rvalid, instr_err;
  logic data_req, data_gnt, data_we, data_rvalid, data_err, timer;
  logic [31:0] instr_addr, instr_rdata, data_addr, data_wdata, data_rdata;
  logic [3:0] data_be;
  logic instr_stb, data_stb, instr_sent_q, data_sent_q, unused_errors;
  logic [29:0] instr_word, data_word;
  logic [3:0] data_lanes;

  assign unused_errors = ^{instr_err, data_err};

  // Wishbone repeats a request until its answer; OBI has it taken once.
  assign instr_req  = instr_stb && !instr_sent_q;
  assign instr_addr = {instr_word, 2'b00};
  assign data_req   = data_stb && !data_sent_q;
  assign data_addr  = {data_word, 2'b00};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      instr_sent_q <= 1'b0;
      data_sent_q  <= 1'b0;
    end else begin
      instr_sent_q <= instr_req && instr_gnt || instr_sent_q && !instr_rvalid;
      data_sent_q  <= data_req && data_gnt || data_sent_q && !data_rvalid;
    end
  end

  VexRiscv u_core (
    .clk                   (clk_i),
    .reset                 (!rst_ni),
    .externalResetVector   (ResetAddress),
    .timerInterrupt        (timer),
    .softwareInterrupt     (1'b0),
    .externalInterruptArray(irq_i),
    .iBusWishbone_CYC      (),
    .iBusWishbone_STB      (instr_stb),
    .iBusWishbone_ACK      (instr_rvalid),
    .iBusWishbone_WE       (),
    .iBusWishbone_ADR      (instr_word),
    .iBusWishbone_DAT_MISO (instr_rdata),
    .iBusWishbone_DAT_MOSI (),
    .iBusWishbone_SEL      (),
    .iBusWishbone_ERR      (1'b0),
    .iBusWishbone_CTI      (),
    .iBusWishbone_BTE      (),
    .dBusWishbone_CYC      (),
    .dBusWishbone_STB      (data_stb),
    .dBusWishbone_ACK      (data_rvalid),
    .dBusWishbone_WE       (data_we),
    .dBusWishbone_ADR      (data_word),
    .dBusWishbone_DAT_MISO (data_rdata),
    .dBusWishbone_DAT_MOSI (data_wdata),
    .dBusWishbone_SEL      (data_lanes),
    .dBusWishbone_ERR      (1'b0),
    .dBusWishbone_CTI      (),
    .dBusWishbone_BTE      ()
  );

`ifdef SYNTHESIS
  assign data_be = data_lanes;
`else
  logic [3:0] loaded;
  assign loaded  = u_core._zz_dBusWishbone_SEL << u_core.dBus_cmd_halfPipe_payload_address[1:0];
  assign data_be = data_we ? data_lanes : loaded;
`endif

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
