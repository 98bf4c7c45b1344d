// SPDX-License-Identifier: Apache-2.0
// A gated clock without glitches: the enable passes a latch that is open while the clock is low.
//
// A technology's own cell replaces it.
module atoll_clock_gate (
  input  logic clk_i,
  input  logic en_i,
  output logic clk_o
);

  logic en_q;

  always_latch begin
    if (!clk_i) en_q = en_i;
  end

  assign clk_o = clk_i && en_q;

endmodule
