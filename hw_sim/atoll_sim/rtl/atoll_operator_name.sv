// SPDX-License-Identifier: Apache-2.0
// Shows in waveforms, as text, which operator one device runs. Only for simulation: it drives
// nothing, and is part only of models that record waveforms.
//
// The text follows TRACE events, the firmware's and those of engines that go on by themselves; the
// names come from the C++ side (recorder.cpp).
module atoll_operator_name #(
  // Ordinal of the device in TRACE events.
  parameter int unsigned Device     = 0,
  // Number of cores and accelerators.
  parameter int unsigned NumMasters = 1
) (
  input logic                              clk_i,
  input logic                              rst_ni,
  // A write to the console's TRACE, and the word written
  input logic                              trace_i,
  input logic [          31:0]             value_i,
  // Masters that have gone on by themselves, and the words that tell the end and the begin
  input logic [NumMasters-1:0]             goes_on_i,
  input logic [NumMasters-1:0][1:0] [31:0] words_i
);

`ifndef SYNTHESIS
  // Eight bits per character, the last one rightmost, zeros in front.
  localparam int unsigned NameBits = 384;

  import "DPI-C" function void atoll_name_operator(
    input int unsigned device,
    input int unsigned value,
    input int unsigned size,
    output bit [NameBits-1:0] text
  );

  bit [NameBits-1:0] name_q, name;
  logic unused_name;

  assign name        = name_q == '0 ? NameBits'("-") : name_q;
  assign unused_name = ^name;

  always_ff @(posedge clk_i) begin
    if (rst_ni && trace_i) atoll_name_operator(Device, value_i, NameBits / 8, name_q);
    for (int unsigned i = 0; i < NumMasters; ++i) begin
      if (rst_ni && goes_on_i[i]) begin
        atoll_name_operator(Device, words_i[i][1], NameBits / 8, name_q);
        atoll_name_operator(Device, words_i[i][0], NameBits / 8, name_q);
      end
    end
  end
`else
  logic unused;
  assign unused = ^{clk_i, rst_ni, trace_i, value_i, goes_on_i, words_i};
`endif

endmodule
