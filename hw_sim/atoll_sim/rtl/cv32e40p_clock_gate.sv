// SPDX-License-Identifier: Apache-2.0
// The cell that CV32E40P leaves to the technology: a clock gate.
module cv32e40p_clock_gate (
  input  logic clk_i,
  input  logic en_i,
  input  logic scan_cg_en_i,
  output logic clk_o
);

  atoll_clock_gate u_gate (
    .clk_i,
    .en_i(en_i || scan_cg_en_i),
    .clk_o
  );

endmodule
