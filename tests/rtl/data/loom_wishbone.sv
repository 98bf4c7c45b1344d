// SPDX-License-Identifier: Apache-2.0
// loom with Wishbone registers, a port that reads, another one that writes, and an interrupt by edge.
module loom_wishbone (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        irq_o,
  input  logic        s_wb_cyc_i,
  input  logic        s_wb_stb_i,
  input  logic        s_wb_we_i,
  input  logic [11:0] s_wb_adr_i,
  input  logic [ 3:0] s_wb_sel_i,
  input  logic [31:0] s_wb_dat_w_i,
  output logic [31:0] s_wb_dat_r_o,
  output logic        s_wb_ack_o,
  output logic        s_wb_err_o,
  output logic        r_wb_cyc_o,
  output logic        r_wb_stb_o,
  output logic        r_wb_we_o,
  output logic [31:0] r_wb_adr_o,
  output logic [ 7:0] r_wb_sel_o,
  output logic [63:0] r_wb_dat_w_o,
  input  logic [63:0] r_wb_dat_r_i,
  input  logic        r_wb_ack_i,
  input  logic        r_wb_err_i,
  output logic        w_wb_cyc_o,
  output logic        w_wb_stb_o,
  output logic        w_wb_we_o,
  output logic [31:0] w_wb_adr_o,
  output logic [ 7:0] w_wb_sel_o,
  output logic [63:0] w_wb_dat_w_o,
  input  logic [63:0] w_wb_dat_r_i,
  input  logic        w_wb_ack_i,
  input  logic        w_wb_err_i
);

  logic req, granted, we, valid_q, error_q, asked_q, level, level_q, answered, refused, unused;
  logic [31:0] addr;
  logic [7:0] be;
  logic [63:0] wdata, rdata_q;

  assign unused = ^w_wb_dat_r_i;
  assign {r_wb_cyc_o, r_wb_stb_o} = {2{req && !we}};
  assign {w_wb_cyc_o, w_wb_stb_o} = {2{req && we}};
  assign {r_wb_we_o, w_wb_we_o} = 2'b01;
  assign {r_wb_adr_o, w_wb_adr_o} = {2{addr}};
  assign {r_wb_sel_o, w_wb_sel_o} = {2{be}};
  assign {r_wb_dat_w_o, w_wb_dat_w_o} = {2{wdata}};
  assign granted = we ? w_wb_ack_i || w_wb_err_i : r_wb_ack_i || r_wb_err_i;
  assign s_wb_ack_o = answered && !refused;
  assign s_wb_err_o = answered && refused;
  assign irq_o = level && !level_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {valid_q, error_q, asked_q, level_q} <= '0;
      rdata_q <= '0;
    end else begin
      valid_q <= req && granted;
      error_q <= we ? w_wb_err_i : r_wb_err_i;
      rdata_q <= r_wb_dat_r_i;
      asked_q <= s_wb_cyc_i && s_wb_stb_i && !asked_q;
      level_q <= level;
    end
  end

  loom u_loom (
    .clk_i,
    .rst_ni,
    .irq_o         (level),
    .s_obi_req_i   (s_wb_cyc_i && s_wb_stb_i && !asked_q),
    .s_obi_gnt_o   (),
    .s_obi_addr_i  (s_wb_adr_i),
    .s_obi_we_i    (s_wb_we_i),
    .s_obi_be_i    (s_wb_sel_i),
    .s_obi_wdata_i (s_wb_dat_w_i),
    .s_obi_rvalid_o(answered),
    .s_obi_rdata_o (s_wb_dat_r_o),
    .s_obi_err_o   (refused),
    .m_obi_req_o   (req),
    .m_obi_gnt_i   (granted),
    .m_obi_addr_o  (addr),
    .m_obi_we_o    (we),
    .m_obi_be_o    (be),
    .m_obi_wdata_o (wdata),
    .m_obi_rvalid_i(valid_q),
    .m_obi_rdata_i (rdata_q),
    .m_obi_err_i   (error_q)
  );

endmodule
