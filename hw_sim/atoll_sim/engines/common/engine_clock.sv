// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The clock of a device that runs lists: between them, and accesses to its registers, it stands still.
//
// It runs while the device works and for some cycles more, in which what it drives comes to rest; from
// then on nothing there would change before the next start. The enable passes a latch that is open
// while the clock is low, so that the gate never glitches.
module engine_clock (
  // Clock and asynchronous reset
  input  logic clk_i,
  input  logic rst_ni,
  // A list starts, runs or ends, or a register is asked for
  input  logic work_i,
  // The clock, and that it has its next edge
  output logic clk_o,
  output logic awake_o
);

  logic [2:0] tail_q;

  assign awake_o = work_i || tail_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tail_q <= '1;
    else if (work_i) tail_q <= '1;
    else if (tail_q != '0) tail_q <= tail_q - 3'd1;
  end

`ifdef SYNTHESIS
  // A technology's own cell stands here. Where there is none, as in FPGAs, what is at rest stays so.
  assign clk_o = clk_i;
`else
  logic enable;

  always_latch begin
    if (!clk_i) enable = awake_o;
  end

  assign clk_o = clk_i && enable;
`endif

  `ATOLL_ASSERT_KNOWN(KnownControl, awake_o)
  `ATOLL_ASSERT_IF(WorksAtOnce, work_i, awake_o)

endmodule
