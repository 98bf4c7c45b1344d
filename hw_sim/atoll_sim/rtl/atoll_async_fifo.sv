// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A first-in first-out queue between two clocks, whose head is visible without a pop.
//
// Each side tells the other how far it is in a Gray code, so that a number that changes while it is
// caught is the old one or the new one. What it tells arrives late: the queue may seem full or empty
// for some cycles longer than it is, never shorter.
module atoll_async_fifo #(
  // Bits of an entry.
  parameter int unsigned Width = 8,
  // Entries, a power of two of at least 2.
  parameter int unsigned Depth = 4
) (
  // Clock and asynchronous reset of what is appended; both resets begin together
  input  logic             push_clk_i,
  input  logic             push_rst_ni,
  // Append `data_i`; only when not full
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  // No space for another entry
  output logic             full_o,
  // Clock and asynchronous reset of what is taken
  input  logic             pop_clk_i,
  input  logic             pop_rst_ni,
  // Drop the head; only when not empty
  input  logic             pop_i,
  // The head, if `valid_o`
  output logic             valid_o,
  output logic [Width-1:0] data_o
);

  `ATOLL_ASSERT_INIT(SomeBit, Width >= 1)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned IndexBits = $clog2(Depth);
  localparam int unsigned CountBits = IndexBits + 1;

  // Entries pushed and popped, modulo twice the depth, and what the other side knows of them.
  logic [CountBits-1:0] pushed_d, pushed_q, popped_d, popped_q;
  logic [CountBits-1:0] pushed_gray, popped_gray, pushed_seen, popped_seen;
  logic [Width-1:0] entries_q[Depth];

  function automatic logic [CountBits-1:0] gray(logic [CountBits-1:0] number);
    return number ^ (number >> 1);
  endfunction

  assign pushed_d    = pushed_q + CountBits'(push_i);
  assign popped_d    = popped_q + CountBits'(pop_i);
  assign pushed_gray = gray(pushed_d);
  assign popped_gray = gray(popped_d);

  // In the code, numbers that lie the depth apart differ in the two highest bits.
  assign full_o  = gray(pushed_q) == (popped_seen ^ (CountBits'(3) << (CountBits - 2)));
  assign valid_o = gray(popped_q) != pushed_seen;
  assign data_o  = entries_q[popped_q[IndexBits-1:0]];

  always_ff @(posedge push_clk_i or negedge push_rst_ni) begin
    if (!push_rst_ni) pushed_q <= '0;
    else pushed_q <= pushed_d;
  end

  always_ff @(posedge push_clk_i) begin
    if (push_i) entries_q[pushed_q[IndexBits-1:0]] <= data_i;
  end

  always_ff @(posedge pop_clk_i or negedge pop_rst_ni) begin
    if (!pop_rst_ni) popped_q <= '0;
    else popped_q <= popped_d;
  end

  atoll_synchroniser #(
    .Width(CountBits)
  ) u_pushed (
    .src_clk_i (push_clk_i),
    .src_rst_ni(push_rst_ni),
    .level_i   (pushed_gray),
    .dst_clk_i (pop_clk_i),
    .dst_rst_ni(pop_rst_ni),
    .level_o   (pushed_seen)
  );

  atoll_synchroniser #(
    .Width(CountBits)
  ) u_popped (
    .src_clk_i (pop_clk_i),
    .src_rst_ni(pop_rst_ni),
    .level_i   (popped_gray),
    .dst_clk_i (push_clk_i),
    .dst_rst_ni(push_rst_ni),
    .level_o   (popped_seen)
  );

  `ATOLL_ASSERT_KNOWN_AT(KnownFull, push_clk_i, push_rst_ni, full_o)
  `ATOLL_ASSERT_KNOWN_AT(KnownValid, pop_clk_i, pop_rst_ni, valid_o)
  `ATOLL_ASSERT_IF_AT(NeverOverflows, push_clk_i, push_rst_ni, push_i, !full_o)
  `ATOLL_ASSERT_IF_AT(NeverUnderflows, pop_clk_i, pop_rst_ni, pop_i, valid_o)
  `ATOLL_ASSERT_AT(OneBitPerPush, push_clk_i, push_rst_ni, $onehot0(pushed_gray ^ gray(pushed_q)))
  `ATOLL_ASSERT_AT(OneBitPerPop, pop_clk_i, pop_rst_ni, $onehot0(popped_gray ^ gray(popped_q)))
  `ATOLL_ASSERT_HELD_AT(HeadStays, pop_clk_i, pop_rst_ni, valid_o && !pop_i, valid_o, data_o)

endmodule
