// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A byte for each of 256 values, written a beat and read some values at a time.
module reef_table #(
  // Values that are looked up at once.
  parameter int unsigned Lanes = 4,
  // Bytes of a beat: 8 or 16.
  parameter int unsigned DataBytes = 8
) (
  // Clock; the memory is not reset
  input  logic                   clk_i,
  // Write this beat of the table
  input  logic                   load_i,
  input  logic [           15:0] beat_i,
  input  logic [DataBytes*8-1:0] data_i,
  // Look these up; what belongs to them stays on `bytes_o` from the next cycle on
  input  logic                   read_i,
  input  logic [Lanes-1:0][7:0]  values_i,
  output logic [Lanes-1:0][7:0]  bytes_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})

  localparam int unsigned BeatBits = $clog2(DataBytes);
  localparam int unsigned RowBits = 8 - BeatBits;

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [DataBytes-1:0][7:0] rows[1<<RowBits];
    logic [DataBytes-1:0][7:0] row_q;
    logic [BeatBits-1:0] place_q;

    always_ff @(posedge clk_i) begin
      if (load_i) rows[beat_i[RowBits-1:0]] <= data_i;
    end
    always_ff @(posedge clk_i) begin
      if (read_i) begin
        row_q   <= rows[values_i[i][7:BeatBits]];
        place_q <= values_i[i][BeatBits-1:0];
      end
    end
    assign bytes_o[i] = row_q[place_q];
  end

  logic unused;
  assign unused = ^beat_i;

endmodule
