// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The parameter tables of four blocks of output channels: bias, multiplier and shift of each.
module reef_parameters #(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned DataBytes   = 8
) (
  // Clock; the tables need no reset
  input  logic                              clk_i,
  // A beat of a bank's table and its number
  input  logic                              load_i,
  input  logic [            1:0]            load_bank_i,
  input  logic [           15:0]            beat_i,
  input  logic [DataBytes*8-1:0]            data_i,
  // Biases of all lanes
  input  logic [            1:0]            bias_bank_i,
  output logic [OutputLanes-1:0][31:0]      bias_o,
  // Multipliers and shifts (-31 to 30) of all lanes
  input  logic [            1:0]            scale_bank_i,
  output logic [OutputLanes-1:0][31:0]      multiplier_o,
  output logic [OutputLanes-1:0][ 5:0]      shift_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})

  localparam int unsigned EntryBeats = 16 / DataBytes;
  localparam int unsigned LaneBits = $clog2(OutputLanes);

  logic [3:0][OutputLanes-1:0][31:0] bias_q, multiplier_q;
  logic [3:0][OutputLanes-1:0][5:0] shift_q;

  logic [LaneBits-1:0] lane;
  logic [1:0] bank;
  logic low, high;
  logic [31:0] shift;

  // What exceeds a table is that of the next bank.
  assign {bank, lane} = {load_bank_i, LaneBits'(0)} + (LaneBits + 2)'(beat_i / 16'(EntryBeats));
  if (EntryBeats == 1) begin : gen_whole
    assign low   = load_i;
    assign high  = load_i;
    assign shift = data_i[95:64];
  end else begin : gen_halves
    assign low   = load_i && !beat_i[0];
    assign high  = load_i && beat_i[0];
    assign shift = data_i[31:0];
  end

  always_ff @(posedge clk_i) begin
    if (low) begin
      bias_q[bank][lane]       <= data_i[31:0];
      multiplier_q[bank][lane] <= data_i[63:32];
    end
    if (high) shift_q[bank][lane] <= shift[5:0];
  end

  assign bias_o       = bias_q[bias_bank_i];
  assign multiplier_o = multiplier_q[scale_bank_i];
  assign shift_o      = shift_q[scale_bank_i];

  logic unused;
  assign unused = ^{beat_i, data_i, shift};

endmodule
