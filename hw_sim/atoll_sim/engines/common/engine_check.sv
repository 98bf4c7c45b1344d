// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Checks the beats of a descriptor as they arrive, by a CRC-16 (docs/reef.md).
//
// Polynomial 0x1021, first value 0xFFFF, bytes in the order of memory, highest bit first. Bytes 2
// and 3 hold the check itself and count as 0.
module engine_check #(
  // Bytes of a beat, at least 4.
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // A beat, and whether it is the first of its descriptor
  input  logic                   load_i,
  input  logic                   first_i,
  input  logic [8*DataBytes-1:0] data_i,
  // Check of all beats since the first, from the next cycle on
  output logic [           15:0] check_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 4)

  localparam logic [15:0] Polynomial = 16'h1021;
  localparam logic [15:0] Start = 16'hFFFF;

  function automatic logic [15:0] after(logic [15:0] earlier, logic [8*DataBytes-1:0] data);
    after = earlier;
    for (int unsigned i = 0; i < DataBytes; i++) begin
      after[15:8] ^= data[8*i+:8];
      for (int unsigned bits = 0; bits < 8; bits++) begin
        after = {after[14:0], 1'b0} ^ (after[15] ? Polynomial : '0);
      end
    end
  endfunction

  logic [15:0] check_q;
  logic [8*DataBytes-1:0] counted;

  always_comb begin
    counted = data_i;
    if (first_i) counted[31:16] = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) check_q <= Start;
    else if (load_i) check_q <= after(first_i ? Start : check_q, counted);
  end

  assign check_o = check_q;

  `ATOLL_ASSERT_HELD(OnlyChangesWithABeat, !load_i, 1'b1, check_o)

endmodule
