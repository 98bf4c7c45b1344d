// SPDX-License-Identifier: Apache-2.0
// `atoll_bus_to_axil` under the port names that independent AXI4-Lite peers bind to.
module atoll_axil_bench
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The bus
  input  logic                   mst_valid_i,
  output logic                   mst_ready_o,
  input  logic                   mst_we_i,
  input  logic [           31:0] mst_addr_i,
  input  logic [8*DataBytes-1:0] mst_wdata_i,
  input  logic [  DataBytes-1:0] mst_be_i,
  output logic                   mst_rvalid_o,
  output logic [8*DataBytes-1:0] mst_rdata_o,
  output logic [            1:0] mst_resp_o,
  // AXI4-Lite
  output logic [   AddrBits-1:0] m_axil_awaddr,
  output logic                   m_axil_awvalid,
  input  logic                   m_axil_awready,
  output logic [           31:0] m_axil_wdata,
  output logic [            3:0] m_axil_wstrb,
  output logic                   m_axil_wvalid,
  input  logic                   m_axil_wready,
  input  logic [            1:0] m_axil_bresp,
  input  logic                   m_axil_bvalid,
  output logic                   m_axil_bready,
  output logic [   AddrBits-1:0] m_axil_araddr,
  output logic                   m_axil_arvalid,
  input  logic                   m_axil_arready,
  input  logic [           31:0] m_axil_rdata,
  input  logic [            1:0] m_axil_rresp,
  input  logic                   m_axil_rvalid,
  output logic                   m_axil_rready
);

  resp_e resp;
  logic unused;

  assign mst_resp_o = resp;
  assign unused     = ^mst_addr_i[31:AddrBits];

  atoll_bus_to_axil #(
    .DataBytes(DataBytes),
    .AddrBits (AddrBits)
  ) u_adapter (
    .clk_i,
    .rst_ni,
    .valid_i (mst_valid_i),
    .ready_o (mst_ready_o),
    .we_i    (mst_we_i),
    .addr_i  (mst_addr_i[AddrBits-1:0]),
    .wdata_i (mst_wdata_i),
    .be_i    (mst_be_i),
    .rvalid_o(mst_rvalid_o),
    .rdata_o (mst_rdata_o),
    .resp_o  (resp),
    .m_axil_awaddr_o  (m_axil_awaddr),
    .m_axil_awvalid_o (m_axil_awvalid),
    .m_axil_awready_i (m_axil_awready),
    .m_axil_wdata_o   (m_axil_wdata),
    .m_axil_wstrb_o   (m_axil_wstrb),
    .m_axil_wvalid_o  (m_axil_wvalid),
    .m_axil_wready_i  (m_axil_wready),
    .m_axil_bresp_i   (m_axil_bresp),
    .m_axil_bvalid_i  (m_axil_bvalid),
    .m_axil_bready_o  (m_axil_bready),
    .m_axil_araddr_o  (m_axil_araddr),
    .m_axil_arvalid_o (m_axil_arvalid),
    .m_axil_arready_i (m_axil_arready),
    .m_axil_rdata_i   (m_axil_rdata),
    .m_axil_rresp_i   (m_axil_rresp),
    .m_axil_rvalid_i  (m_axil_rvalid),
    .m_axil_rready_o  (m_axil_rready)
  );

endmodule
