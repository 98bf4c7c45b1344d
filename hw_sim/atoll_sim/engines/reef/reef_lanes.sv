// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Depthwise: which input channel each output lane of a block reads, by counting.
//
// Output channel `o` reads input channel `o / multiplier`. One lane is settled in each cycle.
module reef_lanes #(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  localparam int unsigned LaneBits = $clog2(OutputLanes)
) (
  // Clock and asynchronous reset
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // Output channels of one input channel, at least 1
  input  logic [           15:0]      multiplier_i,
  // Begin an operator; begin its next block
  input  logic                        first_i,
  input  logic                        next_i,
  // Last lane of the block that has an output channel
  input  logic [   LaneBits-1:0]      last_lane_i,
  // The block's first input channel, the number of its input channels, and for each lane which
  // of them it reads; stable from `ready_o` until the next block
  output logic [           15:0]      channel_o,
  output logic [            4:0]      channels_o,
  output logic [OutputLanes-1:0][3:0] lane_byte_o,
  output logic                        ready_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})

  logic [15:0] channel_q, next_channel_q, remainder_q;
  logic [4:0] channels_q;
  logic [3:0] count_q;
  logic [LaneBits-1:0] lane_q;
  logic [OutputLanes-1:0][3:0] lane_byte_q;
  logic busy_q, wrap;

  assign wrap        = remainder_q == multiplier_i - 16'd1;
  assign ready_o     = !busy_q;
  assign channel_o   = channel_q;
  assign channels_o  = channels_q;
  assign lane_byte_o = lane_byte_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      next_channel_q <= '0;
      channel_q      <= '0;
      remainder_q    <= '0;
      lane_q         <= '0;
      count_q        <= '0;
      channels_q     <= '0;
      lane_byte_q    <= '0;
    end else if (first_i || next_i) begin
      busy_q    <= 1'b1;
      lane_q    <= '0;
      count_q   <= '0;
      channel_q <= first_i ? '0 : next_channel_q;
      if (first_i) {next_channel_q, remainder_q} <= '0;
    end else if (busy_q) begin
      busy_q              <= lane_q != LaneBits'(OutputLanes - 1);
      lane_q              <= lane_q + LaneBits'(1);
      lane_byte_q[lane_q] <= count_q;
      if (lane_q == last_lane_i) channels_q <= 5'(count_q) + 5'd1;
      count_q        <= count_q + 4'(wrap);
      next_channel_q <= next_channel_q + 16'(wrap);
      remainder_q    <= wrap ? '0 : remainder_q + 16'd1;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, ready_o)
  `ATOLL_ASSERT_IF(OnlyStartsWhenReady, next_i, ready_o)

endmodule
