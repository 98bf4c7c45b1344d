// SPDX-License-Identifier: Apache-2.0
// Follows one request, any, among those that are answered in order: the first for which `pick_i` is
// high. Part of specifications.
module watched_order #(
  // Bits of a number of requests.
  parameter int unsigned CountBits = 4
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 pick_i,
  // A request is taken, an answer is given
  input  logic                 asked_i,
  input  logic                 answered_i,
  // The request of this cycle is the watched one
  output logic                 asks_o,
  // It is taken and not answered
  output logic                 awaits_o,
  // The answer of this cycle is its
  output logic                 answers_o,
  // Requests without an answer
  output logic [CountBits-1:0] awaited_o
);

  logic picked_q;
  // Answers before its own
  logic [CountBits-1:0] before_q;

  assign asks_o    = pick_i && asked_i && !picked_q;
  assign answers_o = awaits_o && answered_i && before_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      picked_q  <= 1'b0;
      awaits_o  <= 1'b0;
      before_q  <= '0;
      awaited_o <= '0;
    end else begin
      awaited_o <= awaited_o + CountBits'(asked_i) - CountBits'(answered_i);
      if (asks_o) begin
        picked_q <= 1'b1;
        awaits_o <= 1'b1;
        before_q <= awaited_o - CountBits'(answered_i);
      end else if (answered_i) begin
        if (answers_o) awaits_o <= 1'b0;
        before_q <= before_q - CountBits'(before_q != '0);
      end
    end
  end

endmodule
