// SPDX-License-Identifier: Apache-2.0
// reef under the port names that independent AXI peers bind to.
module reef_bench #(
  // See docs/reef.md
  parameter int unsigned InputLanes  = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows  = 128,
  parameter int unsigned LineColumns = 64,
  parameter int unsigned DataBytes   = 8
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4-Lite control port
  input  logic [           11:0] s_axil_awaddr,
  input  logic                   s_axil_awvalid,
  output logic                   s_axil_awready,
  input  logic [           31:0] s_axil_wdata,
  input  logic [            3:0] s_axil_wstrb,
  input  logic                   s_axil_wvalid,
  output logic                   s_axil_wready,
  output logic [            1:0] s_axil_bresp,
  output logic                   s_axil_bvalid,
  input  logic                   s_axil_bready,
  input  logic [           11:0] s_axil_araddr,
  input  logic                   s_axil_arvalid,
  output logic                   s_axil_arready,
  output logic [           31:0] s_axil_rdata,
  output logic [            1:0] s_axil_rresp,
  output logic                   s_axil_rvalid,
  input  logic                   s_axil_rready,
  // AXI4 data master
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
  input  logic [            1:0] m_axi_bresp,
  input  logic                   m_axi_bvalid,
  output logic                   m_axi_bready,
  output logic [           31:0] m_axi_araddr,
  output logic [            7:0] m_axi_arlen,
  output logic [            2:0] m_axi_arsize,
  output logic [            1:0] m_axi_arburst,
  output logic                   m_axi_arvalid,
  input  logic                   m_axi_arready,
  input  logic [DataBytes*8-1:0] m_axi_rdata,
  input  logic [            1:0] m_axi_rresp,
  input  logic                   m_axi_rlast,
  input  logic                   m_axi_rvalid,
  output logic                   m_axi_rready,
  // Transaction identifiers, which reef does without
  output logic                   m_axi_awid,
  input  logic                   m_axi_bid,
  output logic                   m_axi_arid,
  input  logic                   m_axi_rid,
  // Interrupt
  output logic                   irq_o
);

  logic unused;

  assign m_axi_awid = 1'b0;
  assign m_axi_arid = 1'b0;
  assign unused     = ^{m_axi_bid, m_axi_rid};

  reef #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .LineColumns(LineColumns),
    .DataBytes  (DataBytes)
  ) u_reef (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i(s_axil_awaddr),
    .s_axil_awvalid_i(s_axil_awvalid),
    .s_axil_awready_o(s_axil_awready),
    .s_axil_wdata_i(s_axil_wdata),
    .s_axil_wstrb_i(s_axil_wstrb),
    .s_axil_wvalid_i(s_axil_wvalid),
    .s_axil_wready_o(s_axil_wready),
    .s_axil_bresp_o(s_axil_bresp),
    .s_axil_bvalid_o(s_axil_bvalid),
    .s_axil_bready_i(s_axil_bready),
    .s_axil_araddr_i(s_axil_araddr),
    .s_axil_arvalid_i(s_axil_arvalid),
    .s_axil_arready_o(s_axil_arready),
    .s_axil_rdata_o(s_axil_rdata),
    .s_axil_rresp_o(s_axil_rresp),
    .s_axil_rvalid_o(s_axil_rvalid),
    .s_axil_rready_i(s_axil_rready),
    .m_axi_awaddr_o(m_axi_awaddr),
    .m_axi_awlen_o(m_axi_awlen),
    .m_axi_awsize_o(m_axi_awsize),
    .m_axi_awburst_o(m_axi_awburst),
    .m_axi_awvalid_o(m_axi_awvalid),
    .m_axi_awready_i(m_axi_awready),
    .m_axi_wdata_o(m_axi_wdata),
    .m_axi_wstrb_o(m_axi_wstrb),
    .m_axi_wlast_o(m_axi_wlast),
    .m_axi_wvalid_o(m_axi_wvalid),
    .m_axi_wready_i(m_axi_wready),
    .m_axi_bresp_i(m_axi_bresp),
    .m_axi_bvalid_i(m_axi_bvalid),
    .m_axi_bready_o(m_axi_bready),
    .m_axi_araddr_o(m_axi_araddr),
    .m_axi_arlen_o(m_axi_arlen),
    .m_axi_arsize_o(m_axi_arsize),
    .m_axi_arburst_o(m_axi_arburst),
    .m_axi_arvalid_o(m_axi_arvalid),
    .m_axi_arready_i(m_axi_arready),
    .m_axi_rdata_i(m_axi_rdata),
    .m_axi_rresp_i(m_axi_rresp),
    .m_axi_rlast_i(m_axi_rlast),
    .m_axi_rvalid_i(m_axi_rvalid),
    .m_axi_rready_o(m_axi_rready),
    .irq_o
  );

endmodule
