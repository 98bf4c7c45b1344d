// SPDX-License-Identifier: Apache-2.0
// Specification of the queue, with four entries of four bits. Entries are numbered modulo 8, and those of
// one number, any, are watched.
module proof_fifo #(
  parameter int unsigned Depth = 4
) (
  input logic       clk_i,
  input logic       flush_i,
  input logic       push_i,
  input logic [3:0] data_i,
  input logic       pop_i,
  // The number that is watched: the value in the first cycle counts
  input logic [2:0] watched_i
);

  logic rst_n = 1'b0;
  logic valid, full;
  logic [3:0] data;

  atoll_fifo #(
    .Width(4),
    .Depth(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni (rst_n),
    .flush_i,
    .push_i,
    .data_i,
    .pop_i,
    .valid_o(valid),
    .data_o (data),
    .full_o (full)
  );

  // Entries in the queue, numbers of the next one to go in and to come out
  logic [2:0] held_q, in_q, out_q, watched_q;
  logic [3:0] data_q;
  logic pushed_q;

  always_ff @(posedge clk_i) begin
    rst_n    <= 1'b1;
    pushed_q <= rst_n && push_i && !flush_i && held_q == '0;
    if (!rst_n) begin
      watched_q <= watched_i;
      held_q    <= '0;
      in_q      <= '0;
      out_q     <= '0;
    end else begin
      held_q <= flush_i ? '0 : held_q + 3'(push_i) - 3'(pop_i);
      in_q   <= in_q + 3'(push_i && !flush_i);
      out_q  <= flush_i ? in_q : out_q + 3'(pop_i);
      if (push_i && in_q == watched_q) data_q <= data_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // Nothing is appended to a full queue, unless its head is dropped in the same cycle.
      // Asserted: atoll_fifo.NeverOverflows
      no_overflow : assume (!push_i || held_q != 3'(Depth) || pop_i);
      // Nothing is dropped from an empty queue.
      // Asserted: atoll_fifo.NeverUnderflows
      no_underflow : assume (!pop_i || held_q != '0);

      // There is a head if there are more entries in than out: none is lost, doubled or made up.
      none_lost : assert (valid == (held_q != '0));
      // The queue is full if it holds as many entries as it has places.
      full_when_full : assert (full == (held_q == 3'(Depth)));
      // What comes out is what went in, in its order.
      in_order : assert (!(valid && out_q == watched_q) || data == data_q);
      // What goes into an empty queue can come out in the next cycle.
      next_cycle : assert (!pushed_q || valid);
    end
  end

endmodule
