// SPDX-License-Identifier: Apache-2.0
// Specification of the crossing between two clocks, with requests and answers of one bit, two under way.
// Both clocks are free: each may have an edge in any step, or none. Requests are numbered modulo 8, and
// those of one number, any, are watched.
module proof_bus_crossing #(
  parameter int unsigned Depth = 2
) (
  input logic       mst_clk_i,
  input logic       bus_clk_i,
  input logic       mst_valid_i,
  input logic       mst_request_i,
  input logic       bus_ready_i,
  input logic       bus_rvalid_i,
  input logic       bus_answer_i,
  // The number that is watched: the value at the first edge counts
  input logic [2:0] watched_i
);

  logic mst_rst_n = 1'b0;
  logic bus_rst_n = 1'b0;
  logic mst_ready, mst_rvalid, mst_answer, bus_valid, bus_request, asks, answers;

  // Both resets begin together, and each ends with its own clock.
  always_ff @(posedge mst_clk_i) mst_rst_n <= 1'b1;
  always_ff @(posedge bus_clk_i) bus_rst_n <= 1'b1;

  assign asks    = mst_valid_i && mst_rst_n;
  assign answers = bus_rvalid_i && bus_rst_n;

  atoll_bus_crossing #(
    .RequestBits(1),
    .AnswerBits (1),
    .Depth      (Depth)
  ) u_dut (
    .mst_clk_i,
    .mst_rst_ni   (mst_rst_n),
    .mst_valid_i  (asks),
    .mst_ready_o  (mst_ready),
    .mst_request_i,
    .mst_rvalid_o (mst_rvalid),
    .mst_answer_o (mst_answer),
    .bus_clk_i,
    .bus_rst_ni   (bus_rst_n),
    .bus_valid_o  (bus_valid),
    .bus_ready_i,
    .bus_request_o(bus_request),
    .bus_rvalid_i (answers),
    .bus_answer_i
  );

  // Numbers of the next request of the master, at the bus, of its answer there and at the master
  logic [2:0] asked_q, taken_q, answered_q, done_q, watched_q;
  logic request_q, answer_q, stays_q, shown_q;

  always_ff @(posedge mst_clk_i) begin
    if (!mst_rst_n) begin
      watched_q <= watched_i;
      asked_q   <= '0;
      done_q    <= '0;
    end else begin
      if (asks && mst_ready) asked_q <= asked_q + 3'd1;
      if (asks && mst_ready && asked_q == watched_q) request_q <= mst_request_i;
      if (mst_rvalid) done_q <= done_q + 3'd1;
    end
  end

  always_ff @(posedge bus_clk_i) begin
    stays_q <= bus_rst_n && bus_valid && !bus_ready_i;
    shown_q <= bus_request;
    if (!bus_rst_n) begin
      taken_q    <= '0;
      answered_q <= '0;
    end else begin
      if (bus_valid && bus_ready_i) taken_q <= taken_q + 3'd1;
      if (answers) answered_q <= answered_q + 3'd1;
      if (answers && answered_q == watched_q) answer_q <= bus_answer_i;
    end
  end

  always_ff @(posedge bus_clk_i) begin
    if (bus_rst_n) begin
      // The bus answers only what it took, a cycle later or more.
      // Asserted: atoll_firewall.NeverUnaskedAnswer
      answers_asked : assume (!answers || answered_q != taken_q);
    end
    if (bus_rst_n && mst_rst_n) begin
      // The bus is asked only what the master asked: none is made up or doubled.
      only_requests : assert (!bus_valid || taken_q != asked_q);
      // The watched request arrives as it was, in its turn.
      right_request : assert (!(bus_valid && taken_q == watched_q) || bus_request == request_q);
      // A request stays until the bus takes it.
      holds : assert (!stays_q || (bus_valid && bus_request == shown_q));
    end
  end

  always_ff @(posedge mst_clk_i) begin
    if (mst_rst_n && bus_rst_n) begin
      // The master is answered only after the bus was: none is made up or doubled.
      only_answers : assert (!mst_rvalid || done_q != answered_q);
      // The watched request is answered with its own answer.
      right_answer : assert (!(mst_rvalid && done_q == watched_q) || mst_answer == answer_q);
      // A request is taken while fewer than all places are taken, and only then.
      taken_with_place : assert (mst_ready == (3'(asked_q - done_q) < 3'(Depth)));
    end
  end

endmodule
