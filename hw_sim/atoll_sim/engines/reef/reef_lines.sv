// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Depthwise convolution by lines: keeps the rows of a block's input that windows still need on
// chip, so that each pixel is read once, and takes many taps at a time.
//
// Pixels arrive in the order of memory, block after block, and fill four rows in turn. A step is
// up to four rows of the window by as many columns as fill the input lanes. A pixel waits as long
// as its row would take the place of one that a window needs; a step waits for the last pixel of
// its window. Rows are counted on over all blocks of an operator, so that the next block arrives
// while the last rows of the one before are computed.
module reef_lines
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes  = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned LineColumns = 64
) (
  // Clock and asynchronous reset; the memory itself is not reset
  input  logic                                           clk_i,
  input  logic                                           rst_ni,
  // Forget what is in the pipeline
  input  logic                                           flush_i,
  // Begin an operator; the rest is stable from then on
  input  lines_t                                         lines_i,
  // Pixels of a block, in the order of memory
  input  logic                                           pixel_valid_i,
  output logic                                           pixel_ready_o,
  input  logic   [                    OutputLanes*8-1:0] pixel_i,
  // Steps: what each lane multiplies, without the zero point, and the row of its weights
  output logic                                           step_valid_o,
  input  logic                                           step_ready_i,
  output logic   [OutputLanes-1:0][InputLanes-1:0][ 8:0] step_taps_o,
  output logic                    [                13:0] step_row_o,
  output tag_t                                           step_tag_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalColumns, $onehot(LineColumns) && LineColumns >= 16)

  // Banks: rows that are kept, and columns that a step has
  localparam int unsigned Rows = 4;
  localparam int unsigned Columns = InputLanes / Rows;
  localparam int unsigned ColumnBits = $clog2(LineColumns);
  localparam int unsigned BankBits = Columns > 1 ? $clog2(Columns) : 1;
  localparam int unsigned DeepBits = ColumnBits - $clog2(Columns);
  localparam int unsigned WordBits = OutputLanes * 9;

  typedef logic signed [18:0] place_t;

  // Low bits of a column that say which bank holds it; the rest say where
  localparam logic [BankBits-1:0] BankMask = BankBits'(Columns - 1);

  // Where the next pixel goes: a row counted over all blocks, and its column
  logic [17:0] row_q;
  logic [15:0] column_q;
  logic take;
  logic [OutputLanes-1:0][8:0] pixel;

  // Where the next step is: the block's first row, the window's corner, and columns done of it
  logic set_q;
  logic [17:0] base_q;
  logic [15:0] x_q, y_q;
  place_t top_q, left_q;
  logic [3:0] done_q;
  logic issue, advance, last_step, last_x, last_y;

  // The row that windows from now on begin in, at most the first one of the next block; the last
  // pixel of this window
  logic [17:0] needed_row, last_row, ahead, behind;
  place_t height, width, bottom, right;
  logic [15:0] last_column;
  logic there;

  assign height      = place_t'({3'b0, lines_i.height});
  assign width       = place_t'({3'b0, lines_i.width});
  assign bottom      = top_q + place_t'(lines_i.kernel_height) - 19'sd1;
  assign right       = left_q + place_t'(lines_i.kernel_width) - 19'sd1;
  assign needed_row  = base_q + (top_q < 0 ? '0 : top_q < height ? 18'(top_q) : 18'(lines_i.height));
  assign last_row    = base_q + (bottom >= height ? 18'(lines_i.height) - 18'd1 : 18'(bottom));
  assign last_column = right >= width ? lines_i.width - 16'd1 : 16'(right);
  assign ahead       = row_q - needed_row;
  assign behind      = row_q - last_row;
  assign there       = behind == 0 ? column_q > last_column : !behind[17];

  // Pixels
  assign pixel_ready_o = ahead[17] || ahead < 18'(Rows);
  assign take          = pixel_valid_i && pixel_ready_o;

  // Nothing is worked out without a pixel, or below without a step, which saves the simulator time.
  always_comb begin
    pixel = '0;
    if (take) begin
      for (int lane = 0; lane < OutputLanes; lane++)
      pixel[lane] = {pixel_i[lane*8+7], pixel_i[lane*8+:8]} - {lines_i.zero[7], lines_i.zero};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      row_q    <= '0;
      column_q <= '0;
    end else if (lines_i.start) begin
      row_q    <= '0;
      column_q <= '0;
    end else if (take) begin
      column_q <= column_q + 16'd1;
      if (column_q + 16'd1 == lines_i.width) begin
        row_q    <= row_q + 18'd1;
        column_q <= '0;
      end
    end
  end

  // Steps
  logic valid_q;

  assign advance   = !valid_q || step_ready_i;
  assign issue     = lines_i.on && !lines_i.start && there && advance;
  assign last_step = done_q + 4'(Columns) >= lines_i.kernel_width;
  assign last_x    = x_q + 16'd1 == lines_i.output_width;
  assign last_y    = y_q + 16'd1 == lines_i.output_height;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q  <= 1'b0;
      base_q <= '0;
      {x_q, y_q, done_q} <= '0;
      {top_q, left_q} <= '0;
    end else if (lines_i.start) begin
      set_q  <= lines_i.set;
      base_q <= '0;
      {x_q, y_q, done_q} <= '0;
      top_q  <= -place_t'(lines_i.pad_top);
      left_q <= -place_t'(lines_i.pad_left);
    end else if (issue && !last_step) begin
      done_q <= done_q + 4'(Columns);
    end else if (issue) begin
      done_q <= '0;
      x_q    <= last_x ? '0 : x_q + 16'd1;
      left_q <= last_x ? -place_t'(lines_i.pad_left)
                       : left_q >= width ? left_q : left_q + place_t'({3'b0, lines_i.stride_x});
      if (last_x) begin
        y_q   <= last_y ? '0 : y_q + 16'd1;
        top_q <= last_y ? -place_t'(lines_i.pad_top)
                        : top_q >= height ? top_q : top_q + place_t'({3'b0, lines_i.stride_y});
      end
      if (last_x && last_y) begin
        set_q  <= !set_q;
        base_q <= base_q + 18'(lines_i.height);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (flush_i) valid_q <= 1'b0;
    else if (advance) valid_q <= issue;
  end

  // Which taps of the step lie in the window and in the image
  place_t first;
  logic [Rows-1:0] row_inside;
  logic [Columns-1:0] column_inside;

  assign first = left_q + place_t'(done_q);

  for (genvar r = 0; r < Rows; r++) begin : gen_row_inside
    place_t row;
    assign row = top_q + 19'(r);
    assign row_inside[r] = 3'(r) < lines_i.kernel_height && row >= 0 && row < height;
  end
  for (genvar c = 0; c < Columns; c++) begin : gen_column_inside
    place_t column;
    assign column = first + 19'(c);
    assign column_inside[c] = done_q + 4'(c) < lines_i.kernel_width && column >= 0 && column < width;
  end

  // The memory: a bank for each row that is kept and each column of a step
  logic [Rows-1:0][Columns-1:0][WordBits-1:0] words;

  for (genvar c = 0; c < Columns; c++) begin : gen_columns
    // The column of the step that lies in this bank, counted from the first, and where it is
    logic [BankBits-1:0] behind_first;
    logic [DeepBits-1:0] place;
    assign behind_first = (BankBits'(c) - BankBits'(first)) & BankMask;
    assign place = DeepBits'((ColumnBits'(first) + ColumnBits'(behind_first)) >> $clog2(Columns));

    for (genvar r = 0; r < Rows; r++) begin : gen_rows
      logic [WordBits-1:0] pixels[LineColumns/Columns];
      logic [WordBits-1:0] word_q;

      always_ff @(posedge clk_i) begin
        if (take && row_q[1:0] == 2'(r) && (BankBits'(column_q) & BankMask) == BankBits'(c))
          pixels[column_q[ColumnBits-1-:DeepBits]] <= pixel;
      end
      always_ff @(posedge clk_i) begin
        if (issue) word_q <= pixels[place];
      end
      assign words[r][c] = word_q;
    end
  end

  // What is read is brought into the window's order.
  logic [1:0] slot_q;
  logic [BankBits-1:0] first_bank_q;
  logic [Rows-1:0] row_inside_q;
  logic [Columns-1:0] column_inside_q;
  logic [3:0] step_q;
  tag_t tag_q;
  logic [1:0] row;
  logic [BankBits-1:0] column;
  logic [OutputLanes-1:0][8:0] word;

  always_ff @(posedge clk_i) begin
    if (issue) begin
      slot_q          <= 2'(base_q) + 2'(top_q);
      first_bank_q    <= BankBits'(first) & BankMask;
      row_inside_q    <= row_inside;
      column_inside_q <= column_inside;
      step_q          <= done_q >> $clog2(Columns);
      tag_q           <= '{
          bank: {set_q, 1'b0},
          pair: 1'b0,
          first: done_q == 0,
          last: last_step,
          closes: last_x && last_y
      };
    end
  end

  always_comb begin
    step_taps_o = '0;
    row         = '0;
    column      = '0;
    word        = '0;
    if (valid_q) begin
      for (int unsigned r = 0; r < Rows; r++) begin
        for (int unsigned c = 0; c < Columns; c++) begin
          row    = 2'(r) + slot_q;
          column = (BankBits'(c) + first_bank_q) & BankMask;
          word   = words[row][column];
          if (row_inside_q[r] && column_inside_q[c]) begin
            for (int unsigned lane = 0; lane < OutputLanes; lane++) begin
              step_taps_o[lane][r*Columns+c] = word[lane];
            end
          end
        end
      end
    end
  end

  assign step_valid_o = valid_q;
  assign step_row_o   = 14'(step_q);
  assign step_tag_o   = tag_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {pixel_ready_o, step_valid_o})
  `ATOLL_ASSERT_IF(RowFits, take, 32'(column_q) < LineColumns)
  `ATOLL_ASSERT_IF(WindowFits, issue, 32'(lines_i.kernel_height) <= Rows)
  `ATOLL_ASSERT_HELD(StepIsHeld,
      step_valid_o && !step_ready_i && !flush_i, step_valid_o, {step_taps_o, step_row_o})

endmodule
