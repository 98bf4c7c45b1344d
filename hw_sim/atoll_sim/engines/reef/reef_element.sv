// SPDX-License-Identifier: Apache-2.0
// One element of ADD or MUL, in nine stages.
//
// ADD scales both operands with 20 more bits, adds them, and scales the sum; MUL scales the
// product. All roundings are those of gemmlowp, bit for bit; a product may be rounded once.
module reef_element
  import reef_pkg::*;
(
  // Clock; what is in the pipeline is known outside
  input  logic             clk_i,
  // The pipeline moves on; of which stages there is something in
  input  logic             advance_i,
  input  logic       [8:0] valid_i,
  // Zero points, factors and limits; stable while something is under way
  input  elements_t        command_i,
  // Stage 1: the operands
  input  logic       [7:0] first_i,
  input  logic       [7:0] second_i,
  // The result
  output logic       [7:0] byte_o
);

  localparam logic signed [63:0] Shift20 = 64'sd1048576;

  logic add;
  logic [4:0] first_places, second_places;

  assign add           = command_i.opcode == OpAdd;
  assign first_places  = 5'(-command_i.first_shift);
  assign second_places = 5'(-command_i.second_shift);

  // Stage 1: steps from the zero points
  logic signed [8:0] first1_q, second1_q;
  // Stage 2: products, of which those of an addition lack 20 bits
  logic signed [40:0] first2_q, second2_q;
  logic signed [17:0] product2_q, product3_q, product4_q;
  // Stages 3 and 4: rescaled operands
  logic signed [31:0] first3_q, second3_q, first4_q, second4_q;
  // Stage 5: what is scaled
  logic signed [31:0] total_q;

  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      if (valid_i[0]) begin
        first1_q  <= 9'(signed'(first_i)) - 9'(signed'(command_i.first_zero));
        second1_q <= 9'(signed'(second_i)) - 9'(signed'(command_i.second_zero));
      end
      if (valid_i[1]) begin
        first2_q   <= first1_q * signed'(command_i.first_multiplier);
        second2_q  <= second1_q * signed'(command_i.second_multiplier);
        product2_q <= first1_q * second1_q;
      end
      if (valid_i[2]) begin
        first3_q   <= rounded_high_half(64'(first2_q) * Shift20, 1'b1);
        second3_q  <= rounded_high_half(64'(second2_q) * Shift20, 1'b1);
        product3_q <= product2_q;
      end
      if (valid_i[3]) begin
        first4_q   <= 32'(rounded_shift(first3_q, first_places, 1'b1));
        second4_q  <= 32'(rounded_shift(second3_q, second_places, 1'b1));
        product4_q <= product3_q;
      end
      if (valid_i[4]) total_q <= add ? first4_q + second4_q : 32'(product4_q);
    end
  end

  // Stages 6 to 9
  reef_scaler u_scaler (
    .clk_i,
    .advance_i,
    .valid_i      (valid_i[8:5]),
    .sum_i        (total_q),
    .multiplier_i (command_i.result_multiplier),
    .shift_i      (command_i.result_shift[5:0]),
    .once_i       (command_i.once),
    .output_zero_i(command_i.output_zero),
    .minimum_i    (command_i.activation_min),
    .maximum_i    (command_i.activation_max),
    .byte_o
  );

  logic unused;
  assign unused = ^command_i;

endmodule
