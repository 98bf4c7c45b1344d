// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A memory for benches: an AXI4 slave that answers in every cycle, or rests at random, and judges.
//
// For each word a bench sets how it answers, how slowly, and which bytes may be read and written.
// Counts what was not allowed, and requests that appeared after an error answer.
module engine_memory #(
  // Bytes of a word and of a beat.
  parameter int unsigned DataBytes = 8,
  // Words, a power of two; addresses wrap.
  parameter int unsigned Words = 32768,
  // Cycles from an accepted request to the earliest answer.
  parameter int unsigned Latency = 1
) (
  // Clock and asynchronous reset; the contents are not reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Chance in 256 that a channel rests in a cycle
  input  logic [            7:0] rest_i,
  // Forget that there was an error answer
  input  logic                   forgive_i,
  // Accesses that were not allowed, and requests after an error, since reset
  output logic [           31:0] violations_o,
  output logic [           31:0] late_o,
  // AXI4
  input  logic [           31:0] s_axi_awaddr_i,
  input  logic [            7:0] s_axi_awlen_i,
  input  logic                   s_axi_awvalid_i,
  output logic                   s_axi_awready_o,
  input  logic [DataBytes*8-1:0] s_axi_wdata_i,
  input  logic [  DataBytes-1:0] s_axi_wstrb_i,
  input  logic                   s_axi_wvalid_i,
  output logic                   s_axi_wready_o,
  output logic [            1:0] s_axi_bresp_o,
  output logic                   s_axi_bvalid_o,
  input  logic                   s_axi_bready_i,
  input  logic [           31:0] s_axi_araddr_i,
  input  logic [            7:0] s_axi_arlen_i,
  input  logic                   s_axi_arvalid_i,
  output logic                   s_axi_arready_o,
  output logic [DataBytes*8-1:0] s_axi_rdata_o,
  output logic [            1:0] s_axi_rresp_o,
  output logic                   s_axi_rlast_o,
  output logic                   s_axi_rvalid_o,
  input  logic                   s_axi_rready_i
);

  localparam int unsigned IndexBits = $clog2(Words);
  localparam int unsigned BeatBits = $clog2(DataBytes);

  // What a bench sets: contents, answers (as AXI codes them) and rights.
  logic [DataBytes*8-1:0] data[Words]  /*verilator public_flat_rw*/;
  logic [1:0] answer[Words]  /*verilator public_flat_rw*/;
  logic readable[Words]  /*verilator public_flat_rw*/;
  logic slow[Words]  /*verilator public_flat_rw*/;
  logic [DataBytes-1:0] writable[Words]  /*verilator public_flat_rw*/;

  // Chance in 256 that a beat of a slow word rests.
  localparam logic [7:0] SlowRest = 8'd240;

  // Likewise the chance in 256 that data to write rests, if it is higher than `rest_i`.
  logic [7:0] write_rest  /*verilator public_flat_rw*/ = '0;

  typedef struct packed {
    logic [31:0]          due;
    logic [7:0]           last;
    logic [IndexBits-1:0] index;
  } burst_t;

  typedef struct packed {
    logic [31:0] due;
    logic [1:0]  resp;
  } written_t;

  // Time, and noise: xorshift32
  logic [31:0] time_q, noise_q, noise_a, noise_b;
  logic [3:0] awake;

  assign noise_a = noise_q ^ (noise_q << 13);
  assign noise_b = noise_a ^ (noise_a >> 17);
  for (genvar i = 0; i < 4; i++) begin : gen_awake
    assign awake[i] = noise_q[i*8+:8] >= rest_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q  <= '0;
      noise_q <= 32'h9E37_79B9;
    end else begin
      time_q  <= time_q + 32'd1;
      noise_q <= noise_b ^ (noise_b << 5);
    end
  end

  // Reads
  burst_t ar, read;
  logic ar_full, read_valid, read_beat, read_pop, drowsy, rvalid_q, rlast_q;
  logic [7:0] beat_q;
  logic [IndexBits-1:0] read_index;
  logic [DataBytes*8-1:0] rdata_q;
  logic [1:0] rresp_q;

  assign s_axi_arready_o = awake[0] && !ar_full;
  assign ar = '{
      due: time_q + Latency,
      last: s_axi_arlen_i,
      index: s_axi_araddr_i[BeatBits+:IndexBits]
  };
  assign read_beat = read_valid && awake[1] && !drowsy && time_q >= read.due && (!rvalid_q || s_axi_rready_i);
  assign drowsy = slow[read_index] && noise_q[15:8] < SlowRest;
  assign read_pop = read_beat && beat_q == read.last;
  assign read_index = read.index + IndexBits'(beat_q);

  atoll_fifo #(
    .Width($bits(burst_t)),
    .Depth(16)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (s_axi_arvalid_i && s_axi_arready_o),
    .data_i (ar),
    .pop_i  (read_pop),
    .valid_o(read_valid),
    .data_o (read),
    .full_o (ar_full)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      beat_q   <= '0;
    end else begin
      rvalid_q <= read_beat || (rvalid_q && !s_axi_rready_i);
      if (read_beat) beat_q <= read_pop ? '0 : beat_q + 8'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read_beat) begin
      rdata_q <= data[read_index];
      rresp_q <= answer[read_index];
      rlast_q <= read_pop;
    end
  end

  assign s_axi_rvalid_o = rvalid_q;
  assign s_axi_rdata_o  = rdata_q;
  assign s_axi_rresp_o  = rresp_q;
  assign s_axi_rlast_o  = rlast_q;

  // Writes: single beats, whose address and data may come in any order
  logic aw_valid, aw_full, w_valid, w_full, write, written_valid, written_full, bvalid_q, b_send;
  logic [IndexBits-1:0] aw_index;
  logic [DataBytes*8-1:0] w_data;
  logic [DataBytes-1:0] w_strobe, refused;
  written_t written;
  logic [1:0] bresp_q;

  assign s_axi_awready_o = awake[2] && !aw_full;
  assign s_axi_wready_o = awake[3] && noise_q[31:24] >= write_rest && !w_full;
  assign write = aw_valid && w_valid && !written_full;
  assign refused = w_strobe & ~writable[aw_index];

  atoll_fifo #(
    .Width(IndexBits),
    .Depth(4)
  ) u_addresses (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (s_axi_awvalid_i && s_axi_awready_o),
    .data_i (s_axi_awaddr_i[BeatBits+:IndexBits]),
    .pop_i  (write),
    .valid_o(aw_valid),
    .data_o (aw_index),
    .full_o (aw_full)
  );

  atoll_fifo #(
    .Width(DataBytes * 9),
    .Depth(4)
  ) u_data (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (s_axi_wvalid_i && s_axi_wready_o),
    .data_i ({s_axi_wstrb_i, s_axi_wdata_i}),
    .pop_i  (write),
    .valid_o(w_valid),
    .data_o ({w_strobe, w_data}),
    .full_o (w_full)
  );

  atoll_fifo #(
    .Width($bits(written_t)),
    .Depth(16)
  ) u_written (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (write),
    .data_i ({time_q + Latency, answer[aw_index]}),
    .pop_i  (b_send),
    .valid_o(written_valid),
    .data_o (written),
    .full_o (written_full)
  );

  assign b_send = written_valid && awake[0] && time_q >= written.due
      && (!bvalid_q || s_axi_bready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bvalid_q <= 1'b0;
    else bvalid_q <= b_send || (bvalid_q && !s_axi_bready_i);
  end

  always_ff @(posedge clk_i) begin
    if (b_send) bresp_q <= written.resp;
    if (write) begin
      for (int i = 0; i < DataBytes; i++) begin
        if (w_strobe[i]) data[aw_index][i*8+:8] <= w_data[i*8+:8];
      end
    end
  end

  assign s_axi_bvalid_o = bvalid_q;
  assign s_axi_bresp_o  = bresp_q;

  // Judgement
  logic failed, failed_q, arvalid_q, awvalid_q;

  assign failed = (rvalid_q && s_axi_rready_i && rresp_q[1])
      || (bvalid_q && s_axi_bready_i && bresp_q[1]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      failed_q     <= 1'b0;
      arvalid_q    <= 1'b0;
      awvalid_q    <= 1'b0;
      violations_o <= '0;
      late_o       <= '0;
    end else begin
      failed_q  <= !forgive_i && (failed_q || failed);
      arvalid_q <= s_axi_arvalid_i && !s_axi_arready_o;
      awvalid_q <= s_axi_awvalid_i && !s_axi_awready_o;
      if (read_beat && !readable[read_index]) violations_o <= violations_o + 32'd1;
      if (write && |refused) violations_o <= violations_o + 32'd1;
      if (failed_q && ((s_axi_arvalid_i && !arvalid_q) || (s_axi_awvalid_i && !awvalid_q)))
        late_o <= late_o + 32'd1;
    end
  end

  `ATOLL_ASSERT_IF(OnlySingleWrites, s_axi_awvalid_i, s_axi_awlen_i == 0)

  logic unused;
  assign unused = ^{s_axi_araddr_i, s_axi_awaddr_i};
endmodule
