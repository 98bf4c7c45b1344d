`include "atoll_assert.svh"

// The test bench's registers at the host (docs/platform.md): text, events, status, requests.
//
// Takes whole 32-bit words at the offsets of its registers; anything else changes nothing and
// is answered with an error. Each write shows at the doorbell outputs for one cycle.
module atoll_console
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Request; `addr_i` counts from the first register
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic                   we_i,
  input  logic [           11:0] addr_i,
  input  logic [8*DataBytes-1:0] wdata_i,
  input  logic [  DataBytes-1:0] be_i,
  // Answer, one cycle later
  output logic                   rvalid_o,
  output logic [8*DataBytes-1:0] rdata_o,
  output resp_e                  resp_o,
  // What REQUEST reads as
  input  logic [           31:0] request_i,
  // A write to one register: UART_TX, EXIT, TRACE, RESULT
  output logic                   uart_o,
  output logic                   exit_o,
  output logic                   trace_o,
  output logic                   result_o,
  // The word written
  output logic [           31:0] value_o
);

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  typedef enum logic [11:0] {
    UART_TX = 12'h00,
    EXIT    = 12'h04,
    TRACE   = 12'h08,
    REQUEST = 12'h0c,
    RESULT  = 12'h10
  } register_e;

  logic [LaneBits-1:0] lane;
  logic [11:0] offset;
  logic whole, write, good, rvalid_q, good_q;
  logic [LaneBits-1:0] lane_q;
  logic [31:0] value_q;

  always_comb begin
    lane = '0;
    for (int unsigned i = 0; i < Lanes; i++) if (be_i[4*i]) lane = LaneBits'(i);
  end

  assign whole   = be_i == DataBytes'(4'hf) << (4 * lane);
  assign offset  = addr_i + 12'(4 * lane);
  assign write   = valid_i && we_i && whole;
  assign value_o = wdata_i[32*lane+:32];

  assign uart_o   = write && offset == UART_TX;
  assign exit_o   = write && offset == EXIT;
  assign trace_o  = write && offset == TRACE;
  assign result_o = write && offset == RESULT;
  assign good = uart_o || exit_o || trace_o || result_o || (!we_i && whole && offset == REQUEST);

  assign ready_o  = 1'b1;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = (8 * DataBytes)'(value_q) << (32 * lane_q);
  assign resp_o   = good_q ? RespOkay : RespSlave;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      good_q   <= 1'b0;
      lane_q   <= '0;
      value_q  <= '0;
    end else begin
      rvalid_q <= valid_i;
      good_q   <= good;
      lane_q   <= lane;
      value_q  <= good && !we_i ? request_i : '0;
    end
  end

  `ATOLL_ASSERT(OnlyOneDoorbell, $onehot0({uart_o, exit_o, trace_o, result_o}))

endmodule
