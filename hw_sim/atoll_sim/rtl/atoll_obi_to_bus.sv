// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the OBI data port of an accelerator to the system bus, one beat per cycle.
//
// Nothing waits here: a request is granted when the bus takes it, and its answer is the bus's, in
// the same cycle. Both kinds of errors become `err`.
module atoll_obi_to_bus
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat, a power of two.
  parameter int unsigned DataBytes = 8,
  // Bytes of the accelerator's data port, a power of two from 4 to `DataBytes`.
  parameter int unsigned PortBytes = 8,
  // Beats under way at most, a power of two of at least 2.
  parameter int unsigned Depth     = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // OBI 1 without identifiers, names as at a subordinate; the accelerator takes every answer at once
  input  logic                   s_obi_req_i,
  output logic                   s_obi_gnt_o,
  input  logic [           31:0] s_obi_addr_i,
  input  logic                   s_obi_we_i,
  input  logic [  PortBytes-1:0] s_obi_be_i,
  input  logic [8*PortBytes-1:0] s_obi_wdata_i,
  output logic                   s_obi_rvalid_o,
  output logic [8*PortBytes-1:0] s_obi_rdata_o,
  output logic                   s_obi_err_o,
  // The system bus
  `ATOLL_BUS_MASTER_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(FitsTheBus, $onehot(PortBytes) && PortBytes >= 4 && PortBytes <= DataBytes)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned Lanes    = DataBytes / PortBytes;
  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned BusBits  = $clog2(DataBytes);

  logic full, awaiting, taken;
  logic [LaneBits-1:0] lane, oldest;

  assign lane    = Lanes > 1 ? LaneBits'(s_obi_addr_i >> $clog2(PortBytes)) : '0;
  assign valid_o = s_obi_req_i && !full;
  assign we_o    = s_obi_we_i;
  assign addr_o  = {s_obi_addr_i[31:BusBits], BusBits'(0)};
  assign wdata_o = {Lanes{s_obi_wdata_i}};
  assign be_o    = DataBytes'(s_obi_be_i) << (PortBytes * lane);
  assign taken   = valid_o && ready_i;

  atoll_fifo #(
    .Width(LaneBits),
    .Depth(Depth)
  ) u_lanes (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i (lane),
    .pop_i  (rvalid_i),
    .valid_o(awaiting),
    .data_o (oldest),
    .full_o (full)
  );

  assign s_obi_gnt_o    = taken;
  assign s_obi_rvalid_o = rvalid_i;
  assign s_obi_rdata_o  = rdata_i[8*PortBytes*oldest+:8*PortBytes];
  assign s_obi_err_o    = resp_i != RespOkay;

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, s_obi_gnt_o, s_obi_rvalid_o})
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, awaiting)

endmodule
