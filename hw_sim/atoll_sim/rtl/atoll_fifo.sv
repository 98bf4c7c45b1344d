`include "atoll_assert.svh"

// A first-in first-out queue; what goes in can come out in the next cycle.
module atoll_fifo #(
  // Bits of an entry.
  parameter int unsigned Width     = 8,
  // Entries, a power of two.
  parameter int unsigned Depth     = 4,
  // Bits of a count of entries.
  localparam int unsigned CountBits = $clog2(Depth) + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Entry to add; never while full
  input  logic                 push_i,
  input  logic [    Width-1:0] data_i,
  // Oldest entry, valid while not empty
  output logic [    Width-1:0] data_o,
  // Drop the oldest entry; never while empty
  input  logic                 pop_i,
  // Entries held
  output logic [CountBits-1:0] count_o
);

  localparam int unsigned IndexBits = $clog2(Depth);

  logic [Width-1:0] entries_q[Depth];
  logic [CountBits-1:0] pushed_q, popped_q;

  assign count_o = pushed_q - popped_q;
  assign data_o  = entries_q[popped_q[IndexBits-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else begin
      pushed_q <= pushed_q + CountBits'(push_i);
      popped_q <= popped_q + CountBits'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) entries_q[pushed_q[IndexBits-1:0]] <= data_i;
  end

  `ATOLL_ASSERT(NeverPushWhenFull, push_i |-> count_o != CountBits'(Depth))
  `ATOLL_ASSERT(NeverPopWhenEmpty, pop_i |-> count_o != '0)

endmodule
