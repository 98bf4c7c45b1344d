// SPDX-License-Identifier: Apache-2.0
// Specification of the arbiter, for four requesters of which one, any, is watched.
module proof_arbiter (
  input logic       clk_i,
  input logic [3:0] request_i,
  input logic       taken_i,
  // The requester that is watched: the value in the first cycle counts
  input logic [1:0] watched_i
);

  localparam int unsigned Ports = 4;

  logic rst_n = 1'b0;
  logic waits, waited_q;
  logic [1:0] watched_q;
  logic [Ports-1:0] grant;
  // How often others were served while the watched one waits, and who
  logic [2:0] passed_q;
  logic [Ports-1:0] served_q;

  atoll_arbiter #(
    .NumPorts(Ports)
  ) u_dut (
    .clk_i,
    .rst_ni   (rst_n),
    .request_i,
    .grant_o  (grant),
    .taken_i
  );

  assign waits = request_i[watched_q] && !(taken_i && grant[watched_q]);

  always_ff @(posedge clk_i) begin
    rst_n <= 1'b1;
    if (!rst_n) watched_q <= watched_i;
    waited_q <= rst_n && waits;
    passed_q <= rst_n && waits ? passed_q + 3'(taken_i) : '0;
    served_q <= rst_n && waits ? served_q | (taken_i ? grant : '0) : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // At most one requester is granted.
      one_grant : assert (
          grant == 4'd0 || grant == 4'd1 || grant == 4'd2 || grant == 4'd4 || grant == 4'd8);
      // Only who requests is granted.
      only_requesters : assert ((grant & ~request_i) == 4'd0);
      // Some requester is granted whenever there is one.
      nobody_idle : assert (request_i == 4'd0 || grant != 4'd0);
      // Who waits is passed by at most one service of each other port.
      fair : assert (!waited_q || passed_q < 3'(Ports));
      // Who waits sees nobody served twice.
      in_turn : assert (!waited_q || !request_i[watched_q] || (grant & served_q) == 4'd0);
    end
  end

endmodule
