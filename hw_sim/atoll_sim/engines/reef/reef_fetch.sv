// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Fetches one descriptor, multiplies out what the loops need, and judges whether it is legal.
module reef_fetch
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned LineColumns = 64,
  parameter int unsigned Vector = 1,
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Give up
  input  logic                          flush_i,
  // Fetch the descriptor at this 64-byte aligned address; only while idle
  input  logic                          start_i,
  input  logic        [           31:0] address_i,
  // The run to read
  output logic                          run_valid_o,
  input  logic                          run_ready_i,
  output run_t                          run_o,
  // A beat of the descriptor and its number
  input  logic                          load_i,
  input  logic        [           15:0] beat_i,
  input  logic        [DataBytes*8-1:0] data_i,
  // For one cycle: the descriptor was judged; from then on the rest is stable
  output logic                          done_o,
  output error_e                        error_o,
  output link_t                         link_o,
  output descriptor_t                   descriptor_o,
  output geometry_t                     geometry_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})

  localparam logic [7:0] DescriptorVersion = 8'd1;
  localparam int unsigned Beats = DescriptorBytes / DataBytes;
  localparam int unsigned BeatBits = $clog2(Beats);
  localparam logic [2:0] LastProduct = 3'd6;

  typedef enum logic [2:0] {
    StIdle,
    StAsk,
    StReceive,
    StMultiply,
    StJudge
  } state_e;

  state_e state_d, state_q;
  logic [2:0] product_d, product_q;
  descriptor_t descriptor, descriptor_q;
  geometry_t geometry_q;

  assign descriptor = descriptor_q;

  always_comb begin
    state_d   = state_q;
    product_d = product_q;
    unique case (state_q)
      // Nothing to do.
      StIdle:  if (start_i) state_d = StAsk;
      // The read is requested.
      StAsk:   if (run_ready_i) state_d = StReceive;
      // Beats arrive in order.
      StReceive: begin
        product_d = '0;
        if (load_i && beat_i == 16'(Beats - 1)) state_d = StMultiply;
      end
      // One product in each cycle.
      StMultiply: begin
        product_d = product_q + 3'd1;
        if (product_q == LastProduct) state_d = StJudge;
      end
      // Report.
      StJudge: state_d = StIdle;
      default: state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      product_q <= '0;
    end else begin
      state_q   <= state_d;
      product_q <= product_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) descriptor_q[beat_i[BeatBits-1:0]*DataBytes*8+:DataBytes*8] <= data_i;
  end

  // Check of what arrived
  logic [15:0] check;

  engine_check #(
    .DataBytes(DataBytes)
  ) u_check (
    .clk_i,
    .rst_ni,
    .load_i,
    .first_i(beat_i == '0),
    .data_i,
    .check_o(check)
  );

  // Products
  logic [31:0] left, product;
  logic [15:0] right;
  logic row_bytes_fit_q, channels_fit_q;

  always_comb begin
    left = 32'(descriptor.input_channels);
    unique case (product_q)
      3'd0: right = descriptor.kernel_width;
      3'd1: right = descriptor.depth_multiplier;
      3'd2: right = descriptor.pad_left;
      3'd3: right = descriptor.stride_x;
      3'd4: right = descriptor.input_width;
      3'd5: {left, right} = {descriptor.row_pitch, descriptor.pad_top};
      default: {left, right} = {descriptor.row_pitch, descriptor.stride_y};
    endcase
  end
  assign product = left * 32'(right);

  always_ff @(posedge clk_i) begin
    if (state_q == StMultiply) begin
      unique case (product_q)
        3'd0: row_bytes_fit_q <= product == descriptor.kernel_row_bytes;
        3'd1: channels_fit_q <= product == 32'(descriptor.output_channels);
        3'd2: geometry_q.pad_left <= product;
        3'd3: geometry_q.stride_x <= product;
        3'd4: geometry_q.row_bytes <= product;
        3'd5: geometry_q.pad_top <= product;
        default: geometry_q.stride_y <= product;
      endcase
    end
  end

  // Judgement
  logic known, depthwise, dense, counts, kernel, channels, dense_shape, aligned, reserved, lines;
  logic vector, joined, greatest, is_link, is_move;
  link_command_t link;
  moves_t move;

  assign depthwise = descriptor.opcode == OpDepthwiseConv2d;
  assign dense = descriptor.opcode == OpFullyConnected;
  assign vector = is_vector(descriptor.opcode, 2'(Vector));
  assign move = moves_t'(descriptor);
  assign is_move = descriptor.opcode == OpMove;
  assign link = link_command_t'(descriptor);
  assign is_link = descriptor.opcode == OpLink;
  assign known = (descriptor.opcode == OpConv2d || depthwise || dense || vector || is_link)
      && descriptor.version == DescriptorVersion;
  assign reserved = descriptor.reserved_12 == 0;
  assign counts = descriptor.input_height != 0 && descriptor.input_width != 0
      && descriptor.input_channels != 0 && descriptor.output_height != 0
      && descriptor.output_width != 0 && descriptor.output_channels != 0
      && descriptor.stride_y != 0 && descriptor.stride_x != 0
      && descriptor.row_pitch != 0 && descriptor.weight_block_bytes != 0;
  assign kernel = descriptor.pad_top < descriptor.kernel_height
      && descriptor.pad_left < descriptor.kernel_width
      && (depthwise ? descriptor.kernel_row_bytes == 32'(descriptor.kernel_width)
                    : row_bytes_fit_q);
  assign channels = descriptor.depth_multiplier != 0
      && (depthwise ? channels_fit_q : descriptor.depth_multiplier == 16'd1);
  assign dense_shape = descriptor.input_height == 16'd1
      && descriptor.kernel_height == 16'd1 && descriptor.kernel_width == 16'd1
      && descriptor.stride_y == 16'd1 && descriptor.stride_x == 16'd1;
  assign lines = depthwise && LineColumns != 0
      && descriptor.depth_multiplier == 16'd1 && 32'(descriptor.input_width) <= LineColumns
      && descriptor.kernel_height <= 16'd4 && descriptor.kernel_width <= 16'd8
      && descriptor.weight_block_bytes <= WeightRows * InputLanes * OutputLanes / 2;
  assign joined = !depthwise
      && descriptor.weight_block_bytes <= WeightRows * InputLanes * OutputLanes;
  assign greatest = depthwise && !descriptor.lines;
  assign aligned = descriptor.weights_address[3:0] == 0 && descriptor.parameters_address[3:0] == 0;

  always_comb begin
    error_o = ErrNone;
    if (state_q != StJudge) error_o = ErrNone;
    else if (!known) error_o = ErrBadOpcode;
    else if (is_link) begin
      if (!link_fits(link)) error_o = ErrBadField;
      else if (link.address[5:0] != 0) error_o = ErrMisaligned;
      else if (check != descriptor.check) error_o = ErrBadCheck;
    end else if (vector && is_move) begin
      if (!moves_fit(move)) error_o = ErrBadField;
      else if (move.mapped && move.table_address[3:0] != 0) error_o = ErrMisaligned;
      else if (check != descriptor.check) error_o = ErrBadCheck;
    end else if (vector && descriptor.opcode == OpSoftmax) begin
      if (!softmax_fits(move)) error_o = ErrBadField;
      else if (move.table_address[3:0] != 0) error_o = ErrMisaligned;
      else if (check != descriptor.check) error_o = ErrBadCheck;
    end else if (vector) begin
      if (!elements_fit(elements_t'(descriptor))) error_o = ErrBadField;
      else if (check != descriptor.check) error_o = ErrBadCheck;
    end else if (!(reserved && counts && kernel && channels && (!dense || dense_shape)
               && (!descriptor.lines || lines) && (!descriptor.joined || joined)
               && (!descriptor.greatest || greatest)) || $signed(
            descriptor.activation_min
        ) > $signed(
            descriptor.activation_max
        ))
      error_o = ErrBadField;
    else if (!aligned) error_o = ErrMisaligned;
    else if (check != descriptor.check) error_o = ErrBadCheck;
  end

  always_comb begin
    run_o         = '0;
    run_o.kind    = KindDescriptor;
    run_o.address = address_i;
    run_o.bytes   = DescriptorBytes;
  end
  assign run_valid_o  = state_q == StAsk;
  assign done_o       = state_q == StJudge;
  assign link_o       = '{
          valid: done_o && is_link && error_o == ErrNone,
          address: link.address,
          count: link.count
      };
  assign descriptor_o = descriptor;
  assign geometry_o   = geometry_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {run_valid_o, done_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, state_q == StIdle)
  `ATOLL_ASSERT_IF(OnlyLoadsWhenAsked, load_i, state_q == StReceive)

endmodule
