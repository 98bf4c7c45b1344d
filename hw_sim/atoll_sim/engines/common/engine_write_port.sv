// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Writes single beats with strobes over AXI4, several of them under way.
//
// Single beats never cross 4 KiB. Data wait for their turn behind the addresses, so that a slave
// that takes the next address with the data before has one beat in each cycle.
module engine_write_port
  import engine_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Writes under way, a power of two.
  parameter int unsigned Writes = 8,
  // Bits of the number of a beat.
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes)
) (
  // Clock and asynchronous reset
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Issue nothing new; what is on the bus stays
  input  logic                     halt_i,
  // A beat to write: its address in beats, its bytes, and which of them count
  input  logic                     valid_i,
  output logic                     ready_o,
  input  logic   [  IndexBits-1:0] index_i,
  input  logic   [DataBytes*8-1:0] data_i,
  input  logic   [  DataBytes-1:0] strobe_i,
  // An error answer in this cycle
  output fault_t                   fault_o,
  // Nothing is outstanding on the bus
  output logic                     idle_o,
  // AXI4 write channels
  output write_req_t               write_req_o,
  input  write_rsp_t               write_rsp_i,
  output logic   [DataBytes*8-1:0] wdata_o,
  output logic   [  DataBytes-1:0] wstrb_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 2)
  `ATOLL_ASSERT_INIT(LegalWrites, $onehot(Writes) && Writes >= 2)

  localparam int unsigned BeatBits = $clog2(DataBytes);

  logic issue, answer;
  logic awvalid_q;
  logic [  IndexBits-1:0] awindex_q;
  logic written_valid, writes_full, beats_full;
  logic [IndexBits-1:0] written_index;

  assign ready_o = !halt_i && !writes_full
      && (!awvalid_q || write_rsp_i.awready) && !beats_full;
  assign issue = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (issue) awindex_q <= index_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) awvalid_q <= 1'b0;
    else awvalid_q <= issue || (awvalid_q && !write_rsp_i.awready);
  end

  assign write_req_o.awaddr  = {awindex_q, BeatBits'(0)};
  assign write_req_o.awlen   = 8'd0;
  assign write_req_o.awsize  = 3'(BeatBits);
  assign write_req_o.awburst = 2'b01;
  assign write_req_o.awvalid = awvalid_q;
  assign write_req_o.wlast   = 1'b1;
  assign write_req_o.bready  = written_valid;

  assign answer          = write_rsp_i.bvalid && write_req_o.bready;
  assign fault_o.valid   = answer && write_rsp_i.bresp[1];
  assign fault_o.error   = response_error(write_rsp_i.bresp, ErrWriteSlave, ErrWriteDecode);
  assign fault_o.address = {written_index, BeatBits'(0)};
  assign idle_o          = !written_valid;

  atoll_fifo #(
    .Width(DataBytes * 9),
    .Depth(4)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (issue),
    .data_i ({data_i, strobe_i}),
    .pop_i  (write_req_o.wvalid && write_rsp_i.wready),
    .valid_o(write_req_o.wvalid),
    .data_o ({wdata_o, wstrb_o}),
    .full_o (beats_full)
  );

  atoll_fifo #(
    .Width(IndexBits),
    .Depth(Writes)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (issue),
    .data_i (index_i),
    .pop_i  (answer),
    .valid_o(written_valid),
    .data_o (written_index),
    .full_o (writes_full)
  );

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {ready_o, idle_o, write_req_o.awvalid, write_req_o.wvalid, write_req_o.bready})
  `ATOLL_ASSERT_HELD(AddressIsHeld, awvalid_q && !write_rsp_i.awready, awvalid_q, awindex_q)
  `ATOLL_ASSERT_HELD(DataIsHeld,
      write_req_o.wvalid && !write_rsp_i.wready, write_req_o.wvalid, {wdata_o, wstrb_o})
  `ATOLL_ASSERT_IF(NeverIssuesWhenHalted, halt_i, !issue)

endmodule
