// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// One single-port bank of a memory: an array of rows that moves one row per cycle.
//
// Read data follow the enabled cycle by one cycle and hold until the next.
module atoll_memory_bank #(
  // Number of rows.
  parameter int unsigned Rows     = 1024,
  // Bytes of a row.
  parameter int unsigned RowBytes = 4,
  // Bits of a row's number.
  localparam int unsigned RowBits = Rows > 1 ? $clog2(Rows) : 1
) (
  input  logic                  clk_i,
  input  logic                  enable_i,
  input  logic [   RowBits-1:0] row_i,
  // Bytes to write; none for a read
  input  logic [  RowBytes-1:0] strobe_i,
  input  logic [8*RowBytes-1:0] wdata_i,
  output logic [8*RowBytes-1:0] rdata_o
);

  `ATOLL_ASSERT_INIT(SomeRow, Rows >= 1)
  `ATOLL_ASSERT_INIT(SomeByte, RowBytes >= 1)

  logic [8*RowBytes-1:0] rows_q[Rows];

  function automatic logic [8*RowBytes-1:0] bits(logic [RowBytes-1:0] bytes);
    for (int unsigned i = 0; i < RowBytes; i++) bits[8*i+:8] = {8{bytes[i]}};
  endfunction

  // A row is written as a whole, which is less work for the simulator than byte by byte.
  always_ff @(posedge clk_i) begin
    if (enable_i) begin
      if (strobe_i != '0)
        rows_q[row_i] <= (rows_q[row_i] & ~bits(strobe_i)) | (wdata_i & bits(strobe_i));
      rdata_o <= rows_q[row_i];
    end
  end

endmodule
