// Shows in waveforms, as text, which operator one device runs. Only for simulation: it drives
// nothing, and is part only of models that record waveforms.
//
// The text follows the firmware's TRACE events; the names come from the C++ side (recorder.cpp).
module atoll_operator_name #(
  // Ordinal of the device in TRACE events.
  parameter int unsigned Device = 0
) (
  input logic        clk_i,
  input logic        rst_ni,
  // A write to the console's TRACE, and the word written
  input logic        trace_i,
  input logic [31:0] value_i
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
  end
`else
  logic unused;
  assign unused = ^{clk_i, rst_ni, trace_i, value_i};
`endif

endmodule
