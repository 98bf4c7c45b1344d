// SPDX-License-Identifier: Apache-2.0
// A small accelerator with the ports of docs/platform.md: copies COUNT beats from SOURCE to TARGET.
//
// Registers: 0x0 SOURCE, 0x4 TARGET, 0x8 COUNT (a write starts), 0xc STATUS: [0] busy, [1] done,
// [3:2] worst answer; a write clears done.
module test_copier #(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
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
  // AXI4 master
  output logic [           31:0] m_axi_araddr_o,
  output logic [            7:0] m_axi_arlen_o,
  output logic [            2:0] m_axi_arsize_o,
  output logic [            1:0] m_axi_arburst_o,
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  input  logic [8*DataBytes-1:0] m_axi_rdata_i,
  input  logic [            1:0] m_axi_rresp_i,
  input  logic                   m_axi_rlast_i,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  output logic [           31:0] m_axi_awaddr_o,
  output logic [            7:0] m_axi_awlen_o,
  output logic [            2:0] m_axi_awsize_o,
  output logic [            1:0] m_axi_awburst_o,
  output logic                   m_axi_awvalid_o,
  input  logic                   m_axi_awready_i,
  output logic [8*DataBytes-1:0] m_axi_wdata_o,
  output logic [  DataBytes-1:0] m_axi_wstrb_o,
  output logic                   m_axi_wlast_o,
  output logic                   m_axi_wvalid_o,
  input  logic                   m_axi_wready_i,
  input  logic [            1:0] m_axi_bresp_i,
  input  logic                   m_axi_bvalid_i,
  output logic                   m_axi_bready_o,
  // Level interrupt: a copy is done
  output logic                   irq_o
);

  // One burst of COUNT beats each way, data passing straight through.
  logic [31:0] source_q, target_q;
  logic [7:0] count_q, left_q;
  logic ar_q, aw_q, busy_q, done_q, b_q, r_q;
  logic [1:0] worst_q;

  logic write;
  assign write            = s_axil_awvalid_i && s_axil_wvalid_i && !b_q;
  assign s_axil_awready_o = write;
  assign s_axil_wready_o  = write;
  assign s_axil_bvalid_o  = b_q;
  assign s_axil_bresp_o   = 2'b00;
  assign s_axil_arready_o = !r_q;
  assign s_axil_rvalid_o  = r_q;
  assign s_axil_rresp_o   = 2'b00;
  assign s_axil_rdata_o   = {28'd0, worst_q, done_q, busy_q};
  assign irq_o            = done_q;

  assign m_axi_araddr_o  = source_q;
  assign m_axi_arlen_o   = count_q - 8'd1;
  assign m_axi_arsize_o  = 3'($clog2(DataBytes));
  assign m_axi_arburst_o = 2'b01;
  assign m_axi_arvalid_o = ar_q;
  assign m_axi_awaddr_o  = target_q;
  assign m_axi_awlen_o   = count_q - 8'd1;
  assign m_axi_awsize_o  = 3'($clog2(DataBytes));
  assign m_axi_awburst_o = 2'b01;
  assign m_axi_awvalid_o = aw_q;
  assign m_axi_wdata_o   = m_axi_rdata_i;
  assign m_axi_wstrb_o   = m_axi_rresp_i == 2'b00 ? '1 : '0;
  assign m_axi_wlast_o   = left_q == 8'd1;
  assign m_axi_wvalid_o  = m_axi_rvalid_i && !aw_q;
  assign m_axi_rready_o  = m_axi_wready_i && !aw_q;
  assign m_axi_bready_o  = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {source_q, target_q, count_q, left_q} <= '0;
      {ar_q, aw_q, busy_q, done_q, b_q, r_q, worst_q} <= '0;
    end else begin
      b_q <= write || (b_q && !s_axil_bready_i);
      r_q <= s_axil_arvalid_i && !r_q || (r_q && !s_axil_rready_i);
      if (m_axi_arready_i) ar_q <= 1'b0;
      if (m_axi_awready_i) aw_q <= 1'b0;
      if (m_axi_wvalid_o && m_axi_wready_i) begin
        left_q <= left_q - 8'd1;
        if (m_axi_rresp_i != 2'b00) worst_q <= m_axi_rresp_i;
      end
      if (m_axi_bvalid_i) begin
        {busy_q, done_q} <= 2'b01;
        if (m_axi_bresp_i != 2'b00) worst_q <= m_axi_bresp_i;
      end
      if (write) begin
        unique case (s_axil_awaddr_i)
          12'h0: source_q <= s_axil_wdata_i;
          12'h4: target_q <= s_axil_wdata_i;
          12'h8: begin
            {count_q, left_q}          <= {2{s_axil_wdata_i[7:0]}};
            {ar_q, aw_q, busy_q}       <= '1;
            {done_q, worst_q}          <= '0;
          end
          default: done_q <= 1'b0;
        endcase
      end
    end
  end

  logic unused;
  assign unused = ^{s_axil_wstrb_i, s_axil_araddr_i, m_axi_rlast_i};

endmodule
