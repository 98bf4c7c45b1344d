// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Carries the system bus from a master's clock to another one.
//
// Requests and answers keep their order, and an answer is the bus's own: a master that has the
// answer to a write knows that the write is done. A master cannot delay an answer, so each request
// is taken only if there is a place for its answer.
module atoll_bus_crossing #(
  // Bits of a request's payload: what is written or read, and where.
  parameter int unsigned RequestBits = 8,
  // Bits of an answer's payload.
  parameter int unsigned AnswerBits  = 8,
  // Requests under way at most, a power of two of at least 2.
  parameter int unsigned Depth       = 16
) (
  // Clock and asynchronous reset of the master; both resets begin together
  input  logic                   mst_clk_i,
  input  logic                   mst_rst_ni,
  // Request of the master
  input  logic                   mst_valid_i,
  output logic                   mst_ready_o,
  input  logic [RequestBits-1:0] mst_request_i,
  // Answer to the master
  output logic                   mst_rvalid_o,
  output logic [ AnswerBits-1:0] mst_answer_o,
  // Clock and asynchronous reset of the bus
  input  logic                   bus_clk_i,
  input  logic                   bus_rst_ni,
  // Request to the bus
  output logic                   bus_valid_o,
  input  logic                   bus_ready_i,
  output logic [RequestBits-1:0] bus_request_o,
  // Answer of the bus
  input  logic                   bus_rvalid_i,
  input  logic [ AnswerBits-1:0] bus_answer_i
);

  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned CountBits = $clog2(Depth) + 1;

  logic taken, requests_full, answers_full;
  // Requests without an answer, as the master knows it.
  logic [CountBits-1:0] awaited_q;

  // The queues are never full for a request that is taken: the other side tells of each entry that
  // it took before the answer that makes the place.
  assign mst_ready_o = awaited_q != CountBits'(Depth);
  assign taken       = mst_valid_i && mst_ready_o;

  always_ff @(posedge mst_clk_i or negedge mst_rst_ni) begin
    if (!mst_rst_ni) awaited_q <= '0;
    else awaited_q <= awaited_q + CountBits'(taken) - CountBits'(mst_rvalid_o);
  end

  atoll_async_fifo #(
    .Width(RequestBits),
    .Depth(Depth)
  ) u_requests (
    .push_clk_i (mst_clk_i),
    .push_rst_ni(mst_rst_ni),
    .push_i     (taken),
    .data_i     (mst_request_i),
    .full_o     (requests_full),
    .pop_clk_i  (bus_clk_i),
    .pop_rst_ni (bus_rst_ni),
    .pop_i      (bus_valid_o && bus_ready_i),
    .valid_o    (bus_valid_o),
    .data_o     (bus_request_o)
  );

  atoll_async_fifo #(
    .Width(AnswerBits),
    .Depth(Depth)
  ) u_answers (
    .push_clk_i (bus_clk_i),
    .push_rst_ni(bus_rst_ni),
    .push_i     (bus_rvalid_i),
    .data_i     (bus_answer_i),
    .full_o     (answers_full),
    .pop_clk_i  (mst_clk_i),
    .pop_rst_ni (mst_rst_ni),
    .pop_i      (mst_rvalid_o),
    .valid_o    (mst_rvalid_o),
    .data_o     (mst_answer_o)
  );

  `ATOLL_ASSERT_KNOWN_AT(KnownMasterSide, mst_clk_i, mst_rst_ni, {mst_ready_o, mst_rvalid_o})
  `ATOLL_ASSERT_KNOWN_AT(KnownBusSide, bus_clk_i, bus_rst_ni, bus_valid_o)
  `ATOLL_ASSERT_IF_AT(RequestsHaveAPlace, mst_clk_i, mst_rst_ni, taken, !requests_full)
  `ATOLL_ASSERT_IF_AT(AnswersHaveAPlace, bus_clk_i, bus_rst_ni, bus_rvalid_i, !answers_full)
  `ATOLL_ASSERT_IF_AT(NeverUnaskedAnswer, mst_clk_i, mst_rst_ni, mst_rvalid_o, awaited_q != '0)
  `ATOLL_ASSERT_HELD_AT(RequestHolds, bus_clk_i, bus_rst_ni,
      bus_valid_o && !bus_ready_i, bus_valid_o, bus_request_o)

endmodule
