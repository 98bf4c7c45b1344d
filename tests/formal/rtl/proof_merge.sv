// SPDX-License-Identifier: Apache-2.0
// Specification of the merge of three ports into one, four beats under way at most.
module proof_merge
  import atoll_bus_pkg::*;
#(
  parameter int unsigned Ports = 3,
  parameter int unsigned Depth = 4
) (
  input logic                   clk_i,
  input logic [Ports-1:0]       mst_valid_i,
  input logic [Ports-1:0]       mst_we_i,
  input logic [Ports-1:0][31:0] mst_addr_i,
  input logic [Ports-1:0][ 7:0] mst_wdata_i,
  input logic [Ports-1:0]       mst_be_i,
  input logic                   ready_i,
  input logic                   rvalid_i,
  input logic [ 7:0]            rdata_i,
  input resp_e                  resp_i,
  // The port that is watched: the value in the first cycle counts; the request of it
  input logic [ 1:0]            watched_i,
  input logic                   pick_i
);

  logic rst_n = 1'b0;
  logic [Ports-1:0] mst_ready, mst_rvalid;
  logic [7:0] mst_rdata, wdata;
  resp_e mst_resp;
  logic valid, we, be;
  logic [31:0] addr;

  atoll_merge #(
    .DataBytes(1),
    .NumPorts (Ports),
    .Depth    (Depth)
  ) u_dut (
    .clk_i,
    .rst_ni      (rst_n),
    .mst_valid_i,
    .mst_ready_o (mst_ready),
    .mst_we_i,
    .mst_addr_i,
    .mst_wdata_i,
    .mst_be_i,
    .mst_rvalid_o(mst_rvalid),
    .mst_rdata_o (mst_rdata),
    .mst_resp_o  (mst_resp),
    .valid_o     (valid),
    .ready_i,
    .we_o        (we),
    .addr_o      (addr),
    .wdata_o     (wdata),
    .be_o        (be),
    .rvalid_i,
    .rdata_i,
    .resp_i
  );

  logic [Ports-1:0][42-1:0] asked, asked_q;
  logic [42-1:0] shown, shown_q;
  logic [Ports-1:0] unserved_q, watched_q, same;
  logic waits, waited_q, stays_q, taken, watch_asks, watch_answers, awaits;
  logic [2:0] passed_q, awaited;

  assign shown = {we, be, addr, we ? wdata : 8'd0};
  assign taken = valid && ready_i;
  assign waits = |(watched_q & mst_valid_i & ~mst_ready);
  for (genvar i = 0; i < Ports; i++) begin : gen_port
    assign asked[i] = {mst_we_i[i], mst_be_i[i], mst_addr_i[i], mst_we_i[i] ? mst_wdata_i[i] : 8'd0};
    assign same[i]  = mst_valid_i[i] && asked[i] == shown;
  end

  // Requests of the watched port and of the others are answered in the order in which they are taken
  watched_order #(
    .CountBits(3)
  ) u_watched (
    .clk_i,
    .rst_ni    (rst_n),
    .pick_i    (pick_i && |(mst_ready & watched_q)),
    .asked_i   (taken),
    .answered_i(rvalid_i),
    .asks_o    (watch_asks),
    .awaits_o  (awaits),
    .answers_o (watch_answers),
    .awaited_o (awaited)
  );

  always_ff @(posedge clk_i) begin
    rst_n <= 1'b1;
    if (!rst_n) watched_q <= watched_i == 2'd2 ? 3'b100 : watched_i == 2'd1 ? 3'b010 : 3'b001;
    unserved_q <= rst_n ? mst_valid_i & ~mst_ready : '0;
    asked_q    <= asked;
    shown_q    <= shown;
    stays_q    <= rst_n && valid && !ready_i;
    waited_q   <= rst_n && waits;
    passed_q   <= rst_n && waits ? passed_q + 3'(taken) : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // A port that was not served keeps its request, as the adapters before it are proven to.
      // Asserted: atoll_merge.NeverWithdrawn
      keeps : assume ((unserved_q & ~mst_valid_i) == '0);
      // It keeps what it asks for, likewise.
      // Asserted: atoll_merge.RequestHolds
      same_request : assume ((!unserved_q[0] || asked[0] == asked_q[0])
          && (!unserved_q[1] || asked[1] == asked_q[1]) && (!unserved_q[2] || asked[2] == asked_q[2]));
      // The bus answers only what it was asked, a cycle later or more.
      // Asserted: atoll_merge.OnlyAwaitedAnswers
      answers_asked : assume (!rvalid_i || awaited != '0);

      // What the bus is asked is the request of some port.
      from_a_port : assert (!valid || same != '0);
      // A request that the bus takes is one of one port, which is told.
      one_is_served : assert (taken == (mst_ready != '0)
          && (mst_ready == 3'd0 || mst_ready == 3'd1 || mst_ready == 3'd2 || mst_ready == 3'd4)
          && (mst_ready & ~same) == '0);
      // A request that was shown to the bus stays as it is until it is taken.
      holds : assert (!stays_q || (valid && shown == shown_q));
      // The bus is asked whenever a port asks and there is a place for the answer.
      never_idle : assert (!(mst_valid_i != '0 && awaited < 3'(Depth)) || valid);
      // Never more beats are under way than there are places.
      places : assert (awaited <= 3'(Depth));
      // A port that waits is passed by at most one request of each other port.
      fair : assert (!waited_q || passed_q < 3'(Ports));
      // The answer to the watched request goes to its port alone, in its own cycle.
      to_its_port : assert (!watch_answers || mst_rvalid == watched_q);
      // Every answer goes to some port, and no other is made up.
      none_made_up : assert ((mst_rvalid != '0) == rvalid_i);
      // Data and response pass as they are.
      data_pass : assert (!rvalid_i || (mst_rdata == rdata_i && mst_resp == resp_i));
    end
  end

endmodule
