// ripple with a memory that answers without the bench, for long runs.
module ripple_bench #(
  // See docs/ripple.md
  parameter int unsigned DataBytes = 8,
  // See engine_memory
  parameter int unsigned Latency = 1
) (
  // Clock and reset
  input  logic        clk_i,
  input  logic        rst_ni,
  // Of the memory, see engine_memory
  input  logic [ 7:0] rest_i,
  input  logic        forgive_i,
  output logic [31:0] violations_o,
  output logic [31:0] late_o,
  // AXI4-Lite control port; reads and writes are answered in the next cycle
  input  logic [11:0] address_i,
  input  logic [31:0] wdata_i,
  input  logic        write_i,
  input  logic        read_i,
  output logic [31:0] rdata_o,
  output logic [ 1:0] rresp_o,
  output logic [ 1:0] bresp_o,
  // Interrupt
  output logic        irq_o
);

  logic [31:0] awaddr, araddr;
  logic [7:0] awlen, arlen;
  logic [2:0] awsize, arsize;
  logic [1:0] awburst, bresp, arburst, rresp;
  logic
      awvalid,
      awready,
      wlast,
      wvalid,
      wready,
      bvalid,
      bready,
      arvalid,
      arready,
      rlast,
      rvalid,
      rready;
  logic [DataBytes*8-1:0] wdata, rdata;
  logic [DataBytes-1:0] wstrb;
  logic awready_unused, wready_unused, bvalid_unused, arready_unused, rvalid_unused;
  logic unused;

  assign unused = ^{awready_unused, wready_unused, bvalid_unused, arready_unused, rvalid_unused,
                    awsize, awburst, wlast, arsize, arburst};

  ripple #(
    .DataBytes(DataBytes)
  ) u_ripple (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i (address_i),
    .s_axil_awvalid_i(write_i),
    .s_axil_awready_o(awready_unused),
    .s_axil_wdata_i  (wdata_i),
    .s_axil_wstrb_i  (4'hf),
    .s_axil_wvalid_i (write_i),
    .s_axil_wready_o (wready_unused),
    .s_axil_bresp_o  (bresp_o),
    .s_axil_bvalid_o (bvalid_unused),
    .s_axil_bready_i (1'b1),
    .s_axil_araddr_i (address_i),
    .s_axil_arvalid_i(read_i),
    .s_axil_arready_o(arready_unused),
    .s_axil_rdata_o  (rdata_o),
    .s_axil_rresp_o  (rresp_o),
    .s_axil_rvalid_o (rvalid_unused),
    .s_axil_rready_i (1'b1),
    .m_axi_awaddr_o  (awaddr),
    .m_axi_awlen_o   (awlen),
    .m_axi_awsize_o  (awsize),
    .m_axi_awburst_o (awburst),
    .m_axi_awvalid_o (awvalid),
    .m_axi_awready_i (awready),
    .m_axi_wdata_o   (wdata),
    .m_axi_wstrb_o   (wstrb),
    .m_axi_wlast_o   (wlast),
    .m_axi_wvalid_o  (wvalid),
    .m_axi_wready_i  (wready),
    .m_axi_bresp_i   (bresp),
    .m_axi_bvalid_i  (bvalid),
    .m_axi_bready_o  (bready),
    .m_axi_araddr_o  (araddr),
    .m_axi_arlen_o   (arlen),
    .m_axi_arsize_o  (arsize),
    .m_axi_arburst_o (arburst),
    .m_axi_arvalid_o (arvalid),
    .m_axi_arready_i (arready),
    .m_axi_rdata_i   (rdata),
    .m_axi_rresp_i   (rresp),
    .m_axi_rlast_i   (rlast),
    .m_axi_rvalid_i  (rvalid),
    .m_axi_rready_o  (rready),
    .irq_o
  );

  engine_memory #(
    .DataBytes(DataBytes),
    .Latency  (Latency)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .rest_i,
    .forgive_i,
    .violations_o,
    .late_o,
    .s_axi_awaddr_i (awaddr),
    .s_axi_awlen_i  (awlen),
    .s_axi_awvalid_i(awvalid),
    .s_axi_awready_o(awready),
    .s_axi_wdata_i  (wdata),
    .s_axi_wstrb_i  (wstrb),
    .s_axi_wvalid_i (wvalid),
    .s_axi_wready_o (wready),
    .s_axi_bresp_o  (bresp),
    .s_axi_bvalid_o (bvalid),
    .s_axi_bready_i (bready),
    .s_axi_araddr_i (araddr),
    .s_axi_arlen_i  (arlen),
    .s_axi_arvalid_i(arvalid),
    .s_axi_arready_o(arready),
    .s_axi_rdata_o  (rdata),
    .s_axi_rresp_o  (rresp),
    .s_axi_rlast_o  (rlast),
    .s_axi_rvalid_o (rvalid),
    .s_axi_rready_i (rready)
  );

endmodule
