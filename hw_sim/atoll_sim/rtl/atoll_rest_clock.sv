// SPDX-License-Identifier: Apache-2.0
// The clock of a part of the bus: it stands still while nothing there is under way.
//
// It runs in reset. The enable passes a latch that is open while the clock is low, so that the gate
// never glitches, and a request that shows after an edge has the next one.
module atoll_rest_clock (
  // Clock and reset
  input  logic clk_i,
  input  logic rst_ni,
  // Something is under way, or asked for
  input  logic busy_i,
  output logic clk_o
);

`ifdef SYNTHESIS
  // A technology's own cell stands here. Where there is none, as in FPGAs, what is at rest stays so.
  logic unused;
  assign clk_o  = clk_i;
  assign unused = ^{rst_ni, busy_i};
`else
  logic enable;

  always_latch begin
    if (!clk_i) enable = busy_i || !rst_ni;
  end

  assign clk_o = clk_i && enable;
`endif

endmodule
