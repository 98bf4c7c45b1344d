// SPDX-License-Identifier: Apache-2.0
// Two masters, each with its demux, before two memories of different speed.
module atoll_crossbar_bench
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes   = 8,
  // Bytes that a bank of the first memory moves per cycle.
  parameter int unsigned WordBytes   = 4,
  // Banks of the first memory.
  parameter int unsigned NumBanks    = 2,
  // Cycles of the first memory.
  parameter int unsigned ReadLatency = 1,
  // Cycles after which a silent memory is given up.
  parameter int unsigned TimeoutCycles = 128
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // First master
  input  logic                   a_valid_i,
  output logic                   a_ready_o,
  input  logic                   a_we_i,
  input  logic [           31:0] a_addr_i,
  input  logic [8*DataBytes-1:0] a_wdata_i,
  input  logic [  DataBytes-1:0] a_be_i,
  output logic                   a_rvalid_o,
  output logic [8*DataBytes-1:0] a_rdata_o,
  output logic [            1:0] a_resp_o,
  // Second master
  input  logic                   b_valid_i,
  output logic                   b_ready_o,
  input  logic                   b_we_i,
  input  logic [           31:0] b_addr_i,
  input  logic [8*DataBytes-1:0] b_wdata_i,
  input  logic [  DataBytes-1:0] b_be_i,
  output logic                   b_rvalid_o,
  output logic [8*DataBytes-1:0] b_rdata_o,
  output logic [            1:0] b_resp_o,
  // The first memory takes nothing, or does not answer
  input  logic                   deaf_i,
  input  logic                   mute_i
);

  // The first memory is a ram, the second a slow rom.
  localparam logic [31:0] RAM = 32'h2000_0000;
  localparam logic [31:0] ROM = 32'h0000_0000;
  localparam int unsigned SIZE = 4096;
  localparam window_t [1:0] TARGETS = {
    {ROM, ROM + SIZE - 32'd1}, {RAM, RAM + SIZE - 32'd1}
  };

  logic [1:0] ram_valid, ram_ready, ram_rvalid, rom_valid, rom_ready, rom_rvalid;
  logic [1:0][8*DataBytes-1:0] ram_rdata, rom_rdata;
  logic [1:0][1:0] ram_resp, rom_resp;
  resp_e a_resp, b_resp;

  assign a_resp_o = a_resp;
  assign b_resp_o = b_resp;

  atoll_demux #(
    .DataBytes (DataBytes),
    .NumTargets(2),
    .TimeoutCycles(TimeoutCycles)
  ) u_a (
    .clk_i,
    .rst_ni,
    .targets_i   (TARGETS),
    .mst_valid_i (a_valid_i),
    .mst_ready_o (a_ready_o),
    .mst_addr_i  (a_addr_i),
    .mst_rvalid_o(a_rvalid_o),
    .mst_rdata_o (a_rdata_o),
    .mst_resp_o  (a_resp),
    .tgt_valid_o ({rom_valid[0], ram_valid[0]}),
    .tgt_ready_i ({rom_ready[0], ram_ready[0] && !deaf_i}),
    .tgt_rvalid_i({rom_rvalid[0], ram_rvalid[0] && !mute_i}),
    .tgt_rdata_i ({rom_rdata[0], ram_rdata[0]}),
    .tgt_resp_i  ({rom_resp[0], ram_resp[0]})
  );

  atoll_demux #(
    .DataBytes (DataBytes),
    .NumTargets(2),
    .TimeoutCycles(TimeoutCycles)
  ) u_b (
    .clk_i,
    .rst_ni,
    .targets_i   (TARGETS),
    .mst_valid_i (b_valid_i),
    .mst_ready_o (b_ready_o),
    .mst_addr_i  (b_addr_i),
    .mst_rvalid_o(b_rvalid_o),
    .mst_rdata_o (b_rdata_o),
    .mst_resp_o  (b_resp),
    .tgt_valid_o ({rom_valid[1], ram_valid[1]}),
    .tgt_ready_i ({rom_ready[1], ram_ready[1] && !deaf_i}),
    .tgt_rvalid_i({rom_rvalid[1], ram_rvalid[1] && !mute_i}),
    .tgt_rdata_i ({rom_rdata[1], ram_rdata[1]}),
    .tgt_resp_i  ({rom_resp[1], ram_resp[1]})
  );

  atoll_memory #(
    .DataBytes  (DataBytes),
    .NumPorts   (2),
    .SizeBytes  (SIZE),
    .WordBytes  (WordBytes),
    .NumBanks   (NumBanks),
    .ReadLatency(ReadLatency)
  ) u_ram (
    .clk_i,
    .rst_ni,
    .origin_i(RAM),
    .valid_i (ram_valid & ~{2{deaf_i}}),
    .ready_o (ram_ready),
    .we_i    ({b_we_i, a_we_i}),
    .addr_i  ({b_addr_i, a_addr_i}),
    .wdata_i ({b_wdata_i, a_wdata_i}),
    .be_i    ({b_be_i, a_be_i}),
    .rvalid_o(ram_rvalid),
    .rdata_o (ram_rdata),
    .resp_o  (ram_resp)
  );

  atoll_memory #(
    .DataBytes  (DataBytes),
    .NumPorts   (2),
    .SizeBytes  (SIZE),
    .WordBytes  (4),
    .ReadLatency(5),
    .Writable   (1'b0)
  ) u_rom (
    .clk_i,
    .rst_ni,
    .origin_i(ROM),
    .valid_i (rom_valid),
    .ready_o (rom_ready),
    .we_i    ({b_we_i, a_we_i}),
    .addr_i  ({b_addr_i, a_addr_i}),
    .wdata_i ({b_wdata_i, a_wdata_i}),
    .be_i    ({b_be_i, a_be_i}),
    .rvalid_o(rom_rvalid),
    .rdata_o (rom_rdata),
    .resp_o  (rom_resp)
  );

endmodule
