// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// The test bench's registers at the host (docs/platform.md): text, events, status, requests.
//
// Takes whole 32-bit words at the offsets of its registers; anything else changes nothing and
// is answered with an error. Each write shows at the doorbell outputs for one cycle.
module atoll_console
  import atoll_bus_pkg::*;
  import atoll_protocol_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // What REQUEST reads as
  input  logic [           31:0] request_i,
  // A write to one register: UART_TX, EXIT, TRACE, RESULT
  output logic                   uart_o,
  output logic                   exit_o,
  output logic                   trace_o,
  output logic                   result_o,
  // The word written
  output logic [           31:0] value_o,
  // The system bus, which is answered one cycle later
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, 12)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)

  logic read, write, granted;
  logic [11:0] offset;

  atoll_word_port #(
    .DataBytes(DataBytes)
  ) u_port (
    .clk_i,
    .rst_ni,
    .valid_i, .ready_o, .we_i, .addr_i, .wdata_i, .be_i, .rvalid_o, .rdata_o, .resp_o,
    .read_o   (read),
    .write_o  (write),
    .offset_o (offset),
    .value_o  (value_o),
    .granted_i(granted),
    .value_i  (request_i)
  );

  assign uart_o   = write && offset == ConsoleUartTx;
  assign exit_o   = write && offset == ConsoleExit;
  assign trace_o  = write && offset == ConsoleTrace;
  assign result_o = write && offset == ConsoleResult;
  assign granted  = uart_o || exit_o || trace_o || result_o || (read && offset == ConsoleRequest);

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, uart_o, exit_o, trace_o, result_o})
  `ATOLL_ASSERT(OnlyOneDoorbell, $onehot0({uart_o, exit_o, trace_o, result_o}))

endmodule
