// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Reads runs of bytes over AXI4 and queues the beats that hold them, in order.
//
// A run of any alignment becomes whole beats: INCR bursts of at most 16 that never cross 4 KiB.
// Several bursts are outstanding; each reserves queue space first, so data is never refused.
module engine_reader
  import engine_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Beats queued or under way, a power of two of at least 16.
  parameter int unsigned QueueBeats = 32,
  // Bursts under way, a power of two.
  parameter int unsigned Bursts = 16
) (
  // Clock and asynchronous reset
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Issue nothing new; the address on the bus stays
  input  logic                     halt_i,
  // Forget runs and beats, and drop what still arrives; only while halted
  input  logic                     flush_i,
  // Runs to read; a run of 0 bytes reads nothing
  input  logic                     run_valid_i,
  output logic                     run_ready_o,
  input  logic   [           31:0] run_address_i,
  input  logic   [           31:0] run_bytes_i,
  // Head of the queue of beats
  output logic                     beat_valid_o,
  output logic   [DataBytes*8-1:0] beat_data_o,
  input  logic                     beat_pop_i,
  // An error answer in this cycle
  output fault_t                   fault_o,
  // Nothing is outstanding on the bus
  output logic                     idle_o,
  // Could request a burst; it may, where several readers share the bus
  output logic                     want_o,
  input  logic                     grant_i,
  // AXI4 read channels
  output read_req_t                read_req_o,
  input  read_rsp_t                read_rsp_i,
  input  logic   [DataBytes*8-1:0] rdata_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 2)
  `ATOLL_ASSERT_INIT(LegalQueue, $onehot(QueueBeats) && QueueBeats >= 16)
  `ATOLL_ASSERT_INIT(LegalBursts, $onehot(Bursts) && Bursts >= 2)

  localparam int unsigned BeatBits = $clog2(DataBytes);
  localparam int unsigned IndexBits = 32 - BeatBits;
  localparam int unsigned PageBits = 12 - BeatBits;
  localparam int unsigned ReserveBits = $clog2(QueueBeats) + 1;
  localparam logic [4:0] BurstBeats = 5'd16;

  // What is left of the current run, in beats.
  logic [IndexBits-1:0] index_q;
  logic [IndexBits:0] beats_q;
  // The next burst
  logic [PageBits:0] to_page_end;
  logic [4:0] burst;
  logic issue, take;
  // Space that bursts and queued beats occupy
  logic [ReserveBits-1:0] reserved_q;

  logic arvalid_q;
  logic [IndexBits-1:0] arindex_q;
  logic [3:0] arlen_q;

  logic burst_valid, bursts_full;
  logic [IndexBits-1:0] burst_index;
  logic [3:0] beat_q;
  logic beat;

  assign to_page_end = (PageBits + 1)'(1 << PageBits) - {1'b0, index_q[PageBits-1:0]};
  always_comb begin
    burst = BurstBeats;
    if (to_page_end < (PageBits + 1)'(burst)) burst = 5'(to_page_end);
    if (beats_q < (IndexBits + 1)'(burst)) burst = 5'(beats_q);
  end

  assign want_o = beats_q != 0 && !halt_i && !bursts_full && (!arvalid_q || read_rsp_i.arready)
      && reserved_q + ReserveBits'(burst) <= ReserveBits'(QueueBeats);
  assign issue = want_o && grant_i;
  assign run_ready_o = beats_q == 0 || (issue && beats_q == (IndexBits + 1)'(burst));
  assign take = run_valid_i && run_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      index_q <= '0;
      beats_q <= '0;
    end else if (flush_i) begin
      beats_q <= '0;
    end else if (take) begin
      index_q <= run_address_i[31:BeatBits];
      beats_q <= run_bytes_i == 0 ? '0 : (IndexBits + 1)'(
          (33'(run_address_i[BeatBits-1:0]) + 33'(run_bytes_i) + 33'(DataBytes - 1)) >> BeatBits);
    end else if (issue) begin
      index_q <= index_q + IndexBits'(burst);
      beats_q <= beats_q - (IndexBits + 1)'(burst);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      arvalid_q  <= 1'b0;
      arindex_q  <= '0;
      arlen_q    <= '0;
      reserved_q <= '0;
    end else begin
      if (issue) begin
        arvalid_q <= 1'b1;
        arindex_q <= index_q;
        arlen_q   <= 4'(burst - 5'd1);
      end else if (read_rsp_i.arready) begin
        arvalid_q <= 1'b0;
      end
      if (flush_i) reserved_q <= '0;
      else reserved_q <= reserved_q + (issue ? ReserveBits'(burst) : '0) - ReserveBits'(beat_pop_i);
    end
  end

  assign read_req_o.araddr = {arindex_q, BeatBits'(0)};
  assign read_req_o.arlen = {4'b0, arlen_q};
  assign read_req_o.arsize = 3'(BeatBits);
  assign read_req_o.arburst = 2'b01;
  assign read_req_o.arvalid = arvalid_q;
  assign read_req_o.rready = burst_valid;

  assign beat = read_rsp_i.rvalid && read_req_o.rready;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (beat) beat_q <= read_rsp_i.rlast ? '0 : beat_q + 4'd1;
  end

  assign fault_o.valid   = beat && read_rsp_i.rresp[1];
  assign fault_o.error   = response_error(read_rsp_i.rresp, ErrReadSlave, ErrReadDecode);
  assign fault_o.address = {burst_index + IndexBits'(beat_q), BeatBits'(0)};
  assign idle_o          = !burst_valid;

  atoll_fifo #(
    .Width(IndexBits),
    .Depth(Bursts)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (issue),
    .data_i (index_q),
    .pop_i  (beat && read_rsp_i.rlast),
    .valid_o(burst_valid),
    .data_o (burst_index),
    .full_o (bursts_full)
  );

  logic queue_full;

  atoll_fifo #(
    .Width(DataBytes * 8),
    .Depth(QueueBeats)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (beat && !flush_i),
    .data_i (rdata_i),
    .pop_i  (beat_pop_i),
    .valid_o(beat_valid_o),
    .data_o (beat_data_o),
    .full_o (queue_full)
  );

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {run_ready_o, beat_valid_o, idle_o, read_req_o.arvalid, read_req_o.rready})
  `ATOLL_ASSERT(NeverRefusesABeat, !(beat && !flush_i && queue_full))
  `ATOLL_ASSERT_IF(NeverCrossesAPage,
      arvalid_q, 32'(arindex_q[PageBits-1:0]) + 32'(arlen_q) < (1 << PageBits))
  `ATOLL_ASSERT_HELD(AddressIsHeld, arvalid_q && !read_rsp_i.arready, arvalid_q, {arindex_q, arlen_q})
  `ATOLL_ASSERT_IF(OnlyFlushesWhenHalted, flush_i, halt_i)

endmodule
