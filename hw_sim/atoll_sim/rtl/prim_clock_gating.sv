// SPDX-License-Identifier: Apache-2.0
// A cell that Ibex leaves to the technology: a clock gate.
module prim_clock_gating (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,
  output logic clk_o
);

  atoll_clock_gate u_gate (
    .clk_i,
    .en_i(en_i || test_en_i),
    .clk_o
  );

endmodule
