`include "atoll_assert.svh"

// Scales the sums of a pixel to int8, one output lane in each cycle.
//
// Takes a copy of the sums, so that the array goes on with the next pixel. Four stages: shift
// left and pick the lane's multiplier; 64-bit product; rounding doubling high half; rounding
// shift right, zero point and clamp. Both roundings are those of gemmlowp, bit for bit.
module reef_requantize #(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  localparam int unsigned LaneBits = $clog2(OutputLanes)
) (
  // Clock and asynchronous reset
  input  logic                                clk_i,
  input  logic                                rst_ni,
  // Forget what is in the pipeline
  input  logic                                flush_i,
  // Settings of the operator and of the block; stable while not idle
  input  logic        [            7:0]       output_zero_i,
  input  logic        [            7:0]       minimum_i,
  input  logic        [            7:0]       maximum_i,
  input  logic        [   LaneBits-1:0]       last_lane_i,
  // Sums of a pixel
  input  logic                                sums_valid_i,
  output logic                                sums_ready_o,
  input  logic        [OutputLanes-1:0][31:0] sums_i,
  // Multiplier and shift of the lane asked for
  output logic        [   LaneBits-1:0]       lane_o,
  input  logic        [           31:0]       multiplier_i,
  input  logic signed [            5:0]       shift_i,
  // Results in lane order
  output logic                                byte_valid_o,
  input  logic                                byte_ready_i,
  output logic        [            7:0]       byte_o,
  output logic        [   LaneBits-1:0]       byte_lane_o,
  output logic                                byte_last_o,
  // Nothing is in the pipeline
  output logic                                idle_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})

  // The lane, and whether it is the pixel's last, travel with the data.
  typedef struct packed {
    logic                valid;
    logic                last;
    logic [LaneBits-1:0] lane;
  } tag_t;

  logic advance, busy_q, last_lane;
  logic [LaneBits-1:0] lane_q;
  logic [OutputLanes-1:0][31:0] sums_q;
  tag_t tag1_q, tag2_q, tag3_q, tag4_q;

  assign advance      = !(tag4_q.valid && !byte_ready_i);
  assign last_lane    = lane_q == last_lane_i;
  assign sums_ready_o = !busy_q || (advance && last_lane);
  assign lane_o       = lane_q;
  assign idle_o       = !(busy_q || tag1_q.valid || tag2_q.valid || tag3_q.valid || tag4_q.valid);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      lane_q <= '0;
    end else if (flush_i) begin
      busy_q <= 1'b0;
      lane_q <= '0;
    end else begin
      if (sums_ready_o) busy_q <= sums_valid_i;
      if (busy_q && advance) lane_q <= last_lane ? '0 : lane_q + LaneBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (sums_valid_i && sums_ready_o) sums_q <= sums_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tag1_q, tag2_q, tag3_q, tag4_q} <= '0;
    end else if (flush_i) begin
      {tag1_q, tag2_q, tag3_q, tag4_q} <= '0;
    end else if (advance) begin
      tag1_q <= '{valid: busy_q, last: last_lane, lane: lane_q};
      tag2_q <= tag1_q;
      tag3_q <= tag2_q;
      tag4_q <= tag3_q;
    end
  end

  // Stages 1 and 2
  logic signed [31:0] shifted_q, multiplier_q;
  logic signed [63:0] product_q;
  logic [4:0] right1_q, right2_q, right3_q;

  always_ff @(posedge clk_i) begin
    if (advance && busy_q) begin
      shifted_q    <= sums_q[lane_q] << (shift_i[5] ? 5'd0 : shift_i[4:0]);
      multiplier_q <= multiplier_i;
      right1_q     <= shift_i[5] ? 5'(-shift_i) : 5'd0;
    end
    if (advance && tag1_q.valid) begin
      product_q <= shifted_q * multiplier_q;
      right2_q  <= right1_q;
    end
  end

  // Stage 3: doubling and dividing by 2^32, to nearest, halves up; only the product of the two
  // most negative numbers does not fit.
  logic signed [31:0] high_q;

  function automatic logic [31:0] rounded_high_half(logic [63:0] product);
    if (product == 64'h4000_0000_0000_0000) return 32'h7fff_ffff;
    return 32'((product + 64'h4000_0000) >> 31);
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance && tag2_q.valid) begin
      high_q   <= rounded_high_half(product_q);
      right3_q <= right2_q;
    end
  end

  // Stage 4: divide by a power of two, to nearest, halves away from zero.
  logic [7:0] byte_q;

  function automatic logic signed [32:0] rounded_shift(logic signed [31:0] value,
                                                       logic [4:0] places);
    logic [31:0] mask, threshold;
    logic round_up;
    mask      = (32'd1 << places) - 32'd1;
    threshold = (mask >> 1) + 32'(value[31]);
    round_up  = (value & mask) > threshold;
    return 33'(value >>> places) + 33'(round_up);
  endfunction

  function automatic logic [7:0] clamped(logic signed [33:0] value, logic signed [7:0] minimum,
                                         logic signed [7:0] maximum);
    if (value < 34'(minimum)) return minimum;
    if (value > 34'(maximum)) return maximum;
    return value[7:0];
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance && tag3_q.valid)
      byte_q <= clamped(
          34'(rounded_shift(high_q, right3_q)) + 34'(signed'(output_zero_i)), minimum_i, maximum_i
      );
  end

  assign byte_valid_o = tag4_q.valid;
  assign byte_lane_o  = tag4_q.lane;
  assign byte_last_o  = tag4_q.last;
  assign byte_o       = byte_q;

  // The next byte is the next lane's.
  logic [LaneBits-1:0] due_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) due_q <= '0;
    else if (flush_i) due_q <= '0;
    else if (byte_valid_o && byte_ready_i) due_q <= byte_last_o ? '0 : due_q + LaneBits'(1);
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {sums_ready_o, byte_valid_o, idle_o})
  `ATOLL_ASSERT(NeverSkipsALane, byte_valid_o |-> byte_lane_o == due_q)
  `ATOLL_ASSERT(ByteIsHeld, byte_valid_o && !byte_ready_i && !flush_i |=>
                byte_valid_o && $stable(byte_o) && $stable(byte_lane_o))

endmodule
