// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from a four-byte OBI port to the bus of eight bytes, two beats under way.
module proof_obi_to_bus
  import atoll_bus_pkg::*;
#(
  parameter int unsigned Depth = 2
) (
  input logic        clk_i,
  input logic        req_i,
  input logic [31:0] addr_i,
  input logic        we_i,
  input logic [ 3:0] be_i,
  input logic [31:0] wdata_i,
  input logic        ready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input resp_e       resp_i,
  // The watched request is this one
  input logic        pick_i
);

  logic rst_n = 1'b0;
  logic gnt, rvalid, err, valid, we;
  logic [31:0] rdata, addr;
  logic [63:0] wdata;
  logic [7:0] be;

  atoll_obi_to_bus #(
    .DataBytes(8),
    .PortBytes(4),
    .Depth    (Depth)
  ) u_dut (
    .clk_i,
    .rst_ni        (rst_n),
    .s_obi_req_i   (req_i),
    .s_obi_gnt_o   (gnt),
    .s_obi_addr_i  (addr_i),
    .s_obi_we_i    (we_i),
    .s_obi_be_i    (be_i),
    .s_obi_wdata_i (wdata_i),
    .s_obi_rvalid_o(rvalid),
    .s_obi_rdata_o (rdata),
    .s_obi_err_o   (err),
    .valid_o       (valid),
    .ready_i,
    .we_o          (we),
    .addr_o        (addr),
    .wdata_o       (wdata),
    .be_o          (be),
    .rvalid_i,
    .rdata_i,
    .resp_i
  );

  logic asks, awaits, answers, upper_q, waits_q, stays_q, bytes_right;
  logic [1:0] awaited;
  logic [68:0] request, request_q;
  logic [104:0] beat, beat_q;

  watched_order #(
    .CountBits(2)
  ) u_watched (
    .clk_i,
    .rst_ni    (rst_n),
    .pick_i,
    .asked_i   (req_i && gnt),
    .answered_i(rvalid),
    .asks_o    (asks),
    .awaits_o  (awaits),
    .answers_o (answers),
    .awaited_o (awaited)
  );

  assign request = {addr_i, we_i, be_i, we_i ? wdata_i : 32'd0};
  assign beat    = {addr, we, be, we ? wdata : 64'd0};

  // Byte for byte: the bus enables what the port enables, at the same address, with the same value
  always_comb begin
    bytes_right = 1'b1;
    for (int unsigned i = 0; i < 8; i++) begin
      logic lane;
      lane = i >= 4;
      if (be[i] != (lane == addr_i[2] && be_i[i%4])) bytes_right = 1'b0;
      if (we && be[i] && wdata[8*i+:8] != wdata_i[8*(i%4)+:8]) bytes_right = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    rst_n     <= 1'b1;
    waits_q   <= rst_n && req_i && !gnt;
    stays_q   <= rst_n && valid && !ready_i;
    request_q <= request;
    beat_q    <= beat;
    if (asks) upper_q <= addr_i[2];
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The bus answers only what it was asked, a cycle later or more.
      // Asserted: atoll_obi_to_bus.OnlyAwaitedAnswers
      answers_asked : assume (!rvalid_i || awaited != '0);
      // The manager keeps a request until it is granted.
      // Asserted: atoll_channel_monitor.atoll_device_wavers
      keeps : assume (!waits_q || (req_i && request == request_q));

      // The bus is asked only what the manager asks.
      only_requests : assert (!valid || (req_i && we == we_i && addr == {addr_i[31:3], 3'b0}));
      // Each byte of the beat is enabled as it is at the port, at its address and, in a write, with its value.
      right_bytes : assert (!valid || bytes_right);
      // A request is granted when the bus takes it, so that none is lost or doubled.
      granted_once : assert (gnt == (valid && ready_i));
      // The bus is asked in the cycle of the request, if there is a place for the answer.
      never_idle : assert (!(req_i && awaited < 2'(Depth)) || valid);
      // Never more beats are under way than there are places.
      places : assert (awaited <= 2'(Depth));
      // What the bus is asked stays until it is taken.
      holds : assert (!stays_q || (valid && beat == beat_q));
      // Each answer of the bus is passed on in its own cycle, and no other is made up.
      answers_pass : assert (rvalid == rvalid_i);
      // The watched request is answered with the data of its lane.
      right_lane : assert (!answers || rdata == (upper_q ? rdata_i[63:32] : rdata_i[31:0]));
      // Both kinds of errors become `err`, and nothing else.
      errors_pass : assert (!rvalid || err == (resp_i != RespOkay));
    end
  end

endmodule
