`include "atoll_assert.svh"

// Tells the simulator what one master does. Only for simulation: it drives nothing.
//
// Each accepted request is one access; the C++ side (monitor.cpp) marks its bytes.
module atoll_monitor
  import atoll_protocol_pkg::*;
#(
  // Number of the master.
  parameter int unsigned Master    = 0,
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
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
  input logic                 trap_i
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

  access_kind_e kind;
  logic trap_q;
  assign kind = we_i ? AccessWrite : instr_i ? AccessFetch : AccessRead;

  always_ff @(posedge clk_i) begin
    trap_q <= trap_i;
    if (rst_ni && accept_i) atoll_saw_access(Master, kind, addr_i, 64'(be_i));
    if (rst_ni && blocked_i) atoll_saw_blocked(Master, kind, addr_i, 64'(be_i));
    if (rst_ni && trap_i && !trap_q) atoll_saw_trap(Master);
  end
`endif

endmodule
