// reef_writer under port names that an independent AXI peer binds to.
module reef_writer_bench
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned LaneBits = $clog2(OutputLanes)
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // See reef_writer
  input  logic                   start_i,
  input  logic [           31:0] address_i,
  input  logic [           15:0] stride_i,
  input  logic                   byte_valid_i,
  output logic                   byte_ready_o,
  input  logic [            7:0] byte_i,
  input  logic [   LaneBits-1:0] byte_lane_i,
  input  logic                   byte_last_i,
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
  logic bus_idle, unused;

  assign m_axi_awid = 1'b0;
  assign unused     = ^{fault, bus_idle, m_axi_bid};

  reef_writer #(
    .OutputLanes(OutputLanes),
    .DataBytes  (DataBytes)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .halt_i         (1'b0),
    .flush_i        (1'b0),
    .block_i        ('{start: start_i, address: address_i, stride: stride_i}),
    .byte_valid_i,
    .byte_ready_o,
    .byte_i,
    .byte_lane_i,
    .byte_last_i,
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
