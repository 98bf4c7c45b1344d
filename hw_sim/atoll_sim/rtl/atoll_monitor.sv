// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Tells the simulator what one master does. Only for simulation: it drives nothing of the chip.
//
// Each accepted request is one access; the C++ side (monitor.cpp) marks its bytes. An engine that
// reads the first command of another list goes on with another operator, without the host.
module atoll_monitor
  import atoll_protocol_pkg::*;
#(
  // Number of the master.
  parameter int unsigned Master    = 0,
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // It is an engine that may go on by itself.
  parameter bit          Engine    = 1'b0
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  // A request that passed the firewall, accepted
  input logic                 accept_i,
  // A request that the firewall keeps back
  input logic                 blocked_i,
  // What the master asks for
  input logic                 we_i,
  input logic                 instr_i,
  input logic [         31:0] addr_i,
  input logic [DataBytes-1:0] be_i,
  // The master stands still for good
  input logic                 trap_i,
  // It has gone on by itself; words of TRACE that tell the end and the begin
  output logic                goes_on_o,
  output logic [1:0][   31:0] words_o
);

  `ATOLL_ASSERT_INIT(MaskFits, DataBytes >= 1 && DataBytes <= 64)

`ifndef SYNTHESIS
  import "DPI-C" function void atoll_saw_access(
    input int unsigned master,
    input int unsigned kind,
    input int unsigned address,
    input longint unsigned bytes
  );
  import "DPI-C" function void atoll_saw_blocked(
    input int unsigned master,
    input int unsigned kind,
    input int unsigned address,
    input longint unsigned bytes
  );
  import "DPI-C" function void atoll_saw_trap(input int unsigned master);

  import "DPI-C" function longint unsigned atoll_goes_on(
    input int unsigned master,
    input int unsigned address
  );

  access_kind_e kind;
  logic trap_q;
  logic [1:0][31:0] words_q;
  assign kind = we_i ? AccessWrite : instr_i ? AccessFetch : AccessRead;

  always_ff @(posedge clk_i) begin
    trap_q <= trap_i;
    words_q <= Engine && rst_ni && accept_i && !we_i ? atoll_goes_on(Master, addr_i) : '0;
    if (rst_ni && accept_i) atoll_saw_access(Master, kind, addr_i, 64'(be_i));
    if (rst_ni && blocked_i) atoll_saw_blocked(Master, kind, addr_i, 64'(be_i));
    if (rst_ni && trap_i && !trap_q) atoll_saw_trap(Master);
  end

  assign words_o = words_q;
`else
  assign words_o = '0;
`endif
  assign goes_on_o = words_o != '0;

endmodule
