`include "atoll_assert.svh"

// Queue whose head is visible without a pop.
module reef_fifo #(
  // Bits of one entry.
  parameter int unsigned Width = 8,
  // Entries, a power of two.
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

  localparam int unsigned IndexBits = $clog2(Depth);

  logic [Width-1:0] entries[Depth];
  logic [IndexBits-1:0] read_q, write_q;
  logic [IndexBits:0] count_q;

  assign valid_o = count_q != 0;
  assign full_o  = count_q == (IndexBits + 1)'(Depth);
  assign data_o  = entries[read_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= '0;
      write_q <= '0;
      count_q <= '0;
    end else if (flush_i) begin
      read_q  <= '0;
      write_q <= '0;
      count_q <= '0;
    end else begin
      read_q  <= read_q + IndexBits'(pop_i);
      write_q <= write_q + IndexBits'(push_i);
      count_q <= count_q + (IndexBits + 1)'(push_i) - (IndexBits + 1)'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) entries[write_q] <= data_i;
  end

  `ATOLL_ASSERT(NeverOverflows, push_i |-> !full_o || pop_i)
  `ATOLL_ASSERT(NeverUnderflows, pop_i |-> valid_o)

endmodule
