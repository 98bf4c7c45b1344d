// SPDX-License-Identifier: Apache-2.0
// reef_requantize with settings of one block, under names that a bench can set.
module reef_requantize_bench
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned Requantisers = 8,
  localparam int unsigned Groups = OutputLanes / Requantisers,
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1
) (
  // Clock and reset
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Settings of the block
  input  logic [               7:0] output_zero_i,
  input  logic [               7:0] minimum_i,
  input  logic [               7:0] maximum_i,
  input  logic [               3:0] last_lane_i,
  input  logic                      once_i,
  // See reef_requantize
  input  logic                      sums_valid_i,
  output logic                      sums_ready_o,
  input  logic [OutputLanes*32-1:0] sums_i,
  input  logic [OutputLanes*32-1:0] multiplier_i,
  input  logic [ OutputLanes*6-1:0] shift_i,
  output logic                      bytes_valid_o,
  input  logic                      bytes_ready_i,
  output logic [Requantisers*8-1:0] bytes_o,
  output logic [     GroupBits-1:0] bytes_group_o,
  output logic                      bytes_last_o
);

  block_t block;
  tag_t   tag;
  logic [1:0] scale_bank;
  logic unused;

  always_comb begin
    block             = '0;
    block.output_zero = output_zero_i;
    block.minimum     = minimum_i;
    block.maximum     = maximum_i;
    block.last_lane   = last_lane_i;
    block.once        = once_i;
  end
  assign bytes_last_o = tag.last;
  assign unused       = ^{scale_bank, tag};

  reef_requantize #(
    .OutputLanes (OutputLanes),
    .Requantisers(Requantisers)
  ) u_requantize (
    .clk_i,
    .rst_ni,
    .flush_i     (1'b0),
    .blocks_i    ({block, block, block, block}),
    .sums_valid_i,
    .sums_ready_o,
    .sums_i,
    .sums_tag_i  ('{bank: 2'd1, pair: 1'b0, first: 1'b1, last: 1'b1, closes: 1'b0}),
    .scale_bank_o(scale_bank),
    .multiplier_i,
    .shift_i,
    .bytes_valid_o,
    .bytes_ready_i,
    .bytes_o,
    .bytes_group_o,
    .bytes_tag_o (tag)
  );

endmodule
