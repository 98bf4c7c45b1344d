// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Confines one bus master to what it may reach, byte for byte.
//
// A request whose bytes all lie in one window passes in the same cycle, if the master's view has a
// place for it on the bus (`atoll_view`). Any other is accepted
// here once earlier ones are answered, never reaches the bus, and is answered with a decode error
// and zero data one cycle later. What the bus answers with an error reads 0 as well. The first request
// of either kind since reset, or since it was cleared, is kept; of one that the bus failed, the address
// of the master's latest request is: its own if the master makes one at a time.
module atoll_firewall
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, a power of two.
  parameter int unsigned DataBytes   = 8,
  // Number of windows for reading.
  parameter int unsigned NumReadable = 1,
  // Number of windows for writing.
  parameter int unsigned NumWritable = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // What the master may read; may overlap, in no particular order; constant out of reset
  input  window_t [NumReadable-1:0] readable_i,
  // What the master may write, likewise
  input  window_t [NumWritable-1:0] writable_i,
  // Request of the master; payload holds while valid and not ready
  input  logic                   mst_valid_i,
  output logic                   mst_ready_o,
  input  logic                   mst_we_i,
  input  logic [           31:0] mst_addr_i,
  // The address is one of the bus; else the request is blocked
  input  logic                   mst_mapped_i,
  input  logic [  DataBytes-1:0] mst_be_i,
  // Answer to the master
  output logic                   mst_rvalid_o,
  output logic [8*DataBytes-1:0] mst_rdata_o,
  output resp_e                  mst_resp_o,
  // Request to the bus; its payload is the master's
  output logic                   bus_valid_o,
  input  logic                   bus_ready_i,
  // Answer of the bus
  input  logic                   bus_rvalid_i,
  input  logic [8*DataBytes-1:0] bus_rdata_i,
  input  resp_e                  bus_resp_i,
  // Forget the request that is kept
  input  logic                   clear_i,
  // High for one cycle per blocked request
  output logic                   blocked_o,
  // A request was blocked and is not forgotten
  output logic                   violated_o,
  // First byte of the first blocked request
  output logic [           31:0] violation_addr_o,
  // The first blocked request was a write
  output logic                   violation_we_o,
  // It was not blocked: the bus answered it with an error
  output logic                   violation_bus_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 2)
  `ATOLL_ASSERT_INIT(SomeWindow, NumReadable >= 1 && NumWritable >= 1)

  localparam int unsigned OffsetBits = $clog2(DataBytes);

  logic [31:0] first, last;
  logic [NumReadable-1:0] readable;
  logic [NumWritable-1:0] writable;
  logic hit, deny_q, busy, asked, failed, asked_we_q;
  logic [31:0] asked_addr_q;
  logic [7:0] outstanding_q;

  // Nothing is worked out without a request, which saves the simulator time.
  always_comb begin
    first    = mst_addr_i;
    last     = mst_addr_i;
    readable = '0;
    writable = '0;
    if (mst_valid_i) begin
      for (int unsigned i = DataBytes; i > 0; i--) begin
        if (mst_be_i[i-1]) first[OffsetBits-1:0] = OffsetBits'(i - 1);
      end
      for (int unsigned i = 0; i < DataBytes; i++) begin
        if (mst_be_i[i]) last[OffsetBits-1:0] = OffsetBits'(i);
      end
      for (int unsigned i = 0; i < NumReadable; i++) begin
        readable[i] = mst_mapped_i && first >= readable_i[i].first && last <= readable_i[i].last;
      end
      for (int unsigned i = 0; i < NumWritable; i++) begin
        writable[i] = mst_mapped_i && first >= writable_i[i].first && last <= writable_i[i].last;
      end
    end
  end

  assign hit          = mst_we_i ? |writable : |readable;
  assign busy         = outstanding_q != '0;
  assign blocked_o    = mst_valid_i && !hit && !busy && !deny_q;
  assign bus_valid_o  = mst_valid_i && hit;
  assign mst_ready_o  = hit ? bus_ready_i : blocked_o;
  assign mst_rvalid_o = bus_rvalid_i || deny_q;
  assign mst_rdata_o  = deny_q || failed ? '0 : bus_rdata_i;
  assign mst_resp_o   = deny_q ? RespDecode : bus_resp_i;
  assign asked        = bus_valid_o && bus_ready_i;
  assign failed       = bus_rvalid_i && bus_resp_i != RespOkay;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      deny_q           <= 1'b0;
      outstanding_q    <= '0;
      violated_o       <= 1'b0;
      violation_addr_o <= '0;
      violation_we_o   <= 1'b0;
      violation_bus_o  <= 1'b0;
      asked_addr_q     <= '0;
      asked_we_q       <= 1'b0;
    end else if (mst_valid_i || bus_rvalid_i || deny_q || clear_i) begin
      deny_q <= blocked_o;
      if (asked && !bus_rvalid_i) outstanding_q <= outstanding_q + 8'd1;
      if (!asked && bus_rvalid_i) outstanding_q <= outstanding_q - 8'd1;
      if (asked) begin
        asked_addr_q <= first;
        asked_we_q   <= mst_we_i;
      end
      if (clear_i) violated_o <= 1'b0;
      if ((blocked_o || failed) && (!violated_o || clear_i)) begin
        violated_o       <= 1'b1;
        violation_addr_o <= blocked_o ? first : asked_addr_q;
        violation_we_o   <= blocked_o ? mst_we_i : asked_we_q;
        violation_bus_o  <= failed;
      end
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {mst_rvalid_o, bus_valid_o, blocked_o, violated_o})
  `ATOLL_ASSERT_IF(OnlyReachableBytes, bus_valid_o, (mst_we_i ? |writable : |readable))
  `ATOLL_ASSERT_IF(OnlyOnTheBus, bus_valid_o, mst_mapped_i)
  `ATOLL_ASSERT_NEXT(DenialIsAnswered, blocked_o, mst_rvalid_o && mst_resp_o == RespDecode)
  `ATOLL_ASSERT_NEXT(NeverForgotten, violated_o && !clear_i, violated_o)
  `ATOLL_ASSERT(NeverBoth, !(blocked_o && failed))
  `ATOLL_ASSERT_NEXT(FailureIsKept, failed, violated_o)
  `ATOLL_ASSERT(NeverTwoAnswers, !(deny_q && bus_rvalid_i))
  `ATOLL_ASSERT_IF(NeverUnaskedAnswer, bus_rvalid_i, busy)
  `ATOLL_ASSERT_IF(CountFits, asked, outstanding_q != '1)

endmodule
