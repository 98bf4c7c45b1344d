// SPDX-License-Identifier: Apache-2.0
// What an accelerator with a data port of each kind has before the bus, under names of independent peers.
module atoll_ports_bench
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat.
  parameter int unsigned DataBytes = 8,
  // Bytes of each data port.
  parameter int unsigned PortBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4
  input  logic [           31:0] s_axi_araddr,
  input  logic [            7:0] s_axi_arlen,
  input  logic [            2:0] s_axi_arsize,
  input  logic [            1:0] s_axi_arburst,
  input  logic                   s_axi_arvalid,
  output logic                   s_axi_arready,
  output logic [8*PortBytes-1:0] s_axi_rdata,
  output logic [            1:0] s_axi_rresp,
  output logic                   s_axi_rlast,
  output logic                   s_axi_rvalid,
  input  logic                   s_axi_rready,
  input  logic [           31:0] s_axi_awaddr,
  input  logic [            7:0] s_axi_awlen,
  input  logic [            2:0] s_axi_awsize,
  input  logic [            1:0] s_axi_awburst,
  input  logic                   s_axi_awvalid,
  output logic                   s_axi_awready,
  input  logic [8*PortBytes-1:0] s_axi_wdata,
  input  logic [  PortBytes-1:0] s_axi_wstrb,
  input  logic                   s_axi_wlast,
  input  logic                   s_axi_wvalid,
  output logic                   s_axi_wready,
  output logic [            1:0] s_axi_bresp,
  output logic                   s_axi_bvalid,
  input  logic                   s_axi_bready,
  input  logic                   s_axi_awid,
  output logic                   s_axi_bid,
  input  logic                   s_axi_arid,
  output logic                   s_axi_rid,
  // AXI4-Lite
  input  logic [           31:0] s_axil_awaddr,
  input  logic                   s_axil_awvalid,
  output logic                   s_axil_awready,
  input  logic [8*PortBytes-1:0] s_axil_wdata,
  input  logic [  PortBytes-1:0] s_axil_wstrb,
  input  logic                   s_axil_wvalid,
  output logic                   s_axil_wready,
  output logic [            1:0] s_axil_bresp,
  output logic                   s_axil_bvalid,
  input  logic                   s_axil_bready,
  input  logic [           31:0] s_axil_araddr,
  input  logic                   s_axil_arvalid,
  output logic                   s_axil_arready,
  output logic [8*PortBytes-1:0] s_axil_rdata,
  output logic [            1:0] s_axil_rresp,
  output logic                   s_axil_rvalid,
  input  logic                   s_axil_rready,
  // OBI
  input  logic                   s_obi_req,
  output logic                   s_obi_gnt,
  input  logic [           31:0] s_obi_addr,
  input  logic                   s_obi_we,
  input  logic [  PortBytes-1:0] s_obi_be,
  input  logic [8*PortBytes-1:0] s_obi_wdata,
  output logic                   s_obi_rvalid,
  output logic [8*PortBytes-1:0] s_obi_rdata,
  output logic                   s_obi_err,
  input  logic                   s_obi_rready,
  // Wishbone, classic cycles
  input  logic                   s_wb_cyc,
  input  logic                   s_wb_stb,
  input  logic                   s_wb_we,
  input  logic [           31:0] s_wb_adr,
  input  logic [  PortBytes-1:0] s_wb_sel,
  input  logic [8*PortBytes-1:0] s_wb_dat_w,
  output logic [8*PortBytes-1:0] s_wb_dat_r,
  output logic                   s_wb_ack,
  output logic                   s_wb_err,
  // Wishbone, pipelined cycles
  input  logic                   s_wbp_cyc,
  input  logic                   s_wbp_stb,
  input  logic                   s_wbp_we,
  input  logic [           31:0] s_wbp_adr,
  input  logic [  PortBytes-1:0] s_wbp_sel,
  input  logic [8*PortBytes-1:0] s_wbp_dat_w,
  output logic [8*PortBytes-1:0] s_wbp_dat_r,
  output logic                   s_wbp_ack,
  output logic                   s_wbp_err,
  output logic                   s_wbp_stall,
  // The bus
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic                   we_o,
  output logic [           31:0] addr_o,
  output logic [8*DataBytes-1:0] wdata_o,
  output logic [  DataBytes-1:0] be_o,
  input  logic                   rvalid_i,
  input  logic [8*DataBytes-1:0] rdata_i,
  input  logic [            1:0] resp_i
);

  localparam int unsigned NumPorts = 5;

  logic [NumPorts-1:0] valid, ready, we, rvalid;
  logic [NumPorts-1:0][31:0] addr;
  logic [NumPorts-1:0][8*DataBytes-1:0] wdata;
  logic [NumPorts-1:0][DataBytes-1:0] be;
  logic [8*DataBytes-1:0] rdata;
  resp_e resp;
  logic never_stalls, unused;

  assign {s_axi_bid, s_axi_rid} = '0;
  assign unused = ^{s_axi_awid, s_axi_arid, s_obi_rready, never_stalls};

  atoll_axi_to_bus #(
    .DataBytes(DataBytes),
    .AxiBytes (PortBytes)
  ) u_axi (
    .clk_i,
    .rst_ni,
    .s_axi_araddr_i  (s_axi_araddr),
    .s_axi_arlen_i   (s_axi_arlen),
    .s_axi_arsize_i  (s_axi_arsize),
    .s_axi_arburst_i (s_axi_arburst),
    .s_axi_arvalid_i (s_axi_arvalid),
    .s_axi_arready_o (s_axi_arready),
    .s_axi_rdata_o   (s_axi_rdata),
    .s_axi_rresp_o   (s_axi_rresp),
    .s_axi_rlast_o   (s_axi_rlast),
    .s_axi_rvalid_o  (s_axi_rvalid),
    .s_axi_rready_i  (s_axi_rready),
    .s_axi_awaddr_i  (s_axi_awaddr),
    .s_axi_awlen_i   (s_axi_awlen),
    .s_axi_awsize_i  (s_axi_awsize),
    .s_axi_awburst_i (s_axi_awburst),
    .s_axi_awvalid_i (s_axi_awvalid),
    .s_axi_awready_o (s_axi_awready),
    .s_axi_wdata_i   (s_axi_wdata),
    .s_axi_wstrb_i   (s_axi_wstrb),
    .s_axi_wlast_i   (s_axi_wlast),
    .s_axi_wvalid_i  (s_axi_wvalid),
    .s_axi_wready_o  (s_axi_wready),
    .s_axi_bresp_o   (s_axi_bresp),
    .s_axi_bvalid_o  (s_axi_bvalid),
    .s_axi_bready_i  (s_axi_bready),
    .valid_o         (valid[0]),
    .ready_i         (ready[0]),
    .we_o            (we[0]),
    .addr_o          (addr[0]),
    .wdata_o         (wdata[0]),
    .be_o            (be[0]),
    .rvalid_i        (rvalid[0]),
    .rdata_i         (rdata),
    .resp_i          (resp)
  );

  atoll_axil_to_bus #(
    .DataBytes(DataBytes),
    .PortBytes(PortBytes)
  ) u_axil (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i  (s_axil_awaddr),
    .s_axil_awvalid_i (s_axil_awvalid),
    .s_axil_awready_o (s_axil_awready),
    .s_axil_wdata_i   (s_axil_wdata),
    .s_axil_wstrb_i   (s_axil_wstrb),
    .s_axil_wvalid_i  (s_axil_wvalid),
    .s_axil_wready_o  (s_axil_wready),
    .s_axil_bresp_o   (s_axil_bresp),
    .s_axil_bvalid_o  (s_axil_bvalid),
    .s_axil_bready_i  (s_axil_bready),
    .s_axil_araddr_i  (s_axil_araddr),
    .s_axil_arvalid_i (s_axil_arvalid),
    .s_axil_arready_o (s_axil_arready),
    .s_axil_rdata_o   (s_axil_rdata),
    .s_axil_rresp_o   (s_axil_rresp),
    .s_axil_rvalid_o  (s_axil_rvalid),
    .s_axil_rready_i  (s_axil_rready),
    .valid_o          (valid[1]),
    .ready_i          (ready[1]),
    .we_o             (we[1]),
    .addr_o           (addr[1]),
    .wdata_o          (wdata[1]),
    .be_o             (be[1]),
    .rvalid_i         (rvalid[1]),
    .rdata_i          (rdata),
    .resp_i           (resp)
  );

  atoll_obi_to_bus #(
    .DataBytes(DataBytes),
    .PortBytes(PortBytes)
  ) u_obi (
    .clk_i,
    .rst_ni,
    .s_obi_req_i    (s_obi_req),
    .s_obi_gnt_o    (s_obi_gnt),
    .s_obi_addr_i   (s_obi_addr),
    .s_obi_we_i     (s_obi_we),
    .s_obi_be_i     (s_obi_be),
    .s_obi_wdata_i  (s_obi_wdata),
    .s_obi_rvalid_o (s_obi_rvalid),
    .s_obi_rdata_o  (s_obi_rdata),
    .s_obi_err_o    (s_obi_err),
    .valid_o        (valid[2]),
    .ready_i        (ready[2]),
    .we_o           (we[2]),
    .addr_o         (addr[2]),
    .wdata_o        (wdata[2]),
    .be_o           (be[2]),
    .rvalid_i       (rvalid[2]),
    .rdata_i        (rdata),
    .resp_i         (resp)
  );

  atoll_wishbone_to_bus #(
    .DataBytes(DataBytes),
    .PortBytes(PortBytes)
  ) u_wb (
    .clk_i,
    .rst_ni,
    .s_wb_cyc_i   (s_wb_cyc),
    .s_wb_stb_i   (s_wb_stb),
    .s_wb_we_i    (s_wb_we),
    .s_wb_adr_i   (s_wb_adr),
    .s_wb_sel_i   (s_wb_sel),
    .s_wb_dat_w_i (s_wb_dat_w),
    .s_wb_dat_r_o (s_wb_dat_r),
    .s_wb_ack_o   (s_wb_ack),
    .s_wb_err_o   (s_wb_err),
    .s_wb_stall_o (never_stalls),
    .valid_o      (valid[3]),
    .ready_i      (ready[3]),
    .we_o         (we[3]),
    .addr_o       (addr[3]),
    .wdata_o      (wdata[3]),
    .be_o         (be[3]),
    .rvalid_i     (rvalid[3]),
    .rdata_i      (rdata),
    .resp_i       (resp)
  );

  atoll_wishbone_to_bus #(
    .DataBytes(DataBytes),
    .PortBytes(PortBytes),
    .Pipelined(1'b1)
  ) u_wbp (
    .clk_i,
    .rst_ni,
    .s_wb_cyc_i   (s_wbp_cyc),
    .s_wb_stb_i   (s_wbp_stb),
    .s_wb_we_i    (s_wbp_we),
    .s_wb_adr_i   (s_wbp_adr),
    .s_wb_sel_i   (s_wbp_sel),
    .s_wb_dat_w_i (s_wbp_dat_w),
    .s_wb_dat_r_o (s_wbp_dat_r),
    .s_wb_ack_o   (s_wbp_ack),
    .s_wb_err_o   (s_wbp_err),
    .s_wb_stall_o (s_wbp_stall),
    .valid_o      (valid[4]),
    .ready_i      (ready[4]),
    .we_o         (we[4]),
    .addr_o       (addr[4]),
    .wdata_o      (wdata[4]),
    .be_o         (be[4]),
    .rvalid_i     (rvalid[4]),
    .rdata_i      (rdata),
    .resp_i       (resp)
  );

  atoll_merge #(
    .DataBytes(DataBytes),
    .NumPorts (NumPorts)
  ) u_merge (
    .clk_i,
    .rst_ni,
    .mst_valid_i (valid),
    .mst_ready_o (ready),
    .mst_we_i    (we),
    .mst_addr_i  (addr),
    .mst_wdata_i (wdata),
    .mst_be_i    (be),
    .mst_rvalid_o(rvalid),
    .mst_rdata_o (rdata),
    .mst_resp_o  (resp),
    .valid_o,
    .ready_i,
    .we_o,
    .addr_o,
    .wdata_o,
    .be_o,
    .rvalid_i,
    .rdata_i,
    .resp_i      (resp_e'(resp_i))
  );

endmodule
