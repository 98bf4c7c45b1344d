// SPDX-License-Identifier: Apache-2.0
// An accelerator of our own. Its work is done by ripple, the DMA engine that Atoll ships: what is to be
// seen here are the parameters and ports that every accelerator has (docs/accelerators.md).
module tern #(
  // Bytes of a beat: 4 to 64.
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4-Lite control port
  input  logic [           11:0] s_axil_awaddr_i,
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [           31:0] s_axil_wdata_i,
  input  logic [            3:0] s_axil_wstrb_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  output logic [            1:0] s_axil_bresp_o,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  input  logic [           11:0] s_axil_araddr_i,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  output logic [           31:0] s_axil_rdata_o,
  output logic [            1:0] s_axil_rresp_o,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
  // AXI4 data master, INCR bursts of whole beats
  output logic [           31:0] m_axi_awaddr_o,
  output logic [            7:0] m_axi_awlen_o,
  output logic [            2:0] m_axi_awsize_o,
  output logic [            1:0] m_axi_awburst_o,
  output logic                   m_axi_awvalid_o,
  input  logic                   m_axi_awready_i,
  output logic [DataBytes*8-1:0] m_axi_wdata_o,
  output logic [  DataBytes-1:0] m_axi_wstrb_o,
  output logic                   m_axi_wlast_o,
  output logic                   m_axi_wvalid_o,
  input  logic                   m_axi_wready_i,
  input  logic [            1:0] m_axi_bresp_i,
  input  logic                   m_axi_bvalid_i,
  output logic                   m_axi_bready_o,
  output logic [           31:0] m_axi_araddr_o,
  output logic [            7:0] m_axi_arlen_o,
  output logic [            2:0] m_axi_arsize_o,
  output logic [            1:0] m_axi_arburst_o,
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  input  logic [DataBytes*8-1:0] m_axi_rdata_i,
  input  logic [            1:0] m_axi_rresp_i,
  input  logic                   m_axi_rlast_i,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  // Level interrupt
  output logic                   irq_o
);

  ripple #(
    .DataBytes(DataBytes)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_bresp_o,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_araddr_i,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .irq_o
  );

endmodule
