// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Carries levels from one clock to another: a register, then two of the other clock.
//
// Several bits arrive together only if at most one of them changes in a cycle.
module atoll_synchroniser #(
  // Number of levels.
  parameter int unsigned Width = 1
) (
  // The clock that the levels belong to, and its reset
  input  logic             src_clk_i,
  input  logic             src_rst_ni,
  input  logic [Width-1:0] level_i,
  // The other clock and its reset
  input  logic             dst_clk_i,
  input  logic             dst_rst_ni,
  output logic [Width-1:0] level_o
);

  `ATOLL_ASSERT_INIT(SomeLevel, Width >= 1)

  // `caught_q` may be metastable for a moment; only `level_o` reads it.
  logic [Width-1:0] level_q, caught_q;

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) level_q <= '0;
    else level_q <= level_i;
  end

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      caught_q <= '0;
      level_o  <= '0;
    end else begin
      caught_q <= level_q;
      level_o  <= caught_q;
    end
  end

  `ATOLL_ASSERT_KNOWN_AT(KnownLevels, src_clk_i, src_rst_ni, level_i)
  `ATOLL_ASSERT_KNOWN_AT(KnownControl, dst_clk_i, dst_rst_ni, level_o)

endmodule
