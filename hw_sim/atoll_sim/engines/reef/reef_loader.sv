// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Reads parameters and weights of an operator's blocks of output channels, ahead of their pixels.
//
// A set is one block, or a pair of blocks that are computed at once. Two sets may be under way:
// the next one is loaded while the one before is computed. There are banks for the blocks of both,
// and each has half of the rows of weights. If the weights of a set need more, the next set waits
// until the one before has left; weights that do not fit on chip at all come with the pixels.
module reef_loader
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Give up
  input  logic                          flush_i,
  // Load for this operator; stable until its last set has left
  input  logic                          start_i,
  input  descriptor_t                   descriptor_i,
  // Weights stay on chip; blocks may be computed in pairs
  output logic                          resident_o,
  output logic                          pairs_o,
  // A set is there and not taken yet; take it
  output logic                          loaded_o,
  input  logic                          take_i,
  // A set has left the datapath; none is under way
  input  logic                          closed_i,
  output logic                          empty_o,
  // The blocks, by banks
  output block_t [3:0]                  blocks_o,
  // Depthwise: which byte each lane of a set's block uses
  input  logic                          settle_i,
  input  logic                          settle_set_i,
  input  logic   [ 15:0][          3:0] lane_byte_i,
  // Runs to read, in order
  output logic                          run_valid_o,
  input  logic                          run_ready_i,
  output logic   [31:0]                 run_address_o,
  output logic   [31:0]                 run_bytes_o,
  // The beats read
  input  logic                          beat_valid_i,
  output logic                          beat_pop_o,
  output constants_t                    beat_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)

  localparam int unsigned LaneBits = $clog2(OutputLanes);
  localparam int unsigned WeightBits = $clog2(WeightRows);
  localparam int unsigned RowBits = $clog2(InputLanes * OutputLanes);
  localparam logic [31:0] Capacity = WeightRows * InputLanes * OutputLanes;
  localparam logic [31:0] TableBytes = OutputLanes * 16;

  typedef enum logic [1:0] {
    StIdle,
    StOpen,
    StTable,
    StWeights
  } state_e;

  // A run that was asked for
  typedef struct packed {
    logic                  weights;
    logic                  ends;     // is the last one of its set
    logic                  set;
    logic [WeightBits-1:0] row;
    logic [15:0]           beats;
  } load_t;

  state_e state_d, state_q;
  logic [16:0] channel_q, channels, channels_left;
  logic [31:0] weights_q, table_q, block_bytes;
  logic dense, few, halves, paired, last_set, opens, moves;
  logic set_q;
  logic [1:0] open_q, loaded_q;
  logic [LaneBits-1:0] final_lane;
  block_t first_block, second_block;
  block_t [3:0] blocks_q;
  logic [WeightBits-1:0] row;

  assign block_bytes   = descriptor_i.weight_block_bytes;
  assign dense         = descriptor_i.opcode != OpDepthwiseConv2d;
  assign resident_o    = block_bytes <= Capacity;
  // All channels are one pair.
  assign few           = descriptor_i.output_channels <= 16'(2 * OutputLanes);
  assign pairs_o       = dense && !descriptor_i.uniform
      && (block_bytes <= Capacity / 4 || (few && block_bytes <= Capacity / 2));
  assign halves        = block_bytes <= (pairs_o ? Capacity / 4 : Capacity / 2);
  assign channels_left = 17'(descriptor_i.output_channels) - channel_q;
  assign paired        = pairs_o && channels_left > 17'(OutputLanes);
  assign channels      = paired ? 17'(2 * OutputLanes) : 17'(OutputLanes);
  assign last_set      = channels_left <= channels;
  assign final_lane    = last_set ? LaneBits'(channels_left - 17'd1) : LaneBits'(OutputLanes - 1);
  assign opens         = state_q == StOpen && (resident_o && !halves ? open_q == 0 : !open_q[1]);
  assign moves         = run_valid_o && run_ready_i && (state_q == StWeights || !resident_o);
  assign row           = halves && set_q ? WeightBits'(WeightRows / 2) : '0;
  assign empty_o       = open_q == 0;
  assign loaded_o      = loaded_q != 0;
  assign blocks_o      = blocks_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // Nothing to load.
      StIdle:    if (start_i) state_d = StOpen;
      // Banks are free, and take the settings of the blocks.
      StOpen:    if (opens) state_d = StTable;
      // The parameter tables are requested.
      StTable:
      if (run_valid_o && run_ready_i) begin
        if (resident_o) state_d = StWeights;
        else state_d = last_set ? StIdle : StOpen;
      end
      // The weights are requested.
      StWeights: if (run_valid_o && run_ready_i) state_d = last_set ? StIdle : StOpen;
      default:   state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      channel_q <= '0;
      weights_q <= '0;
      table_q   <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == StIdle) begin
        channel_q <= '0;
        weights_q <= descriptor_i.weights_address;
        table_q   <= descriptor_i.parameters_address;
      end else if (moves) begin
        channel_q <= channel_q + channels;
        if (!descriptor_i.uniform) begin
          weights_q <= weights_q + (whole(block_bytes) << paired);
          table_q   <= table_q + (TableBytes << paired);
        end
      end
    end
  end

  // Blocks are whole multiples of 16 bytes.
  function automatic logic [31:0] whole(logic [31:0] bytes);
    return (bytes + 32'd15) & ~32'd15;
  endfunction

  logic arrives;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q    <= 1'b0;
      open_q   <= '0;
      loaded_q <= '0;
    end else if (flush_i) begin
      set_q    <= 1'b0;
      open_q   <= '0;
      loaded_q <= '0;
    end else begin
      if (moves) set_q <= !set_q;
      open_q   <= open_q + 2'(opens) - 2'(closed_i);
      loaded_q <= loaded_q + 2'(arrives) - 2'(take_i);
    end
  end

  always_comb begin
    first_block  = '0;
    second_block = '0;
    if (opens) begin
      first_block = '{
          input_zero: descriptor_i.input_zero,
          output_zero: descriptor_i.output_zero,
          minimum: descriptor_i.activation_min,
          maximum: descriptor_i.activation_max,
          greatest: descriptor_i.greatest,
          once: descriptor_i.once,
          lane_byte: '0,
          last_lane: paired ? 4'(OutputLanes - 1) : 4'(final_lane),
          row: 14'(row),
          address: descriptor_i.output_address + 32'(channel_q),
          stride: descriptor_i.output_channels
      };
      second_block           = first_block;
      second_block.last_lane = 4'(final_lane);
      second_block.row       = first_block.row + 14'(block_bytes >> RowBits);
      second_block.address   = first_block.address + OutputLanes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (opens) blocks_q[{set_q, 1'b0}] <= first_block;
    if (opens && paired) blocks_q[{set_q, 1'b1}] <= second_block;
    if (settle_i) blocks_q[{settle_set_i, 1'b0}].lane_byte <= lane_byte_i;
  end

  // Runs, and what they are for
  logic loads_valid, loads_full, ends;
  load_t asked, load;
  logic [15:0] beat_q;

  assign run_valid_o   = (state_q == StTable || state_q == StWeights) && !loads_full;
  assign run_address_o = state_q == StTable ? table_q : weights_q;
  assign run_bytes_o   = (state_q == StTable ? TableBytes : whole(block_bytes)) << paired;
  assign asked = '{
          weights: state_q == StWeights,
          ends: state_q == StWeights || !resident_o,
          set: set_q,
          row: row,
          beats: 16'(run_bytes_o / DataBytes)
      };

  atoll_fifo #(
    .Width($bits(load_t)),
    .Depth(2)
  ) u_loads (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (run_valid_o && run_ready_i),
    .data_i (asked),
    .pop_i  (ends),
    .valid_o(loads_valid),
    .data_o (load),
    .full_o (loads_full)
  );

  assign beat_pop_o = beat_valid_i && loads_valid;
  assign ends       = beat_pop_o && beat_q + 16'd1 == load.beats;
  assign arrives    = ends && load.ends;
  assign beat_o = '{
          parameters: beat_pop_o && !load.weights,
          weights: beat_pop_o && load.weights,
          bank: {load.set, 1'b0},
          row: 14'(load.row),
          beat: beat_q
      };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) beat_q <= '0;
    else if (flush_i || ends) beat_q <= '0;
    else if (beat_pop_o) beat_q <= beat_q + 16'd1;
  end

  logic unused;
  assign unused = ^descriptor_i;

  `ATOLL_ASSERT_KNOWN(KnownControl, {run_valid_o, loaded_o, beat_pop_o, open_q})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, state_q == StIdle && open_q == 0)
  `ATOLL_ASSERT_IF(NeverClosesWhatIsNotOpen, closed_i, open_q != 0)
  `ATOLL_ASSERT_IF(NeverTakesWhatIsNotThere, take_i, loaded_q != 0)
  `ATOLL_ASSERT_IF(WholeBeats,
      run_valid_o, run_bytes_o % DataBytes == 0 && run_address_o % DataBytes == 0)

endmodule
