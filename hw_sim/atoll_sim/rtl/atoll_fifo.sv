// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A first-in first-out queue whose head is visible without a pop.
//
// What goes in can come out in the next cycle.
module atoll_fifo #(
  // Bits of an entry.
  parameter int unsigned Width = 8,
  // Entries, a power of two of at least 2.
  parameter int unsigned Depth = 4
) (
  // Clock and asynchronous reset
  input  logic             clk_i,
  input  logic             rst_ni,
  // Forget all entries
  input  logic             flush_i,
  // Append `data_i`; only when not full, or full and popped in the same cycle
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  // Drop the head; only when not empty
  input  logic             pop_i,
  // The head, if `valid_o`
  output logic             valid_o,
  output logic [Width-1:0] data_o,
  // No space for another entry
  output logic             full_o
);

  `ATOLL_ASSERT_INIT(SomeBit, Width >= 1)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned IndexBits = $clog2(Depth);

  // Entries pushed and popped, modulo twice the depth.
  logic [IndexBits:0] pushed_q, popped_q;
  logic [Width-1:0] entries_q[Depth];

  assign valid_o = pushed_q != popped_q;
  assign full_o  = pushed_q == (popped_q ^ (IndexBits + 1)'(Depth));
  assign data_o  = entries_q[popped_q[IndexBits-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else if (flush_i) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else begin
      if (push_i) pushed_q <= pushed_q + (IndexBits + 1)'(1);
      if (pop_i) popped_q <= popped_q + (IndexBits + 1)'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) entries_q[pushed_q[IndexBits-1:0]] <= data_i;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, full_o})
  `ATOLL_ASSERT_IF(NeverOverflows, push_i, !full_o || pop_i)
  `ATOLL_ASSERT_IF(NeverUnderflows, pop_i, valid_o)

endmodule
