// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Counts through the rows of a move, and says where each begins.
module reef_rows (
  // Clock and asynchronous reset
  input  logic             clk_i,
  input  logic             rst_ni,
  // Begin with a row at this address; the rest is stable from then on
  input  logic             start_i,
  input  logic [31:0]      address_i,
  // Rows, planes of them and so on, and how far it is to the next of each after the last one within
  input  logic [2:0][15:0] counts_i,
  input  logic [2:0][31:0] steps_i,
  // Go on to the next row
  input  logic             next_i,
  // This row, the next one, and whether there is none
  output logic [31:0]      address_o,
  output logic [31:0]      next_address_o,
  output logic             last_o
);

  logic [31:0] address_q;
  // Of each count, what is left with the one at hand
  logic [2:0][15:0] left_q;
  logic [2:0] ends;

  for (genvar i = 0; i < 3; i++) begin : gen_ends
    assign ends[i] = left_q[i] == 16'd1;
  end
  assign address_o      = address_q;
  assign next_address_o = address_q + (!ends[0] ? steps_i[0] : !ends[1] ? steps_i[1] : steps_i[2]);
  assign last_o         = &ends;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      address_q <= '0;
      left_q    <= '0;
    end else if (start_i) begin
      address_q <= address_i;
      left_q    <= counts_i;
    end else if (next_i) begin
      address_q <= next_address_o;
      left_q[0] <= ends[0] ? counts_i[0] : left_q[0] - 16'd1;
      if (ends[0]) left_q[1] <= ends[1] ? counts_i[1] : left_q[1] - 16'd1;
      if (ends[0] && ends[1]) left_q[2] <= left_q[2] - 16'd1;
    end
  end

  `ATOLL_ASSERT_IF(NeverPassesTheLast, next_i, !last_o)

endmodule
