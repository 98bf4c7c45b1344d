// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Wakes the test bench: counts whatever it must look at. Only for simulation.
module atoll_doorbell
  import atoll_protocol_pkg::*;
#(
  // Number of cores and accelerators that may stop or be stopped.
  parameter int unsigned NumMasters = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Writes to the console's registers
  input  logic                  uart_i,
  input  logic                  exit_i,
  input  logic                  trace_i,
  input  logic                  result_i,
  input  logic [          31:0] value_i,
  // Masters that have met their firewall
  input  logic [NumMasters-1:0] violated_i,
  // Masters that stand still for good
  input  logic [NumMasters-1:0] trap_i,
  // Masters that have gone on with another operator by themselves
  input  logic [NumMasters-1:0] goes_on_i,
  // Changes when there is news
  output logic [          31:0] doorbell_o
);

  `ATOLL_ASSERT_INIT(SomeMaster, NumMasters >= 1)

`ifndef SYNTHESIS
  import "DPI-C" function void atoll_saw_event(
    input int unsigned kind,
    input int unsigned value
  );
`endif

  logic [NumMasters-1:0] violated_q, trap_q;
  logic written, changed;

  assign written = exit_i || trace_i || result_i;
  assign changed = violated_q != violated_i || trap_q != trap_i || goes_on_i != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      doorbell_o <= '0;
      violated_q <= '0;
      trap_q     <= '0;
    end else if (written || changed) begin
      violated_q <= violated_i;
      trap_q     <= trap_i;
      doorbell_o <= doorbell_o + 32'(written)
          + 32'(violated_q != violated_i) + 32'(trap_q != trap_i) + 32'(goes_on_i != '0);
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && (written || uart_i)) begin
      if (uart_i) atoll_saw_event(EventUart, value_i);
      if (exit_i) atoll_saw_event(EventExit, value_i);
      if (trace_i) atoll_saw_event(EventTrace, value_i);
      if (result_i) atoll_saw_event(EventResult, value_i);
    end
  end
`else
  logic unused_text;
  assign unused_text = ^{uart_i, value_i};
`endif

  `ATOLL_ASSERT_KNOWN(KnownControl, doorbell_o)

endmodule
