// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from the bus to a Wishbone slave.
module proof_bus_to_wishbone
  import atoll_bus_pkg::*;
(
  input logic        clk_i,
  input logic        valid_i,
  input logic        we_i,
  input logic [11:0] addr_i,
  input logic [63:0] wdata_i,
  input logic [ 7:0] be_i,
  input logic [31:0] dat_i,
  input logic        ack_i,
  input logic        err_i
);

  logic rst_n = 1'b0;
  logic ready, rvalid, due;
  logic [63:0] rdata;
  resp_e resp;
  logic cyc, stb, we;
  logic [11:0] adr;
  logic [31:0] dat;
  logic [3:0] sel;

  atoll_bus_to_wishbone u_dut (
    .clk_i,
    .rst_ni      (rst_n),
    .m_wb_cyc_o  (cyc),
    .m_wb_stb_o  (stb),
    .m_wb_we_o   (we),
    .m_wb_adr_o  (adr),
    .m_wb_sel_o  (sel),
    .m_wb_dat_w_o(dat),
    .m_wb_dat_r_i(dat_i),
    .m_wb_ack_i  (ack_i),
    .m_wb_err_i  (err_i),
    .valid_i,
    .ready_o     (ready),
    .we_i,
    .addr_i,
    .wdata_i,
    .be_i,
    .rvalid_o    (rvalid),
    .rdata_o     (rdata),
    .resp_o      (resp)
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
    .asks_i       (cyc && stb),
    .port_we_i    (we),
    .port_addr_i  (adr),
    .writes_i     (cyc && stb && we),
    .port_data_i  (dat),
    .port_be_i    (sel),
    .done_i       (cyc && stb && (ack_i || err_i)),
    .answer_data_i(we || err_i ? '0 : dat_i),
    .answer_resp_i(err_i ? RespSlave : RespOkay),
    .due_o        (due)
  );

  logic waits_q;
  logic [48:0] access, access_q;

  assign access = {adr, we, sel, dat};

  always_ff @(posedge clk_i) begin
    rst_n    <= 1'b1;
    waits_q  <= rst_n && cyc && !ack_i && !err_i;
    access_q <= access;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The slave does not acknowledge and fail at once.
      // Asserted: atoll_bus_to_wishbone.OneAnswer
      one_answer : assume (!stb || !(ack_i && err_i));

      // A cycle lasts from the one after the request until the slave acknowledges or fails.
      cycle_until_answer : assert (cyc == due);
      // Strobe and cycle are one: there is one access in a cycle.
      one_access : assert (stb == cyc);
      // An access that waits keeps address, direction, data and selects.
      holds : assert (!waits_q || access == access_q);
    end
  end

endmodule
