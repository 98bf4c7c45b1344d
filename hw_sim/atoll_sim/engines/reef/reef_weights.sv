// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Rows of weights kept on chip, written a beat and read a row at a time.
module reef_weights #(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned RowBytes = InputLanes * OutputLanes
) (
  // Clock and asynchronous reset; the memory itself is not reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Write this beat, counted from this row on
  input  logic                          load_i,
  input  logic [$clog2(WeightRows)-1:0] load_row_i,
  input  logic [                  15:0] beat_i,
  input  logic [       DataBytes*8-1:0] data_i,
  // Read a row; it stays on `row_o` from the next cycle on
  input  logic                          read_i,
  input  logic [$clog2(WeightRows)-1:0] read_row_i,
  output logic [        RowBytes*8-1:0] row_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)
  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})

  localparam int unsigned Banks = RowBytes / DataBytes;
  localparam int unsigned RowBits = $clog2(WeightRows);

  logic [RowBits-1:0] write_row;
  assign write_row = load_row_i + RowBits'(beat_i / 16'(Banks));

  for (genvar bank = 0; bank < Banks; bank++) begin : gen_bank
    logic [DataBytes*8-1:0] rows  [WeightRows];
    logic [DataBytes*8-1:0] row_q;

    always_ff @(posedge clk_i) begin
      if (load_i && beat_i % 16'(Banks) == 16'(bank)) rows[write_row] <= data_i;
    end
    always_ff @(posedge clk_i) begin
      if (read_i) row_q <= rows[read_row_i];
    end
    assign row_o[bank*DataBytes*8+:DataBytes*8] = row_q;
  end

  `ATOLL_ASSERT_IF(OnlyLoadsWhatFits,
      load_i, 32'(load_row_i) * Banks + 32'(beat_i) < Banks * WeightRows)
  `ATOLL_ASSERT(NeverReadsWhatIsLoaded, !(read_i && load_i && read_row_i == write_row))

endmodule
