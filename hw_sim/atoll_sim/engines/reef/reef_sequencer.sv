// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Asks for the pixels of one operator: the loop over sets of blocks of output channels.
//
// `reef_loader` reads parameters and weights of a set before.
module reef_sequencer
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // Give up
  input  logic                               flush_i,
  // Run this operator; stable until `done_o`, which lasts one cycle
  input  logic                               start_i,
  input  descriptor_t                        descriptor_i,
  input  geometry_t                          geometry_i,
  output logic                               done_o,
  // What the loader says of the operator and of its sets; take the next one
  input  logic                               resident_i,
  input  logic                               pairs_i,
  input  logic                               loaded_i,
  output logic                               take_o,
  input  logic                               empty_i,
  // Depthwise: which byte each lane of a set's block uses
  output logic                               settle_o,
  output logic                               settle_set_o,
  output logic        [15:0][           3:0] lane_byte_o,
  // No pixel is under way, for want of weights or parameters
  output logic                               waiting_o,
  // Runs to read, in order
  output logic                               run_valid_o,
  input  logic                               run_ready_i,
  output run_t                               run_o,
  // Nothing is left to write; no run is left
  input  logic                               writer_idle_i,
  input  logic                               idle_i,
  // Whether it is computed by lines
  output lines_t                             lines_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)
  `ATOLL_ASSERT_INIT(LegalBeat,
      DataBytes inside {8, 16} && DataBytes >= InputLanes && DataBytes >= OutputLanes)

  localparam int unsigned LaneBits = $clog2(OutputLanes);

  typedef enum logic [2:0] {
    StIdle,
    StLanes,
    StLoad,
    StPixels,
    StFinish
  } state_e;

  state_e state_d, state_q;
  logic [16:0] channel_q, channels, channels_left;
  logic [31:0] weights_q, block_bytes;
  logic begun_q, first_q, paired, last_set, depthwise, by_lines;
  logic set_q;
  logic [LaneBits-1:0] last_lane;
  logic [OutputLanes-1:0][3:0] lane_byte;
  logic lanes_start, lanes_ready, pixels_busy, pixels_valid;
  logic [15:0] input_channel;
  logic [4:0] input_channels;
  run_t pixels_run;

  // Blocks are whole multiples of 16 bytes.
  assign block_bytes   = (descriptor_i.weight_block_bytes + 32'd15) & ~32'd15;
  assign channels_left = 17'(descriptor_i.output_channels) - channel_q;
  assign paired        = pairs_i && channels_left > 17'(OutputLanes);
  assign channels      = paired ? 17'(2 * OutputLanes) : 17'(OutputLanes);
  assign last_set      = channels_left <= channels;
  assign last_lane     = last_set ? LaneBits'(channels_left - 17'd1) : LaneBits'(OutputLanes - 1);
  assign depthwise     = descriptor_i.opcode == OpDepthwiseConv2d;
  assign by_lines      = depthwise && descriptor_i.lines;
  assign lanes_start   = state_q == StLanes && !begun_q;
  assign take_o        = state_q == StLoad && loaded_i;
  assign waiting_o     = state_q == StLoad && !loaded_i && idle_i;
  assign settle_o      = take_o && depthwise;
  assign settle_set_o  = set_q;
  assign lane_byte_o   = 64'(lane_byte);
  assign done_o        = state_q == StFinish && empty_i && writer_idle_i && idle_i;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // No operator.
      StIdle:   if (start_i) state_d = depthwise ? StLanes : StLoad;
      // It is settled which byte each lane uses.
      StLanes:  if (begun_q && lanes_ready) state_d = StLoad;
      // Parameters and weights arrive.
      StLoad:   if (loaded_i) state_d = StPixels;
      // The pixels are requested.
      StPixels:
      if (!pixels_busy) begin
        if (last_set) state_d = StFinish;
        else state_d = depthwise ? StLanes : StLoad;
      end
      // The last pixels are computed and written.
      StFinish: if (done_o) state_d = StIdle;
      default:  state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      channel_q <= '0;
      weights_q <= '0;
      begun_q   <= 1'b0;
      first_q   <= 1'b0;
      set_q     <= 1'b0;
    end else begin
      state_q <= state_d;
      begun_q <= state_q == StLanes;
      if (state_q == StIdle) begin
        channel_q <= '0;
        weights_q <= descriptor_i.weights_address;
        first_q   <= 1'b1;
      end else if (state_q == StPixels && !pixels_busy) begin
        channel_q <= channel_q + channels;
        first_q   <= 1'b0;
        set_q     <= !set_q;
        if (!descriptor_i.uniform) weights_q <= weights_q + block_bytes;
      end
      if (flush_i) set_q <= 1'b0;
    end
  end

  always_comb begin
    run_o          = pixels_run;
    run_o.tag.pair = paired;
  end
  assign run_valid_o = pixels_valid;

  assign lines_o = '{
          start: start_i,
          on: by_lines && state_q != StIdle,
          set: set_q,
          zero: descriptor_i.input_zero,
          height: descriptor_i.input_height,
          width: descriptor_i.input_width,
          output_height: descriptor_i.output_height,
          output_width: descriptor_i.output_width,
          kernel_height: 3'(descriptor_i.kernel_height),
          kernel_width: 4'(descriptor_i.kernel_width),
          stride_y: descriptor_i.stride_y,
          stride_x: descriptor_i.stride_x,
          pad_top: 2'(descriptor_i.pad_top),
          pad_left: 3'(descriptor_i.pad_left)
      };

  // By lines, the pixels of the input are read like those of a kernel with one tap.
  descriptor_t shape;
  geometry_t steps;

  always_comb begin
    shape = descriptor_i;
    steps = geometry_i;
    if (by_lines) begin
      shape.kernel_height = 16'd1;
      shape.kernel_width = 16'd1;
      shape.kernel_row_bytes = 32'd1;
      shape.stride_y = 16'd1;
      shape.stride_x = 16'd1;
      shape.pad_top = '0;
      shape.pad_left = '0;
      shape.output_height = descriptor_i.input_height;
      shape.output_width = descriptor_i.input_width;
      steps.pad_top = '0;
      steps.pad_left = '0;
      steps.stride_y = descriptor_i.row_pitch;
      steps.stride_x = 32'(descriptor_i.input_channels);
    end
  end

  reef_lanes #(
    .OutputLanes(OutputLanes)
  ) u_lanes (
    .clk_i,
    .rst_ni,
    .multiplier_i(descriptor_i.depth_multiplier),
    .first_i     (lanes_start && first_q),
    .next_i      (lanes_start && !first_q),
    .last_lane_i (last_lane),
    .channel_o   (input_channel),
    .channels_o  (input_channels),
    .lane_byte_o (lane_byte),
    .ready_o     (lanes_ready)
  );

  reef_pixels #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .DataBytes  (DataBytes)
  ) u_pixels (
    .clk_i,
    .rst_ni,
    .flush_i,
    .depthwise_i      (depthwise),
    .descriptor_i     (shape),
    .geometry_i       (steps),
    .weights_address_i(weights_q),
    .resident_i       (resident_i),
    .channel_i        (input_channel),
    .channels_i       (input_channels),
    .bank_i           ({set_q, 1'b0}),
    .start_i          (take_o),
    .busy_o           (pixels_busy),
    .run_valid_o      (pixels_valid),
    .run_ready_i,
    .run_o            (pixels_run)
  );

  `ATOLL_ASSERT_KNOWN(KnownControl, {done_o, run_valid_o, take_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, state_q == StIdle)

endmodule
