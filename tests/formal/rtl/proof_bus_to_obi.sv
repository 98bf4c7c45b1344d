// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from the bus to an OBI subordinate.
module proof_bus_to_obi
  import atoll_bus_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic        we_i,
  input logic [11:0] addr_i,
  input logic [63:0] wdata_i,
  input logic [ 7:0] be_i,
  input logic        gnt_i,
  input logic        rvalid_i,
  input logic [31:0] rdata_i,
  input logic        err_i
);

  logic rst_n = 1'b0;
  logic ready, rvalid, due;
  logic [63:0] rdata;
  resp_e resp;
  logic req, we;
  logic [11:0] addr;
  logic [31:0] wdata;
  logic [3:0] be;

  atoll_bus_to_obi u_dut (
    .clk_i,
    .rst_ni        (rst_n),
    .m_obi_req_o   (req),
    .m_obi_gnt_i   (gnt_i),
    .m_obi_addr_o  (addr),
    .m_obi_we_o    (we),
    .m_obi_be_o    (be),
    .m_obi_wdata_o (wdata),
    .m_obi_rvalid_i(rvalid_i),
    .m_obi_rdata_i (rdata_i),
    .m_obi_err_i   (err_i),
    .valid_i,
    .ready_o       (ready),
    .we_i,
    .addr_i,
    .wdata_i,
    .be_i,
    .rvalid_o      (rvalid),
    .rdata_o       (rdata),
    .resp_o        (resp)
  );

  // The subordinate has granted the request and owes its answer
  logic owes_q, waits_q;
  logic [48:0] request, request_q;

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
    .asks_i       (req),
    .port_we_i    (we),
    .port_addr_i  (addr),
    .writes_i     (req && we),
    .port_data_i  (wdata),
    .port_be_i    (be),
    .done_i       (owes_q && rvalid_i),
    .answer_data_i(we || err_i ? '0 : rdata_i),
    .answer_resp_i(err_i ? RespSlave : RespOkay),
    .due_o        (due)
  );

  assign request = {addr, we, be, wdata};

  always_ff @(posedge clk_i) begin
    rst_n     <= 1'b1;
    owes_q    <= rst_n && (owes_q ? !rvalid_i : req && gnt_i);
    waits_q   <= rst_n && req && !gnt_i;
    request_q <= request;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The subordinate answers only what it has granted, a cycle later or more.
      // Asserted: atoll_bus_to_obi.OnlyAwaitedAnswers
      answers_granted : assume (!rvalid_i || owes_q);

      // The subordinate is asked from the cycle after the request until it grants.
      asked_until_granted : assert (req == (due && !owes_q));
      // A request that is not granted keeps address, direction, data and enables.
      holds : assert (!waits_q || (req && request == request_q));
    end
  end

endmodule
