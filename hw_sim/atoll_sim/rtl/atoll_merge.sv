// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Joins the request ports of several data ports to one, so that they share a firewall.
//
// Ports take turns; a request is passed on in its own cycle, and an answer goes in its own cycle to the
// port whose request it answers.
module atoll_merge
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Number of ports.
  parameter int unsigned NumPorts  = 2,
  // Beats under way at most, a power of two of at least 2.
  parameter int unsigned Depth     = 16
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  // Requests, one per port
  input  logic [NumPorts-1:0]                  mst_valid_i,
  output logic [NumPorts-1:0]                  mst_ready_o,
  input  logic [NumPorts-1:0]                  mst_we_i,
  input  logic [NumPorts-1:0][           31:0] mst_addr_i,
  input  logic [NumPorts-1:0][8*DataBytes-1:0] mst_wdata_i,
  input  logic [NumPorts-1:0][  DataBytes-1:0] mst_be_i,
  // Answers; data and response are the same at all ports
  output logic [NumPorts-1:0]                  mst_rvalid_o,
  output logic [8*DataBytes-1:0]               mst_rdata_o,
  output resp_e                                mst_resp_o,
  // The system bus
  `ATOLL_BUS_MASTER_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(SomePort, NumPorts >= 1)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  logic [NumPorts-1:0] chosen, held_q, owner;
  logic taken, full, awaiting;

  assign valid_o     = |chosen && !full;
  assign taken       = valid_o && ready_i;
  assign mst_ready_o = taken ? chosen : '0;

  // A request, once shown, stays until it is taken.
  atoll_arbiter #(
    .NumPorts(NumPorts)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .request_i(|held_q ? held_q : mst_valid_i),
    .grant_o  (chosen),
    .taken_i  (taken)
  );

  always_comb begin
    we_o    = 1'b0;
    addr_o  = '0;
    wdata_o = '0;
    be_o    = '0;
    for (int unsigned i = 0; i < NumPorts; i++) begin
      if (chosen[i]) begin
        we_o    = mst_we_i[i];
        addr_o  = mst_addr_i[i];
        wdata_o = mst_wdata_i[i];
        be_o    = mst_be_i[i];
      end
    end
  end

  atoll_fifo #(
    .Width(NumPorts),
    .Depth(Depth)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i (chosen),
    .pop_i  (rvalid_i),
    .valid_o(awaiting),
    .data_o (owner),
    .full_o (full)
  );

  assign mst_rvalid_o = rvalid_i ? owner : '0;
  assign mst_rdata_o  = rdata_i;
  assign mst_resp_o   = resp_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else held_q <= valid_o && !ready_i ? chosen : '0;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, mst_ready_o, mst_rvalid_o})
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, awaiting)
  `ATOLL_ASSERT_IF(OneOwner, rvalid_i, $onehot(mst_rvalid_o))
  `ATOLL_ASSERT_IF(NeverWithdrawn, held_q != '0, (held_q & ~mst_valid_i) == '0)
  `ATOLL_ASSERT_HELD(RequestHolds, valid_o && !ready_i, valid_o,
      {we_o, addr_o, be_o, we_o ? wdata_o : '0})

endmodule
