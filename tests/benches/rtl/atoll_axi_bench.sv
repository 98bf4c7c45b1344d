// SPDX-License-Identifier: Apache-2.0
// `atoll_axi_to_bus` before a firewall and two memories: what an accelerator sees of a chip.
module atoll_axi_bench
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat.
  parameter int unsigned DataBytes = 8,
  // Bytes of the AXI data port.
  parameter int unsigned AxiBytes  = 8,
  // Bytes that a bank of the ram moves per cycle.
  parameter int unsigned WordBytes = 8
) (
  // Clock and reset
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // AXI4 port of an accelerator, names as independent peers expect them
  input  logic                  s_axi_awid,
  input  logic [          31:0] s_axi_awaddr,
  input  logic [           7:0] s_axi_awlen,
  input  logic [           2:0] s_axi_awsize,
  input  logic [           1:0] s_axi_awburst,
  input  logic                  s_axi_awvalid,
  output logic                  s_axi_awready,
  input  logic [8*AxiBytes-1:0] s_axi_wdata,
  input  logic [  AxiBytes-1:0] s_axi_wstrb,
  input  logic                  s_axi_wlast,
  input  logic                  s_axi_wvalid,
  output logic                  s_axi_wready,
  output logic                  s_axi_bid,
  output logic [           1:0] s_axi_bresp,
  output logic                  s_axi_bvalid,
  input  logic                  s_axi_bready,
  input  logic                  s_axi_arid,
  input  logic [          31:0] s_axi_araddr,
  input  logic [           7:0] s_axi_arlen,
  input  logic [           2:0] s_axi_arsize,
  input  logic [           1:0] s_axi_arburst,
  input  logic                  s_axi_arvalid,
  output logic                  s_axi_arready,
  output logic                  s_axi_rid,
  output logic [8*AxiBytes-1:0] s_axi_rdata,
  output logic [           1:0] s_axi_rresp,
  output logic                  s_axi_rlast,
  output logic                  s_axi_rvalid,
  input  logic                  s_axi_rready
);

  // A ram of which the first and last 64 bytes cannot be reached, and a rom without its first 64.
  localparam logic [31:0] RAM = 32'h2000_0000;
  localparam logic [31:0] ROM = 32'h0000_0000;
  localparam int unsigned SIZE = 16384;
  localparam window_t RamWindow = {RAM + 32'd64, RAM + SIZE - 32'd65};
  localparam window_t RomWindow = {ROM + 32'd64, ROM + SIZE - 32'd1};

  logic valid, ready, we, rvalid, bus_valid, bus_ready, bus_rvalid;
  logic [31:0] addr;
  logic [8*DataBytes-1:0] wdata, rdata, bus_rdata;
  logic [DataBytes-1:0] be;
  resp_e resp, bus_resp;
  logic [1:0] tgt_valid, tgt_ready, tgt_rvalid;
  logic [1:0][8*DataBytes-1:0] tgt_rdata;
  logic [1:0][1:0] tgt_resp;
  logic unused;

  assign s_axi_bid = 1'b0;
  assign s_axi_rid = 1'b0;
  assign unused    = s_axi_awid ^ s_axi_arid;

  atoll_axi_to_bus #(
    .DataBytes(DataBytes),
    .AxiBytes (AxiBytes)
  ) u_adapter (
    .clk_i,
    .rst_ni,
    .s_axi_araddr_i   (s_axi_araddr),
    .s_axi_arlen_i    (s_axi_arlen),
    .s_axi_arsize_i   (s_axi_arsize),
    .s_axi_arburst_i  (s_axi_arburst),
    .s_axi_arvalid_i  (s_axi_arvalid),
    .s_axi_arready_o  (s_axi_arready),
    .s_axi_rdata_o    (s_axi_rdata),
    .s_axi_rresp_o    (s_axi_rresp),
    .s_axi_rlast_o    (s_axi_rlast),
    .s_axi_rvalid_o   (s_axi_rvalid),
    .s_axi_rready_i   (s_axi_rready),
    .s_axi_awaddr_i   (s_axi_awaddr),
    .s_axi_awlen_i    (s_axi_awlen),
    .s_axi_awsize_i   (s_axi_awsize),
    .s_axi_awburst_i  (s_axi_awburst),
    .s_axi_awvalid_i  (s_axi_awvalid),
    .s_axi_awready_o  (s_axi_awready),
    .s_axi_wdata_i    (s_axi_wdata),
    .s_axi_wstrb_i    (s_axi_wstrb),
    .s_axi_wlast_i    (s_axi_wlast),
    .s_axi_wvalid_i   (s_axi_wvalid),
    .s_axi_wready_o   (s_axi_wready),
    .s_axi_bresp_o    (s_axi_bresp),
    .s_axi_bvalid_o   (s_axi_bvalid),
    .s_axi_bready_i   (s_axi_bready),
    .valid_o (valid),
    .ready_i (ready),
    .we_o    (we),
    .addr_o  (addr),
    .wdata_o (wdata),
    .be_o    (be),
    .rvalid_i(rvalid),
    .rdata_i (rdata),
    .resp_i  (resp)
  );

  // Writes to the rom pass the firewall, so that the rom itself must refuse them.
  atoll_firewall #(
    .DataBytes  (DataBytes),
    .NumReadable(2),
    .NumWritable(2)
  ) u_firewall (
    .clk_i,
    .rst_ni,
    .readable_i      ({RomWindow, RamWindow}),
    .writable_i      ({RomWindow, RamWindow}),
    .mst_valid_i     (valid),
    .mst_ready_o     (ready),
    .mst_we_i        (we),
    .mst_addr_i      (addr),
    .mst_mapped_i    (1'b1),
    .mst_be_i        (be),
    .mst_rvalid_o    (rvalid),
    .mst_rdata_o     (rdata),
    .mst_resp_o      (resp),
    .bus_valid_o     (bus_valid),
    .bus_ready_i     (bus_ready),
    .bus_rvalid_i    (bus_rvalid),
    .bus_rdata_i     (bus_rdata),
    .bus_resp_i      (bus_resp),
    .clear_i         (1'b0),
    .blocked_o       (),
    .violated_o      (),
    .violation_addr_o(),
    .violation_we_o  (),
    .violation_bus_o ()
  );

  atoll_demux #(
    .DataBytes (DataBytes),
    .NumTargets(2)
  ) u_demux (
    .clk_i,
    .rst_ni,
    .targets_i   ({{ROM, ROM + SIZE - 32'd1}, {RAM, RAM + SIZE - 32'd1}}),
    .mst_valid_i (bus_valid),
    .mst_ready_o (bus_ready),
    .mst_addr_i  (addr),
    .mst_rvalid_o(bus_rvalid),
    .mst_rdata_o (bus_rdata),
    .mst_resp_o  (bus_resp),
    .tgt_valid_o (tgt_valid),
    .tgt_ready_i (tgt_ready),
    .tgt_rvalid_i(tgt_rvalid),
    .tgt_rdata_i (tgt_rdata),
    .tgt_resp_i  (tgt_resp)
  );

  for (genvar i = 0; i < 2; i++) begin : gen_memory
    atoll_memory #(
      .DataBytes  (DataBytes),
      .SizeBytes  (SIZE),
      .WordBytes  (WordBytes),
      .ReadLatency(2),
      .Writable   (i == 0)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .origin_i(i == 0 ? RAM : ROM),
      .valid_i (tgt_valid[i]),
      .ready_o (tgt_ready[i]),
      .we_i    (we),
      .addr_i  (addr),
      .wdata_i (wdata),
      .be_i    (be),
      .rvalid_o(tgt_rvalid[i]),
      .rdata_o (tgt_rdata[i]),
      .resp_o  (tgt_resp[i])
    );
  end

endmodule
