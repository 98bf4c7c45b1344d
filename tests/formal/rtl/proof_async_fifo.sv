// SPDX-License-Identifier: Apache-2.0
// Specification of the queue between two clocks, with two entries of one bit. Both clocks are free: each may
// have an edge in any step, or none. Entries are numbered modulo 8, and those of one number, any, are watched.
module proof_async_fifo #(
  parameter int unsigned Depth = 2
) (
  input logic       push_clk_i,
  input logic       pop_clk_i,
  input logic       push_i,
  input logic       data_i,
  input logic       pop_i,
  // The number that is watched: the value at the first edge counts
  input logic [2:0] watched_i
);

  logic push_rst_n = 1'b0;
  logic pop_rst_n = 1'b0;
  logic pushes, pops, full, valid, data;

  // Both resets begin together, and each ends with its own clock.
  always_ff @(posedge push_clk_i) push_rst_n <= 1'b1;
  always_ff @(posedge pop_clk_i) pop_rst_n <= 1'b1;

  // A side appends only when the queue is not full, and drops only a head that is there.
  assign pushes = push_i && !full && push_rst_n;
  assign pops   = pop_i && valid && pop_rst_n;

  atoll_async_fifo #(
    .Width(1),
    .Depth(Depth)
  ) u_dut (
    .push_clk_i,
    .push_rst_ni(push_rst_n),
    .push_i     (pushes),
    .data_i,
    .full_o     (full),
    .pop_clk_i,
    .pop_rst_ni (pop_rst_n),
    .pop_i      (pops),
    .valid_o    (valid),
    .data_o     (data)
  );

  logic [2:0] in_q, out_q, watched_q;
  logic data_q, head_q, stays_q;

  always_ff @(posedge push_clk_i) begin
    if (!push_rst_n) begin
      watched_q <= watched_i;
      in_q      <= '0;
    end else if (pushes) begin
      in_q <= in_q + 3'd1;
      if (in_q == watched_q) data_q <= data_i;
    end
  end

  always_ff @(posedge pop_clk_i) begin
    stays_q <= pop_rst_n && valid && !pops;
    head_q  <= data;
    if (!pop_rst_n) out_q <= '0;
    else if (pops) out_q <= out_q + 3'd1;
  end

  always_ff @(posedge pop_clk_i) begin
    if (pop_rst_n && push_rst_n) begin
      // A head is one that was appended and not dropped: none is made up or doubled.
      none_made_up : assert (!valid || in_q != out_q);
      // What comes out is what went in, in its order.
      in_order : assert (!(valid && out_q == watched_q) || data == data_q);
      // A head stays until it is dropped.
      head_stays : assert (!stays_q || (valid && data == head_q));
    end
  end

  always_ff @(posedge push_clk_i) begin
    if (push_rst_n && pop_rst_n) begin
      // Never more entries are in the queue than there are places: none is overwritten.
      places : assert (3'(in_q - out_q) <= 3'(Depth));
    end
  end

  // Edges of a clock in which it saw nothing new of the other side, up to three
  logic [1:0] push_quiet_q, pop_quiet_q;
  logic [2:0] out_seen_q, in_seen_q;
  logic running, nothing_in, nothing_out;

  assign running     = push_rst_n && pop_rst_n;
  assign nothing_in  = in_seen_q == in_q && pop_quiet_q == 2'd3;
  assign nothing_out = out_seen_q == out_q && push_quiet_q == 2'd3;

  always_ff @(posedge pop_clk_i) begin
    in_seen_q   <= in_q;
    pop_quiet_q <= !running || in_seen_q != in_q ? '0 : pop_quiet_q + 2'(pop_quiet_q != 2'd3);
  end

  always_ff @(posedge push_clk_i) begin
    out_seen_q   <= out_q;
    push_quiet_q <= !running || out_seen_q != out_q ? '0 : push_quiet_q + 2'(push_quiet_q != 2'd3);
  end

  always_ff @(posedge pop_clk_i) begin
    if (running) begin
      // An entry is there after five edges of this clock at most: none is lost.
      arrives : assert (!nothing_in || valid == (in_q != out_q));
    end
  end

  always_ff @(posedge push_clk_i) begin
    if (running) begin
      // A place is free after five edges of this clock at most.
      frees : assert (!nothing_out || full == (3'(in_q - out_q) == 3'(Depth)));
    end
  end

endmodule
