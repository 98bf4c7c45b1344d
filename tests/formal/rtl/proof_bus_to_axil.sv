// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from the bus to an AXI4-Lite slave.
module proof_bus_to_axil
  import atoll_bus_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic        we_i,
  input logic [11:0] addr_i,
  input logic [63:0] wdata_i,
  input logic [ 7:0] be_i,
  input logic        awready_i,
  input logic        wready_i,
  input logic [ 1:0] bresp_i,
  input logic        bvalid_i,
  input logic        arready_i,
  input logic [31:0] rdata_i,
  input logic [ 1:0] rresp_i,
  input logic        rvalid_i
);

  logic rst_n = 1'b0;
  logic ready, rvalid, due;
  logic [63:0] rdata;
  resp_e resp;
  logic [11:0] awaddr, araddr;
  logic awvalid, wvalid, bready, arvalid, rready;
  logic [31:0] wdata;
  logic [3:0] wstrb;

  atoll_bus_to_axil u_dut (
    .clk_i,
    .rst_ni          (rst_n),
    .m_axil_awaddr_o (awaddr),
    .m_axil_awvalid_o(awvalid),
    .m_axil_awready_i(awready_i),
    .m_axil_wdata_o  (wdata),
    .m_axil_wstrb_o  (wstrb),
    .m_axil_wvalid_o (wvalid),
    .m_axil_wready_i (wready_i),
    .m_axil_bresp_i  (bresp_i),
    .m_axil_bvalid_i (bvalid_i),
    .m_axil_bready_o (bready),
    .m_axil_araddr_o (araddr),
    .m_axil_arvalid_o(arvalid),
    .m_axil_arready_i(arready_i),
    .m_axil_rdata_i  (rdata_i),
    .m_axil_rresp_i  (rresp_i),
    .m_axil_rvalid_i (rvalid_i),
    .m_axil_rready_o (rready),
    .valid_i,
    .ready_o         (ready),
    .we_i,
    .addr_i,
    .wdata_i,
    .be_i,
    .rvalid_o        (rvalid),
    .rdata_o         (rdata),
    .resp_o          (resp)
  );

  register_access u_access (
    .clk_i,
    .rst_ni       (rst_n),
    .valid_i,
    .ready_i      (ready),
    .we_i,
    .addr_i,
    .wdata_i,
    .be_i,
    .rvalid_i     (rvalid),
    .rdata_i      (rdata),
    .resp_i       (resp),
    .asks_i       (awvalid || arvalid),
    .port_we_i    (awvalid),
    .port_addr_i  (awvalid ? awaddr : araddr),
    .writes_i     (wvalid),
    .port_data_i  (wdata),
    .port_be_i    (wstrb),
    .done_i       ((bvalid_i && bready) || (rvalid_i && rready)),
    .answer_data_i(bready ? '0 : rdata_i),
    .answer_resp_i(resp_e'(bready ? bresp_i : rresp_i)),
    .due_o        (due)
  );

  // What the slave has taken of the access under way
  logic address_q, data_q, read_q;
  logic aw_waits_q, w_waits_q, ar_waits_q;
  logic [35:0] data_shown_q;
  logic [11:0] awaddr_q, araddr_q;

  always_ff @(posedge clk_i) begin
    rst_n        <= 1'b1;
    address_q    <= rst_n && due && (address_q || (awvalid && awready_i)) && !(bready && bvalid_i);
    data_q       <= rst_n && due && (data_q || (wvalid && wready_i)) && !(bready && bvalid_i);
    read_q       <= rst_n && due && (read_q || (arvalid && arready_i)) && !(rready && rvalid_i);
    aw_waits_q   <= rst_n && awvalid && !awready_i;
    w_waits_q    <= rst_n && wvalid && !wready_i;
    ar_waits_q   <= rst_n && arvalid && !arready_i;
    data_shown_q <= {wdata, wstrb};
    awaddr_q     <= awaddr;
    araddr_q     <= araddr;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // A valid address of a write stays, with its payload, until it is taken.
      aw_holds : assert (!aw_waits_q || (awvalid && awaddr == awaddr_q));
      // So do valid data.
      w_holds : assert (!w_waits_q || (wvalid && {wdata, wstrb} == data_shown_q));
      // So does a valid address of a read.
      ar_holds : assert (!ar_waits_q || (arvalid && araddr == araddr_q));
      // Address and data of a write are each handed over once; so is the address of a read.
      handed_over_once : assert (!(awvalid && address_q) && !(wvalid && data_q) && !(arvalid && read_q));
      // An answer is taken only after all of its access was handed over.
      answer_after_access : assert ((!bready || (address_q && data_q)) && (!rready || read_q));
      // Reads and writes never mix.
      one_direction : assert (!(awvalid || wvalid || bready) || !(arvalid || rready));
      // Something is shown or awaited until the access is done.
      goes_on : assert (!due || awvalid || wvalid || bready || arvalid || rready);
    end
  end

endmodule
