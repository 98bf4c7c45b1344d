// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_core.svh"

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
  `ATOLL_CORE_PORTS(DataBytes)
);

  `ATOLL_CORE_BUS

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

endmodule
