// SPDX-License-Identifier: Apache-2.0
`include "atoll_axi.svh"

// reef_writer under port names that an independent AXI peer binds to.
module reef_writer_bench
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned Requantisers = 8,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned Groups = OutputLanes / Requantisers,
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // See reef_writer
  input  logic [           31:0] address_i,
  input  logic [           15:0] stride_i,
  input  logic [            3:0] last_lane_i,
  input  logic                   bytes_valid_i,
  output logic                   bytes_ready_o,
  input  logic [Requantisers*8-1:0] bytes_i,
  input  logic [  GroupBits-1:0] bytes_group_i,
  input  logic                   bytes_last_i,
  input  logic                   bytes_closes_i,
  output logic                   idle_o,
  // AXI4 write channels, with transaction identifiers
  output logic                   m_axi_awid,
  input  logic                   m_axi_bid,
  `ATOLL_AXI_WRITE_PORTS(DataBytes,,)
);

  `ATOLL_AXI_WRITE_STRUCTS(,)

  fault_t fault;
  block_t block;
  logic bus_idle, closed, beat_ready, unused;

  always_comb begin
    block           = '0;
    block.address   = address_i;
    block.stride    = stride_i;
    block.last_lane = last_lane_i;
  end

  assign m_axi_awid = 1'b0;
  assign unused     = ^{fault, bus_idle, closed, beat_ready, m_axi_bid};

  reef_writer #(
    .OutputLanes (OutputLanes),
    .Requantisers(Requantisers),
    .DataBytes   (DataBytes)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .halt_i         (1'b0),
    .flush_i        (1'b0),
    .blocks_i       ({block, block, block, block}),
    .bytes_valid_i,
    .bytes_ready_o,
    .bytes_i,
    .bytes_group_i,
    .bytes_tag_i    ('{bank: 2'd0, pair: 1'b0, first: 1'b0, last: bytes_last_i, closes: bytes_closes_i}),
    .beat_valid_i   (1'b0),
    .beat_ready_o   (beat_ready),
    .beat_index_i   ('0),
    .beat_data_i    ('0),
    .beat_strobe_i  ('0),
    .closed_o       (closed),
    .fault_o        (fault),
    .idle_o,
    .bus_idle_o     (bus_idle),
    .write_req_o    (write_req),
    .write_rsp_i    (write_rsp),
    .wdata_o        (m_axi_wdata),
    .wstrb_o        (m_axi_wstrb)
  );

endmodule
