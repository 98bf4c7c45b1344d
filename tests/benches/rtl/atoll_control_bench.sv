// SPDX-License-Identifier: Apache-2.0
// `atoll_bus_to_apb`, `atoll_bus_to_obi` and `atoll_bus_to_wishbone` side by side, each at a bus of its own
// and under the port names that independent peers bind to.
module atoll_control_bench
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
  // The bus before the APB adapter
  input  logic                   apb_valid_i,
  output logic                   apb_ready_o,
  input  logic                   apb_we_i,
  input  logic [   AddrBits-1:0] apb_addr_i,
  input  logic [8*DataBytes-1:0] apb_wdata_i,
  input  logic [  DataBytes-1:0] apb_be_i,
  output logic                   apb_rvalid_o,
  output logic [8*DataBytes-1:0] apb_rdata_o,
  output logic [            1:0] apb_resp_o,
  // The bus before the OBI adapter
  input  logic                   obi_valid_i,
  output logic                   obi_ready_o,
  input  logic                   obi_we_i,
  input  logic [   AddrBits-1:0] obi_addr_i,
  input  logic [8*DataBytes-1:0] obi_wdata_i,
  input  logic [  DataBytes-1:0] obi_be_i,
  output logic                   obi_rvalid_o,
  output logic [8*DataBytes-1:0] obi_rdata_o,
  output logic [            1:0] obi_resp_o,
  // The bus before the Wishbone adapter
  input  logic                   wb_valid_i,
  output logic                   wb_ready_o,
  input  logic                   wb_we_i,
  input  logic [   AddrBits-1:0] wb_addr_i,
  input  logic [8*DataBytes-1:0] wb_wdata_i,
  input  logic [  DataBytes-1:0] wb_be_i,
  output logic                   wb_rvalid_o,
  output logic [8*DataBytes-1:0] wb_rdata_o,
  output logic [            1:0] wb_resp_o,
  // APB
  output logic                   m_apb_psel,
  output logic                   m_apb_penable,
  output logic [   AddrBits-1:0] m_apb_paddr,
  output logic                   m_apb_pwrite,
  output logic [           31:0] m_apb_pwdata,
  output logic [            3:0] m_apb_pstrb,
  input  logic                   m_apb_pready,
  input  logic [           31:0] m_apb_prdata,
  input  logic                   m_apb_pslverr,
  // OBI
  output logic                   m_obi_req,
  input  logic                   m_obi_gnt,
  output logic [   AddrBits-1:0] m_obi_addr,
  output logic                   m_obi_we,
  output logic [            3:0] m_obi_be,
  output logic [           31:0] m_obi_wdata,
  input  logic                   m_obi_rvalid,
  input  logic [           31:0] m_obi_rdata,
  input  logic                   m_obi_err,
  output logic                   m_obi_rready,
  // Wishbone
  output logic                   m_wb_cyc,
  output logic                   m_wb_stb,
  output logic                   m_wb_we,
  output logic [   AddrBits-1:0] m_wb_adr,
  output logic [            3:0] m_wb_sel,
  output logic [           31:0] m_wb_dat_w,
  input  logic [           31:0] m_wb_dat_r,
  input  logic                   m_wb_ack,
  input  logic                   m_wb_err
);

  resp_e apb_resp, obi_resp, wb_resp;

  assign apb_resp_o   = apb_resp;
  assign obi_resp_o   = obi_resp;
  assign wb_resp_o    = wb_resp;
  assign m_obi_rready = 1'b1;

  atoll_bus_to_apb #(
    .DataBytes(DataBytes),
    .AddrBits (AddrBits)
  ) u_apb (
    .clk_i,
    .rst_ni,
    .valid_i (apb_valid_i),
    .ready_o (apb_ready_o),
    .we_i    (apb_we_i),
    .addr_i  (apb_addr_i),
    .wdata_i (apb_wdata_i),
    .be_i    (apb_be_i),
    .rvalid_o(apb_rvalid_o),
    .rdata_o (apb_rdata_o),
    .resp_o  (apb_resp),
    .m_apb_psel_o    (m_apb_psel),
    .m_apb_penable_o (m_apb_penable),
    .m_apb_paddr_o   (m_apb_paddr),
    .m_apb_pwrite_o  (m_apb_pwrite),
    .m_apb_pwdata_o  (m_apb_pwdata),
    .m_apb_pstrb_o   (m_apb_pstrb),
    .m_apb_pready_i  (m_apb_pready),
    .m_apb_prdata_i  (m_apb_prdata),
    .m_apb_pslverr_i (m_apb_pslverr)
  );

  atoll_bus_to_obi #(
    .DataBytes(DataBytes),
    .AddrBits (AddrBits)
  ) u_obi (
    .clk_i,
    .rst_ni,
    .valid_i (obi_valid_i),
    .ready_o (obi_ready_o),
    .we_i    (obi_we_i),
    .addr_i  (obi_addr_i),
    .wdata_i (obi_wdata_i),
    .be_i    (obi_be_i),
    .rvalid_o(obi_rvalid_o),
    .rdata_o (obi_rdata_o),
    .resp_o  (obi_resp),
    .m_obi_req_o    (m_obi_req),
    .m_obi_gnt_i    (m_obi_gnt),
    .m_obi_addr_o   (m_obi_addr),
    .m_obi_we_o     (m_obi_we),
    .m_obi_be_o     (m_obi_be),
    .m_obi_wdata_o  (m_obi_wdata),
    .m_obi_rvalid_i (m_obi_rvalid),
    .m_obi_rdata_i  (m_obi_rdata),
    .m_obi_err_i    (m_obi_err)
  );

  atoll_bus_to_wishbone #(
    .DataBytes(DataBytes),
    .AddrBits (AddrBits)
  ) u_wb (
    .clk_i,
    .rst_ni,
    .valid_i (wb_valid_i),
    .ready_o (wb_ready_o),
    .we_i    (wb_we_i),
    .addr_i  (wb_addr_i),
    .wdata_i (wb_wdata_i),
    .be_i    (wb_be_i),
    .rvalid_o(wb_rvalid_o),
    .rdata_o (wb_rdata_o),
    .resp_o  (wb_resp),
    .m_wb_cyc_o   (m_wb_cyc),
    .m_wb_stb_o   (m_wb_stb),
    .m_wb_we_o    (m_wb_we),
    .m_wb_adr_o   (m_wb_adr),
    .m_wb_sel_o   (m_wb_sel),
    .m_wb_dat_w_o (m_wb_dat_w),
    .m_wb_dat_r_i (m_wb_dat_r),
    .m_wb_ack_i   (m_wb_ack),
    .m_wb_err_i   (m_wb_err)
  );

endmodule
