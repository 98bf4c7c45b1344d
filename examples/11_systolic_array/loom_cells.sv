// SPDX-License-Identifier: Apache-2.0
// The array: cell (i, j) adds up what position i and channel j have in common.
//
// Values of a position travel to the right, weights of a channel down; row and column number i
// begin i cycles later, so that the two meet.
module loom_cells
  import loom_pkg::*;
(
  input  logic                                clk_i,
  input  logic                                rst_ni,
  // One input of each position, and its weights; the first of a sum
  input  logic                                valid_i,
  input  logic                                first_i,
  input  logic [Lanes-1:0][ 7:0]              values_i,
  input  logic [Lanes-1:0][ 7:0]              weights_i,
  // All sums, once Settle cycles have passed since the last input
  output logic [Lanes-1:0][Lanes-1:0][31:0]   sums_o
);

  typedef struct packed {
    logic       valid;
    logic       first;
    logic [7:0] data;
  } value_t;

  value_t [Lanes-1:0][Lanes-1:0] right_q;
  /* verilator lint_off UNUSEDSIGNAL */  // Nothing lies below the last row.
  logic [Lanes-1:0][Lanes-1:0][7:0] down_q;
  /* verilator lint_on UNUSEDSIGNAL */
  value_t [Lanes-1:0] west;
  logic [Lanes-1:0][7:0] north;

  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_edges
    if (i == 0) begin : gen_first
      assign west[i]  = '{valid: valid_i, first: first_i, data: values_i[i]};
      assign north[i] = weights_i[i];
    end else begin : gen_later
      value_t [i-1:0] values_q;
      logic [i-1:0][7:0] weights_q;

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          values_q  <= '0;
          weights_q <= '0;
        end else begin
          values_q[0]  <= '{valid: valid_i, first: first_i, data: values_i[i]};
          weights_q[0] <= weights_i[i];
          for (int k = 1; k < i; k++) begin
            values_q[k]  <= values_q[k-1];
            weights_q[k] <= weights_q[k-1];
          end
        end
      end

      assign west[i]  = values_q[i-1];
      assign north[i] = weights_q[i-1];
    end
  end

  for (genvar i = 0; i < int'(Lanes); i++) begin : gen_rows
    for (genvar j = 0; j < int'(Lanes); j++) begin : gen_cells
      value_t value;
      logic [7:0] weight;
      logic signed [15:0] product;

      if (j == 0) begin : gen_west
        assign value = west[i];
      end else begin : gen_inner
        assign value = right_q[i][j-1];
      end
      if (i == 0) begin : gen_north
        assign weight = north[j];
      end else begin : gen_below
        assign weight = down_q[i-1][j];
      end

      assign product = signed'(value.data) * signed'(weight);

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          right_q[i][j] <= '0;
          down_q[i][j]  <= '0;
          sums_o[i][j]  <= '0;
        end else begin
          right_q[i][j] <= value;
          down_q[i][j]  <= weight;
          if (value.valid) sums_o[i][j] <= (value.first ? '0 : sums_o[i][j]) + 32'(product);
        end
      end
    end
  end

endmodule
