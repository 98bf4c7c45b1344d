// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Gives answers of an AXI channel the identifiers of their requests, for a subordinate that answers
// in order and knows none.
module atoll_axi_ids #(
  // Bits of an identifier.
  parameter int unsigned IdBits = 16,
  // Requests under way at most, a power of two of at least 2.
  parameter int unsigned Depth  = 64
) (
  // Clock and asynchronous reset
  input  logic              clk_i,
  input  logic              rst_ni,
  // A request is accepted, and its identifier
  input  logic              request_i,
  input  logic [IdBits-1:0] id_i,
  // The last answer to a request is accepted
  input  logic              answered_i,
  // Of the oldest request
  output logic [IdBits-1:0] id_o
);

  logic full, under_way;
  logic [IdBits-1:0] oldest;

  atoll_fifo #(
    .Width(IdBits),
    .Depth(Depth)
  ) u_ids (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (request_i),
    .data_i (id_i),
    .pop_i  (answered_i && under_way),
    .valid_o(under_way),
    .data_o (oldest),
    .full_o (full)
  );

  assign id_o = under_way ? oldest : '0;

  `ATOLL_ASSERT(SpaceForEachRequest, !request_i || !full || answered_i)

endmodule
