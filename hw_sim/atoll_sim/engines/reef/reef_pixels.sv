// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The loops over one block of output channels: pixels, kernel rows, and runs of a kernel row.
//
// A run holds what lies inside the image: of a convolution the whole kernel row (or, if the
// weights do not stay on chip, as much of it as they can hold), depthwise the block's channels
// of one tap. Columns count bytes for convolution and pixels for depthwise.
module reef_pixels
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes  = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows  = 128,
  parameter int unsigned DataBytes   = 8
) (
  // Clock and asynchronous reset
  input  logic               clk_i,
  input  logic               rst_ni,
  // Give up
  input  logic               flush_i,
  // The operator; stable while busy
  input  logic               depthwise_i,
  input  descriptor_t        descriptor_i,
  input  geometry_t          geometry_i,
  // The block: its weights, whether they are on chip, and depthwise its input channels
  input  logic        [31:0] weights_address_i,
  input  logic               resident_i,
  input  logic        [15:0] channel_i,
  input  logic        [ 4:0] channels_i,
  input  logic        [ 1:0] bank_i,
  // Begin; only when not busy
  input  logic               start_i,
  output logic               busy_o,
  // Runs to read, in order
  output logic               run_valid_o,
  input  logic               run_ready_i,
  output run_t               run_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)
  `ATOLL_ASSERT_INIT(LegalBeat,
      DataBytes inside {8, 16} && DataBytes >= InputLanes && DataBytes >= OutputLanes)

  localparam int unsigned InputBits = $clog2(InputLanes);
  localparam int unsigned OutputBits = $clog2(OutputLanes);
  localparam int unsigned BeatBits = $clog2(DataBytes);
  localparam int unsigned TapBits = BeatBits - OutputBits;
  localparam logic [33:0] WholeRow = 34'h1_0000_0000;

  // Round up to whole steps.
  function automatic logic [31:0] whole_steps(logic [31:0] bytes);
    return (bytes + (InputLanes - 1)) & ~(InputLanes - 1);
  endfunction

  // Constants of the operator
  logic [33:0] left_start, left_stride, bound, chunk, extent;
  logic [31:0] origin, row_weight_bytes;

  assign left_start = -(depthwise_i ? 34'(descriptor_i.pad_left) : 34'(geometry_i.pad_left));
  assign left_stride = depthwise_i ? 34'(descriptor_i.stride_x) : 34'(geometry_i.stride_x);
  assign bound = depthwise_i ? 34'(descriptor_i.input_width) : 34'(geometry_i.row_bytes);
  assign extent = 34'(descriptor_i.kernel_row_bytes);
  assign origin = descriptor_i.input_address - geometry_i.pad_top - geometry_i.pad_left;
  always_comb begin
    if (depthwise_i) chunk = 34'd1;
    else if (resident_i) chunk = WholeRow;
    else chunk = 34'(WeightRows * InputLanes);
    row_weight_bytes = descriptor_i.kernel_row_bytes << OutputBits;
    if (!depthwise_i) row_weight_bytes = whole_steps(descriptor_i.kernel_row_bytes) << OutputBits;
    if (descriptor_i.joined) row_weight_bytes = descriptor_i.kernel_row_bytes;
  end

  // Where the loops are. `left` and `top`: the kernel's corner in the image, negative in the
  // padding. `position`: column of the kernel row at which the next run may begin.
  logic busy_q, loaded_q;
  logic [15:0] x_q, y_q, kernel_row_q;
  logic signed [33:0] left_q;
  logic signed [17:0] top_q;
  logic [33:0] position_q;
  logic [31:0] line_address_q, pixel_address_q, row_address_q, tap_offset_q, row_weights_q;

  // What of the kernel lies inside the image
  logic signed [17:0] row, height;
  logic [33:0] from, to, inside_from, inside_to, chunk_end;
  logic empty, row_inside, first_row, last_row, first_chunk, last_chunk;

  assign height = 18'({2'b0, descriptor_i.input_height});
  assign row = top_q + 18'({2'b0, kernel_row_q});
  assign empty = top_q >= height || left_q >= $signed(bound);
  assign row_inside = row >= 0 && row < height;
  assign first_row = kernel_row_q == 0 || row == 0;
  assign last_row = kernel_row_q + 16'd1 == descriptor_i.kernel_height || row + 18'sd1 == height;

  assign inside_from = left_q[33] ? -left_q : '0;
  assign inside_to = extent < bound - left_q ? extent : bound - left_q;
  assign chunk_end = position_q + chunk;
  assign first_chunk = position_q <= inside_from;
  assign last_chunk = chunk_end >= inside_to;
  assign from = first_chunk ? inside_from : position_q;
  assign to = last_chunk ? inside_to : chunk_end;

  // Emit a run, after its weights unless they are on chip, or skip what lies outside.
  logic emit, load_weights, advance, end_row, end_pixel, last_pixel, last_line;

  assign emit = empty || (row_inside && chunk_end > inside_from);
  assign load_weights = !resident_i && !empty && !loaded_q;
  assign advance = busy_q && (!emit || (run_ready_i && !load_weights));
  assign end_row = !row_inside || last_chunk;
  assign end_pixel = empty || (end_row && last_row);
  assign last_pixel = x_q + 16'd1 == descriptor_i.output_width;
  assign last_line = y_q + 16'd1 == descriptor_i.output_height;

  // Runs
  logic [31:0] weight_offset, weights_from;
  logic [13:0] resident_unit;

  assign weight_offset = row_weights_q + (32'(position_q) << OutputBits);
  assign weights_from = weights_address_i + weight_offset;
  assign resident_unit = depthwise_i ? 14'(weight_offset >> OutputBits)
                                     : 14'(row_weights_q >> (InputBits + OutputBits));

  always_comb begin
    run_o           = '0;
    run_o.kind      = KindInput;
    run_o.depthwise = depthwise_i;
    run_o.tag       = '{
        bank: bank_i,
        pair: 1'b0,
        first: empty || (first_row && first_chunk),
        last: empty || (last_row && last_chunk),
        closes: last_pixel && last_line
    };
    if (load_weights) begin
      run_o.kind = KindWeights;
      run_o.address = weights_from;
      run_o.bytes = (whole_steps(32'(to)) - 32'(position_q)) << OutputBits;
      if (depthwise_i) begin
        run_o.address[BeatBits-1:0] = '0;
        run_o.bytes = DataBytes;
      end
    end else if (depthwise_i && !empty) begin
      run_o.address = row_address_q + tap_offset_q + 32'(channel_i);
      run_o.bytes = 32'(channels_i);
      run_o.unit = resident_i ? resident_unit
                              : 14'(weight_offset >> OutputBits) & 14'((1 << TapBits) - 1);
    end else if (!empty) begin
      run_o.address = row_address_q + 32'(from);
      run_o.bytes = 32'(to - from);
      if (descriptor_i.joined) begin
        run_o.joined = 1'b1;
        run_o.unit = 14'(row_weights_q) + 14'(from);
      end else begin
        run_o.phase = 4'(from[InputBits-1:0]);
        run_o.unit = (resident_i ? resident_unit : 14'd0) + 14'((from - position_q) >> InputBits);
      end
    end
  end
  assign run_valid_o = busy_q && emit;
  assign busy_o = busy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      loaded_q <= 1'b0;
    end else if (flush_i) begin
      busy_q   <= 1'b0;
      loaded_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= 1'b1;
    end else if (advance) begin
      busy_q   <= !(end_pixel && last_pixel && last_line);
      loaded_q <= 1'b0;
    end else if (run_valid_o && run_ready_i) begin
      loaded_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      {x_q, y_q}      <= '0;
      left_q          <= left_start;
      top_q           <= -18'(descriptor_i.pad_top);
      line_address_q  <= origin;
      pixel_address_q <= origin;
    end else if (advance && end_pixel && last_pixel) begin
      x_q             <= '0;
      y_q             <= y_q + 16'd1;
      left_q          <= left_start;
      top_q           <= top_q >= height ? top_q : top_q + 18'({2'b0, descriptor_i.stride_y});
      line_address_q  <= line_address_q + geometry_i.stride_y;
      pixel_address_q <= line_address_q + geometry_i.stride_y;
    end else if (advance && end_pixel) begin
      x_q             <= x_q + 16'd1;
      left_q          <= left_q >= $signed(bound) ? left_q : left_q + left_stride;
      pixel_address_q <= pixel_address_q + geometry_i.stride_x;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i || (advance && end_row) || (advance && empty)) begin
      position_q   <= '0;
      tap_offset_q <= '0;
    end else if (advance) begin
      position_q   <= chunk_end;
      tap_offset_q <= tap_offset_q + 32'(descriptor_i.input_channels);
    end
    if (start_i || (advance && end_pixel)) begin
      kernel_row_q  <= '0;
      row_weights_q <= '0;
    end else if (advance && end_row) begin
      kernel_row_q  <= kernel_row_q + 16'd1;
      row_weights_q <= row_weights_q + row_weight_bytes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) row_address_q <= origin;
    else if (advance && end_pixel && last_pixel)
      row_address_q <= line_address_q + geometry_i.stride_y;
    else if (advance && end_pixel) row_address_q <= pixel_address_q + geometry_i.stride_x;
    else if (advance && end_row) row_address_q <= row_address_q + descriptor_i.row_pitch;
  end

  logic unused;
  assign unused = ^descriptor_i;

  `ATOLL_ASSERT_KNOWN(KnownControl, {busy_o, run_valid_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, !busy_q)
  `ATOLL_ASSERT_IF(NeverReadsOutsideTheRow,
      run_valid_o && !empty, from < to && to <= inside_to && inside_to <= extent)

endmodule
