// SPDX-License-Identifier: Apache-2.0
// Makes bytes of a row of sums, one for each channel: rounds once, halves up.
module loom_scale
  import loom_pkg::*;
(
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  channel_t [Lanes-1:0]       channels_i,
  input  logic           [7:0]       zero_point_i,
  input  logic           [7:0]       low_i,
  input  logic           [7:0]       high_i,
  // A row of sums
  input  logic                       valid_i,
  output logic                       ready_o,
  input  logic [Lanes-1:0][31:0]     sums_i,
  // Its bytes, held until taken
  output logic                       valid_o,
  input  logic                       ready_i,
  output logic [Lanes-1:0][ 7:0]     bytes_o
);

  logic summed_q, scaled_q, advance;
  logic [Lanes-1:0][31:0] sums_q;
  logic [Lanes-1:0][63:0] products_q;
  logic [Lanes-1:0][ 7:0] bytes;

  assign advance = !valid_o || ready_i;
  assign ready_o = advance;

  for (genvar j = 0; j < int'(Lanes); j++) begin : gen_lanes
    logic [63:0] half;
    logic signed [63:0] scaled, moved;
    logic unused;

    assign unused = ^{channels_i[j].unused, channels_i[j].shift[31:6]};
    assign half = 64'd1 << (channels_i[j].shift[5:0] - 6'd1);
    assign scaled = signed'(products_q[j] + half) >>> channels_i[j].shift[5:0];
    assign moved = scaled + 64'(signed'(zero_point_i));
    assign bytes[j] = moved < 64'(signed'(low_i)) ? low_i :
                      moved > 64'(signed'(high_i)) ? high_i : moved[7:0];

    always_ff @(posedge clk_i) begin
      if (advance) begin
        sums_q[j]     <= sums_i[j] + channels_i[j].bias;
        products_q[j] <= 64'(signed'(sums_q[j])) * 64'(channels_i[j].multiplier);
        bytes_o[j]    <= bytes[j];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      summed_q <= 1'b0;
      scaled_q <= 1'b0;
      valid_o  <= 1'b0;
    end else if (advance) begin
      summed_q <= valid_i;
      scaled_q <= summed_q;
      valid_o  <= scaled_q;
    end
  end

endmodule
