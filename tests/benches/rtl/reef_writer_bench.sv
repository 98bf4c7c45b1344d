// SPDX-License-Identifier: Apache-2.0
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
  // AXI4 write channels
  output logic                   m_axi_awid,
  output logic [           31:0] m_axi_awaddr,
  output logic [            7:0] m_axi_awlen,
  output logic [            2:0] m_axi_awsize,
  output logic [            1:0] m_axi_awburst,
  output logic                   m_axi_awvalid,
  input  logic                   m_axi_awready,
  output logic [DataBytes*8-1:0] m_axi_wdata,
  output logic [  DataBytes-1:0] m_axi_wstrb,
  output logic                   m_axi_wlast,
  output logic                   m_axi_wvalid,
  input  logic                   m_axi_wready,
  input  logic                   m_axi_bid,
  input  logic [            1:0] m_axi_bresp,
  input  logic                   m_axi_bvalid,
  output logic                   m_axi_bready
);

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
    .m_axi_awaddr_o (m_axi_awaddr),
    .m_axi_awlen_o  (m_axi_awlen),
    .m_axi_awsize_o (m_axi_awsize),
    .m_axi_awburst_o(m_axi_awburst),
    .m_axi_awvalid_o(m_axi_awvalid),
    .m_axi_awready_i(m_axi_awready),
    .m_axi_wdata_o  (m_axi_wdata),
    .m_axi_wstrb_o  (m_axi_wstrb),
    .m_axi_wlast_o  (m_axi_wlast),
    .m_axi_wvalid_o (m_axi_wvalid),
    .m_axi_wready_i (m_axi_wready),
    .m_axi_bresp_i  (m_axi_bresp),
    .m_axi_bvalid_i (m_axi_bvalid),
    .m_axi_bready_o (m_axi_bready)
  );

endmodule
