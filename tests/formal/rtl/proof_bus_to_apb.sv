// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from the bus to an APB4 completer.
module proof_bus_to_apb
  import atoll_bus_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic        we_i,
  input logic [11:0] addr_i,
  input logic [63:0] wdata_i,
  input logic [ 7:0] be_i,
  input logic        pready_i,
  input logic [31:0] prdata_i,
  input logic        pslverr_i
);

  logic rst_n = 1'b0;
  logic ready, rvalid, due;
  logic [63:0] rdata;
  resp_e resp;
  logic psel, penable, pwrite;
  logic [11:0] paddr;
  logic [31:0] pwdata;
  logic [3:0] pstrb;

  atoll_bus_to_apb u_dut (
    .clk_i,
    .rst_ni         (rst_n),
    .m_apb_psel_o   (psel),
    .m_apb_penable_o(penable),
    .m_apb_paddr_o  (paddr),
    .m_apb_pwrite_o (pwrite),
    .m_apb_pwdata_o (pwdata),
    .m_apb_pstrb_o  (pstrb),
    .m_apb_pready_i (pready_i),
    .m_apb_prdata_i (prdata_i),
    .m_apb_pslverr_i(pslverr_i),
    .valid_i,
    .ready_o        (ready),
    .we_i,
    .addr_i,
    .wdata_i,
    .be_i,
    .rvalid_o       (rvalid),
    .rdata_o        (rdata),
    .resp_o         (resp)
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
    .asks_i       (psel),
    .port_we_i    (pwrite),
    .port_addr_i  (paddr),
    .writes_i     (psel && pwrite),
    .port_data_i  (pwdata),
    .port_be_i    (pstrb),
    .done_i       (psel && penable && pready_i),
    .answer_data_i(pwrite || pslverr_i ? '0 : prdata_i),
    .answer_resp_i(pslverr_i ? RespSlave : RespOkay),
    .due_o        (due)
  );

  logic setup_q, waits_q;
  logic [48:0] transfer, transfer_q;

  assign transfer = {paddr, pwrite, pwdata, pstrb};

  always_ff @(posedge clk_i) begin
    rst_n      <= 1'b1;
    setup_q    <= rst_n && psel && !penable;
    waits_q    <= rst_n && psel && penable && !pready_i;
    transfer_q <= transfer;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The completer is selected from the cycle after the request until it is ready.
      selected : assert (psel == due);
      // A transfer begins with one setup cycle, in which the enable is low.
      setup_first : assert (penable == (setup_q || waits_q));
      // A transfer keeps address, direction, data and strobes.
      holds : assert (!(setup_q || waits_q) || (psel && transfer == transfer_q));
      // A read has no strobe.
      reads_strobe_nothing : assert (!psel || pwrite || pstrb == '0);
    end
  end

endmodule
