// SPDX-License-Identifier: Apache-2.0
// loom with AXI4-Lite registers and an AXI4-Lite port of BYTES to memory, and no interrupt.
module loom_axil #(
  parameter int unsigned BYTES = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] s_axil_awaddr_i,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [ 3:0] s_axil_wstrb_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  output logic [ 1:0] s_axil_bresp_o,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  input  logic [11:0] s_axil_araddr_i,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  output logic [31:0] s_axil_rdata_o,
  output logic [ 1:0] s_axil_rresp_o,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] m_axil_awaddr_o,
  output logic        m_axil_awvalid_o,
  input  logic        m_axil_awready_i,
  output logic [8*BYTES-1:0] m_axil_wdata_o,
  output logic [BYTES-1:0] m_axil_wstrb_o,
  output logic        m_axil_wvalid_o,
  input  logic        m_axil_wready_i,
  input  logic [ 1:0] m_axil_bresp_i,
  input  logic        m_axil_bvalid_i,
  output logic        m_axil_bready_o,
  output logic [31:0] m_axil_araddr_o,
  output logic        m_axil_arvalid_o,
  input  logic        m_axil_arready_i,
  input  logic [8*BYTES-1:0] m_axil_rdata_i,
  input  logic [ 1:0] m_axil_rresp_i,
  input  logic        m_axil_rvalid_i,
  output logic        m_axil_rready_o
);

  localparam int unsigned LANES = BYTES / 8;

  logic req, we, gnt, rvalid, err, irq, slave_req, slave_we, answered, refused, unused;
  logic busy_q, writes_q, aw_q, w_q, ar_q, held_q, was_write_q, bad_q;
  logic [31:0] addr, addr_q, answer, kept_q;
  logic [7:0] be, be_q;
  logic [63:0] wdata, wdata_q, rdata;
  logic [31:0] lane;

  assign unused = ^{irq, m_axil_bresp_i[0], m_axil_rresp_i[0]};

  // Memory: one access at a time, of one word of a beat
  assign lane = (addr_q >> 3) % LANES;
  assign gnt = !busy_q;
  assign rvalid = busy_q && (writes_q ? m_axil_bvalid_i : m_axil_rvalid_i);
  assign err = writes_q ? m_axil_bresp_i[1] : m_axil_rresp_i[1];
  assign m_axil_awaddr_o = addr_q;
  assign m_axil_araddr_o = addr_q;
  assign m_axil_wdata_o = {LANES{wdata_q}};
  assign m_axil_wstrb_o = BYTES'(be_q) << {lane, 3'd0};
  assign rdata = m_axil_rdata_i[64*lane+:64];
  assign m_axil_awvalid_o = aw_q;
  assign m_axil_wvalid_o = w_q;
  assign m_axil_arvalid_o = ar_q;
  assign m_axil_bready_o = busy_q;
  assign m_axil_rready_o = busy_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, writes_q, aw_q, w_q, ar_q} <= '0;
      {addr_q, be_q, wdata_q} <= '0;
    end else if (req && gnt) begin
      {busy_q, writes_q, aw_q, w_q, ar_q} <= {1'b1, we, we, we, !we};
      {addr_q, be_q, wdata_q} <= {addr, be, wdata};
    end else begin
      if (m_axil_awready_i) aw_q <= 1'b0;
      if (m_axil_wready_i) w_q <= 1'b0;
      if (m_axil_arready_i) ar_q <= 1'b0;
      if (rvalid) busy_q <= 1'b0;
    end
  end

  // Registers: one access at a time, writes first
  assign slave_we = s_axil_awvalid_i && s_axil_wvalid_i;
  assign slave_req = !held_q && !answered && (slave_we || s_axil_arvalid_i);
  assign s_axil_awready_o = slave_req && slave_we;
  assign s_axil_wready_o = slave_req && slave_we;
  assign s_axil_arready_o = slave_req && !slave_we;
  assign s_axil_bvalid_o = held_q && was_write_q;
  assign s_axil_rvalid_o = held_q && !was_write_q;
  assign s_axil_bresp_o = {bad_q, 1'b0};
  assign s_axil_rresp_o = {bad_q, 1'b0};
  assign s_axil_rdata_o = kept_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {held_q, was_write_q, bad_q} <= '0;
      kept_q <= '0;
    end else begin
      if (slave_req) was_write_q <= slave_we;
      if (answered) {held_q, bad_q, kept_q} <= {1'b1, refused, answer};
      else if (was_write_q ? s_axil_bready_i : s_axil_rready_i) held_q <= 1'b0;
    end
  end

  loom u_loom (
    .clk_i,
    .rst_ni,
    .irq_o         (irq),
    .s_obi_req_i   (slave_req),
    .s_obi_gnt_o   (),
    .s_obi_addr_i  (slave_we ? s_axil_awaddr_i : s_axil_araddr_i),
    .s_obi_we_i    (slave_we),
    .s_obi_be_i    (s_axil_wstrb_i),
    .s_obi_wdata_i (s_axil_wdata_i),
    .s_obi_rvalid_o(answered),
    .s_obi_rdata_o (answer),
    .s_obi_err_o   (refused),
    .m_obi_req_o   (req),
    .m_obi_gnt_i   (gnt),
    .m_obi_addr_o  (addr),
    .m_obi_we_o    (we),
    .m_obi_be_o    (be),
    .m_obi_wdata_o (wdata),
    .m_obi_rvalid_i(rvalid),
    .m_obi_rdata_i (rdata),
    .m_obi_err_i   (err)
  );

endmodule
