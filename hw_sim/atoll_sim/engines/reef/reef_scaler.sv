// SPDX-License-Identifier: Apache-2.0
// Scales sums of one output lane to int8, in four stages.
//
// Shift left; 64-bit product; rounding doubling high half; rounding shift right, zero point and
// clamp. Both roundings are those of gemmlowp, bit for bit; or what is shifted right is rounded
// there alone, halves up.
module reef_scaler
  import reef_pkg::*;
(
  // Clock; what is in the pipeline is known outside
  input  logic               clk_i,
  // The pipeline moves on; of which stages there is something in
  input  logic               advance_i,
  input  logic        [ 3:0] valid_i,
  // Stage 1: the sum, its multiplier and its shift (-31 to 30)
  input  logic signed [31:0] sum_i,
  input  logic signed [31:0] multiplier_i,
  input  logic signed [ 5:0] shift_i,
  input  logic               once_i,
  // Stage 4: what is added and what the result is held to
  input  logic        [ 7:0] output_zero_i,
  input  logic        [ 7:0] minimum_i,
  input  logic        [ 7:0] maximum_i,
  // The result
  output logic        [ 7:0] byte_o
);

  // Stages 1 and 2
  logic signed [31:0] shifted_q, multiplier_q;
  logic signed [63:0] product_q;
  logic [4:0] right1_q, right2_q, right3_q;
  logic once1_q, once2_q, once3_q;

  always_ff @(posedge clk_i) begin
    if (advance_i && valid_i != '0) begin
      if (valid_i[0]) begin
        shifted_q    <= sum_i << (shift_i[5] ? 5'd0 : shift_i[4:0]);
        multiplier_q <= multiplier_i;
        right1_q     <= shift_i[5] ? 5'(-shift_i) : 5'd0;
        once1_q      <= once_i;
      end
      if (valid_i[1]) begin
        product_q <= shifted_q * multiplier_q;
        right2_q  <= right1_q;
        once2_q   <= once1_q;
      end
    end
  end

  // Stage 3: doubling and dividing by 2^32, to nearest, halves up, unless the next stage rounds
  // alone; only the product of the two most negative numbers does not fit.
  logic signed [31:0] high_q;

  always_ff @(posedge clk_i) begin
    if (advance_i && valid_i[2]) begin
      high_q   <= rounded_high_half(product_q, !once2_q || right2_q == 5'd0);
      right3_q <= right2_q;
      once3_q  <= once2_q;
    end
  end

  // Stage 4: divide by a power of two, to nearest, halves away from zero, or up.
  logic [7:0] byte_q;

  function automatic logic [7:0] clamped(logic signed [33:0] value, logic signed [7:0] minimum,
                                         logic signed [7:0] maximum);
    if (value < 34'(minimum)) return minimum;
    if (value > 34'(maximum)) return maximum;
    return value[7:0];
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance_i && valid_i[3])
      byte_q <= clamped(
          34'(rounded_shift(high_q, right3_q, !once3_q)) + 34'(signed'(output_zero_i)),
          minimum_i, maximum_i
      );
  end

  assign byte_o = byte_q;

endmodule
