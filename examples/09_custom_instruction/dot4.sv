// SPDX-License-Identifier: Apache-2.0
// The sum of the four products of signed bytes of two words, one result each cycle.
module dot4 (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Request: custom opcode 0 to 3, funct7, funct3; the registers rs1 and rs2
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [11:0] function_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  // Answer, kept until it is taken
  output logic        rvalid_o,
  input  logic        rready_i,
  output logic [31:0] result_o
);

  logic rvalid_q, unused_function;
  logic signed [31:0] sum, result_q;

  assign unused_function = ^function_i;
  assign ready_o         = !rvalid_q || rready_i;
  assign rvalid_o        = rvalid_q;
  assign result_o        = result_q;

  always_comb begin
    sum = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      sum += 32'($signed(a_i[8*i+:8]) * 16'($signed(b_i[8*i+:8])));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      result_q <= '0;
    end else if (ready_o) begin
      rvalid_q <= valid_i;
      result_q <= sum;
    end
  end

endmodule
