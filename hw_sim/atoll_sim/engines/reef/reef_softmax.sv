// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Shares of rows of values: each value's exponential over the sum of its row's, in fixed point.
//
// A row comes three times, and is taken value by value: the first time for its greatest value, then
// for the sum of what a table has for the distances from that, and then for the results. The
// inverse of the sum takes three steps of Newton's method. All roundings are those of gemmlowp.
module reef_softmax
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes)
) (
  // Clock and asynchronous reset
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // Forget all that is under way
  input  logic                         flush_i,
  // A command begins in this cycle; where its results go
  input  logic                         start_i,
  input  logic      [            31:0] output_address_i,
  // A beat of the table
  input  logic                         load_i,
  input  logic      [            15:0] load_beat_i,
  input  logic      [ DataBytes*8-1:0] load_data_i,
  // Steps of the rows; the tag's `last` ends a row, `closes` is of the last time of the last one
  input  logic                         step_valid_i,
  output logic                         step_ready_o,
  input  logic [InputLanes-1:0][7:0]   step_data_i,
  input  logic      [  InputLanes-1:0] step_mask_i,
  input  tag_t                         step_tag_i,
  // A beat to write
  output logic                         beat_valid_o,
  input  logic                         beat_ready_i,
  output logic      [   IndexBits-1:0] beat_index_o,
  output logic      [ DataBytes*8-1:0] beat_data_o,
  output logic      [   DataBytes-1:0] beat_strobe_o,
  // The last beat is taken
  output logic                         closed_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})

  localparam int unsigned LaneBits = $clog2(InputLanes);
  localparam int unsigned WordBits = $clog2(DataBytes / 4);
  localparam int unsigned RowBits = 8 - WordBits;

  // Of the first guess of an inverse, with 29 bits behind the point
  localparam logic signed [31:0] FortyEight17ths = 32'sd1515870810;
  localparam logic signed [31:0] MinusThirtyTwo17ths = -32'sd1010580540;
  localparam logic signed [31:0] One = 32'sd536870912;
  localparam logic [2:0] LastProduct = 3'd6;

  typedef enum logic [2:0] {
    StGreatest,
    StSum,
    StNormalise,
    StInvert,
    StShare,
    StDrain
  } state_e;

  state_e state_d, state_q;

  // One value after the other
  logic [LaneBits-1:0] lane_q;
  logic [7:0] value;
  logic takes, take, last_lane, row_ends, advance, looks_up;

  assign value        = step_data_i[lane_q];
  assign last_lane    = lane_q == LaneBits'(InputLanes - 1) || !step_mask_i[lane_q+LaneBits'(1)];
  assign takes        = state_q == StGreatest || state_q == StSum || (state_q == StShare && advance);
  assign take         = step_valid_i && takes;
  assign step_ready_o = takes && last_lane;
  assign row_ends     = take && last_lane && step_tag_i.last;
  assign looks_up     = take && state_q != StGreatest;

  // Stages: 1 what the table has, 2 its product with the inverse, 3 the product's high half, 4 the
  // result. While a row is summed up there is nothing but the first one.
  logic [4:1] valid_q, last_q;
  logic [31:0] total_q;
  logic [4:0] headroom_q;
  logic [7:0] greatest_q;
  logic normal, drained, inverted;
  // Of an inverse: which product, and its stage
  logic [2:0] number_q;
  logic [1:0] stage_q;

  // A sum is not 0; that of a wrong table ends nevertheless.
  assign normal   = total_q[31] || headroom_q == '1;
  assign drained  = valid_q == '0;
  assign inverted = number_q == LastProduct && stage_q == 2'd2;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // The greatest value is looked for.
      StGreatest:  if (row_ends) state_d = StSum;
      // Exponentials are added.
      StSum:       if (row_ends) state_d = StNormalise;
      // The last one is added, and the sum's highest bit comes to the top.
      StNormalise: if (drained && normal) state_d = StInvert;
      // One product takes three cycles.
      StInvert:    if (inverted) state_d = StShare;
      // Results leave.
      StShare:     if (row_ends) state_d = StDrain;
      // The last result leaves.
      StDrain:     if (drained) state_d = StGreatest;
      default:     state_d = StGreatest;
    endcase
    if (flush_i) state_d = StGreatest;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StGreatest;
      lane_q     <= '0;
      greatest_q <= 8'h80;
    end else begin
      state_q <= state_d;
      if (flush_i) lane_q <= '0;
      else if (take) lane_q <= last_lane ? '0 : lane_q + LaneBits'(1);
      if (flush_i || state_q == StDrain) greatest_q <= 8'h80;
      else if (take && state_q == StGreatest && $signed(value) > $signed(greatest_q))
        greatest_q <= value;
    end
  end

  // Stage 1: the exponential of a distance, from a memory that is not reset
  logic [7:0] distance;
  logic [DataBytes*8-1:0] rows[1<<RowBits];
  logic [DataBytes/4-1:0][31:0] row_q;
  logic [WordBits-1:0] word_q;
  logic [30:0] power;

  assign distance = greatest_q - value;
  assign power    = row_q[word_q][30:0];

  always_ff @(posedge clk_i) begin
    if (load_i) rows[load_beat_i[RowBits-1:0]] <= load_data_i;
  end
  always_ff @(posedge clk_i) begin
    if (looks_up) begin
      row_q  <= rows[distance[7:WordBits]];
      word_q <= distance[WordBits-1:0];
    end
  end

  // Sums have 19 bits behind the point.
  logic [20:0] term;

  assign term = 21'(power[30:11]) + 21'd1;

  always_ff @(posedge clk_i) begin
    if (state_q == StGreatest) begin
      total_q    <= '0;
      headroom_q <= '0;
    end else if (valid_q[1] && (state_q == StSum || state_q == StNormalise)) begin
      total_q <= total_q + 32'(term[20:1]);
    end else if (state_q == StNormalise && !normal) begin
      total_q    <= total_q << 1;
      headroom_q <= headroom_q + 5'd1;
    end
  end

  // Stages 2 and 3 multiply for the inverse as well.
  logic signed [31:0] half, guess_q, error_q, inverse, left, right, high_q;
  logic signed [63:0] product_q;
  logic inverts;

  assign inverts = state_q == StInvert;
  assign half    = {1'b0, total_q[31:1]};
  assign inverse = guess_q[31:30] == '0 ? guess_q << 1 : 32'sh7fff_ffff;

  always_comb begin
    left  = inverse;
    right = {1'b0, power};
    if (inverts) begin
      left  = number_q == '0 || number_q[0] ? half : guess_q;
      right = number_q == '0 ? MinusThirtyTwo17ths : number_q[0] ? guess_q : error_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      number_q <= '0;
      stage_q   <= '0;
    end else if (!inverts) begin
      number_q <= '0;
      stage_q   <= '0;
    end else begin
      stage_q <= stage_q == 2'd2 ? '0 : stage_q + 2'd1;
      if (stage_q == 2'd2) number_q <= number_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (inverts && stage_q == 2'd2) begin
      if (number_q == '0) guess_q <= FortyEight17ths + high_q;
      else if (number_q[0]) error_q <= One - high_q;
      else guess_q <= guess_q + (high_q << 2);
    end
  end

  // Stage 4: the share of the row, of which 256 are the whole
  logic packer_ready;
  logic [7:0] byte_q;

  assign advance = packer_ready || !valid_q[4];

  function automatic logic [7:0] share(logic [30:0] high, logic [4:0] headroom);
    logic [30:0] doubled, rounded;
    doubled = high >> (6'd34 - 6'(headroom));
    rounded = 31'((32'(doubled) + 32'd1) >> 1);
    return (rounded > 31'd255 ? 8'd255 : rounded[7:0]) ^ 8'h80;
  endfunction

  always_ff @(posedge clk_i) begin
    if ((advance && valid_q[1]) || (inverts && stage_q == 2'd0)) product_q <= left * right;
    if ((advance && valid_q[2]) || (inverts && stage_q == 2'd1))
      high_q <= rounded_high_half(product_q, 1'b1);
    if (advance && valid_q[3]) byte_q <= share(high_q[30:0], headroom_q);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (flush_i) valid_q <= '0;
    else if (advance) begin
      valid_q[1]   <= looks_up;
      valid_q[4:2] <= state_q == StShare || state_q == StDrain ? valid_q[3:1] : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) last_q <= {last_q[3:1], row_ends && step_tag_i.closes};
  end

  reef_packer #(
    .Bytes(1),
    .DataBytes(DataBytes)
  ) u_packer (
    .clk_i,
    .rst_ni,
    .flush_i,
    .start_i,
    .address_i(output_address_i),
    .valid_i  (valid_q[4]),
    .ready_o  (packer_ready),
    .bytes_i  (byte_q),
    .enables_i(1'b1),
    .last_i   (last_q[4]),
    .beat_valid_o,
    .beat_ready_i,
    .beat_index_o,
    .beat_data_o,
    .beat_strobe_o,
    .closed_o
  );

  logic unused;
  assign unused = ^{load_beat_i, step_tag_i, product_q, term[0], high_q[31]};

  `ATOLL_ASSERT_KNOWN(KnownControl, {step_ready_o, beat_valid_o, closed_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenEmpty, start_i, state_q == StGreatest && drained && lane_q == '0)
  `ATOLL_ASSERT_IF(StepsBeginWithAValue, step_valid_i, step_mask_i[0])

endmodule
