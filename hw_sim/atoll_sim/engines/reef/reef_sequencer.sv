`include "atoll_assert.svh"

// Runs one operator: the loop over blocks of `OutputLanes` output channels.
//
// For each block the parameter table and, if they all fit on chip, the weights are read, then the
// pixels. Two blocks may be under way, one in each bank. Depthwise, what the next one needs is read
// while the one before is computed. Otherwise both are computed at once as a pair if the weights of
// both fit, so that each pixel is read once for them.
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
  // Runs to read, in order
  output logic                               run_valid_o,
  input  logic                               run_ready_i,
  output run_t                               run_o,
  // The last pixel of a block has left the datapath; nothing is left to write
  input  logic                               closed_i,
  input  logic                               writer_idle_i,
  // No run is left
  input  logic                               idle_i,
  // The blocks of both banks, and whether they are computed by lines
  output block_t      [            1:0]      blocks_o,
  output lines_t                             lines_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)
  `ATOLL_ASSERT_INIT(LegalBeat,
      DataBytes inside {8, 16} && DataBytes >= InputLanes && DataBytes >= OutputLanes)

  localparam int unsigned LaneBits = $clog2(OutputLanes);
  localparam int unsigned RowBits = $clog2(InputLanes * OutputLanes);
  localparam logic [31:0] Capacity = WeightRows * InputLanes * OutputLanes;
  localparam logic [31:0] TableBytes = OutputLanes * 16;

  typedef enum logic [2:0] {
    StIdle,
    StBlock,
    StParameters,
    StWeights,
    StLanes,
    StPixels,
    StFinish
  } state_e;

  state_e state_d, state_q;
  logic [16:0] channel_q, channels, channels_left;
  logic [31:0] weights_q, table_q, block_bytes;
  logic first_q, resident, last_block, depthwise, by_lines, early, paired;
  // The bank of the block at hand, the first of a pair, and the blocks under way
  logic bank_q;
  logic [1:0] open_q;
  block_t [1:0] blocks_q;
  logic [LaneBits-1:0] last_lane, final_lane;
  block_t first_block, second_block;
  logic [OutputLanes-1:0][3:0] lane_byte;
  logic opens, settled;
  logic lanes_ready, pixels_start, pixels_busy, pixels_valid;
  logic [15:0] input_channel;
  logic [4:0] input_channels;
  run_t pixels_run;

  assign channels = paired ? 17'(2 * OutputLanes) : 17'(OutputLanes);
  assign channels_left = 17'(descriptor_i.output_channels) - channel_q;
  assign last_block = channels_left <= channels;
  // Blocks have a power of two of lanes.
  assign final_lane = last_block ? LaneBits'(channels_left - 17'd1) : LaneBits'(OutputLanes - 1);
  assign last_lane = paired ? LaneBits'(OutputLanes - 1) : final_lane;
  // Blocks are whole multiples of 16 bytes.
  assign block_bytes = (descriptor_i.weight_block_bytes + 32'd15) & ~32'd15;
  assign resident = descriptor_i.weight_block_bytes <= Capacity;
  assign depthwise = descriptor_i.opcode == OpDepthwiseConv2d;
  assign paired = !depthwise && !descriptor_i.uniform && channels_left > 17'(OutputLanes)
      && descriptor_i.weight_block_bytes <= Capacity / 2;
  // Steps of the block before are on their way to the array when weights come: they may come first.
  assign early = resident && !by_lines;
  assign blocks_o = blocks_q;
  assign opens = state_q == StBlock && (paired ? open_q == 0 : !open_q[1]);
  assign settled = state_q == StLanes && lanes_ready;
  assign by_lines = depthwise && descriptor_i.lines;
  assign done_o = state_q == StFinish && open_q == 0 && writer_idle_i && idle_i;

  always_comb begin
    state_d      = state_q;
    pixels_start = 1'b0;
    unique case (state_q)
      // No operator.
      StIdle:       if (start_i) state_d = early ? StWeights : StBlock;
      // A bank is free, and takes the settings of the block; both do for a pair.
      StBlock:      if (opens) state_d = StParameters;
      // The parameter table is requested.
      StParameters: if (run_ready_i) state_d = by_lines ? StWeights : StLanes;
      // All weights of the block are requested.
      StWeights:    if (run_ready_i) state_d = early ? StBlock : StLanes;
      // The lanes are settled meanwhile.
      StLanes:
      if (lanes_ready) begin
        pixels_start = 1'b1;
        state_d      = StPixels;
      end
      // The pixels are requested.
      StPixels:
      if (!pixels_busy) begin
        if (last_block) state_d = StFinish;
        else state_d = early ? StWeights : StBlock;
      end
      // The last pixels are computed and written.
      StFinish:     if (done_o) state_d = StIdle;
      default:      state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      channel_q <= '0;
      weights_q <= '0;
      table_q   <= '0;
      first_q   <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q == StIdle) begin
        channel_q <= '0;
        weights_q <= descriptor_i.weights_address;
        table_q   <= descriptor_i.parameters_address;
        first_q   <= 1'b1;
      end else if (state_q == StPixels && !pixels_busy) begin
        channel_q <= channel_q + channels;
        if (!descriptor_i.uniform) begin
          weights_q <= weights_q + (block_bytes << paired);
          table_q   <= table_q + (TableBytes << paired);
        end
        first_q   <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bank_q <= 1'b0;
      open_q <= '0;
    end else if (flush_i) begin
      open_q <= '0;
    end else begin
      if (opens) bank_q <= paired ? 1'b1 : !bank_q;
      open_q <= open_q + (opens ? 2'd1 + 2'(paired) : 2'd0) - 2'(closed_i);
    end
  end

  always_comb begin
    first_block = '{
        input_zero: descriptor_i.input_zero,
        output_zero: descriptor_i.output_zero,
        minimum: descriptor_i.activation_min,
        maximum: descriptor_i.activation_max,
        lane_byte: '0,
        last_lane: 4'(last_lane),
        row: '0,
        address: descriptor_i.output_address + 32'(channel_q),
        stride: descriptor_i.output_channels
    };
    second_block           = first_block;
    second_block.last_lane = 4'(final_lane);
    second_block.row       = 14'(descriptor_i.weight_block_bytes >> RowBits);
    second_block.address   = first_block.address + OutputLanes;
  end

  always_ff @(posedge clk_i) begin
    if (opens && paired) blocks_q <= {second_block, first_block};
    else if (opens) blocks_q[!bank_q] <= first_block;
    if (settled) blocks_q[bank_q].lane_byte <= 64'(lane_byte);
  end

  always_comb begin
    run_o = '0;
    run_o.tag.bank = bank_q && !paired;
    unique case (state_q)
      StParameters: begin
        run_o.kind    = KindParameters;
        run_o.address = table_q;
        run_o.bytes   = TableBytes << paired;
      end
      StWeights: begin
        run_o.kind    = KindWeights;
        run_o.address = weights_q;
        run_o.bytes   = block_bytes << paired;
        run_o.unit    = by_lines && bank_q ? 14'(WeightRows / 2) : 14'd0;
      end
      default: begin
        run_o          = pixels_run;
        run_o.tag.pair = paired;
      end
    endcase
  end
  assign run_valid_o = state_q == StParameters || state_q == StWeights || pixels_valid;

  assign lines_o = '{
          start: start_i,
          on: by_lines && state_q != StIdle,
          bank: !bank_q,
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
    .first_i     (opens && first_q),
    .next_i      (opens && !first_q),
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
    .resident_i       (resident),
    .channel_i        (input_channel),
    .channels_i       (input_channels),
    .bank_i           (bank_q && !paired),
    .start_i          (pixels_start),
    .busy_o           (pixels_busy),
    .run_valid_o      (pixels_valid),
    .run_ready_i,
    .run_o            (pixels_run)
  );

  `ATOLL_ASSERT_KNOWN(KnownControl, {done_o, run_valid_o, open_q})
  `ATOLL_ASSERT(OnlyStartsWhenIdle, start_i |-> state_q == StIdle)
  `ATOLL_ASSERT(NeverClosesWhatIsNotOpen, closed_i |-> open_q != 0)

endmodule
