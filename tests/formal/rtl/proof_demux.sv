// SPDX-License-Identifier: Apache-2.0
// Specification of the demultiplexer: three targets with any addresses, which may change in each cycle,
// and a patience of four cycles.
module proof_demux
  import atoll_bus_pkg::*;
#(
  parameter int unsigned Targets  = 3,
  parameter int unsigned Patience = 4
) (
  input logic                       clk_i,
  input window_t [Targets-1:0]      targets_i,
  input logic                       mst_valid_i,
  input logic              [  31:0] mst_addr_i,
  input logic    [Targets-1:0]      tgt_ready_i,
  input logic    [Targets-1:0]      tgt_rvalid_i,
  input logic    [Targets-1:0][7:0] tgt_rdata_i,
  input logic    [Targets-1:0][1:0] tgt_resp_i
);

  logic rst_n = 1'b0;
  logic mst_ready, mst_rvalid;
  logic [7:0] mst_rdata;
  resp_e mst_resp;
  logic [Targets-1:0] tgt_valid;

  atoll_demux #(
    .DataBytes    (1),
    .NumTargets   (Targets),
    .TimeoutCycles(Patience)
  ) u_dut (
    .clk_i,
    .rst_ni      (rst_n),
    .targets_i,
    .mst_valid_i,
    .mst_ready_o (mst_ready),
    .mst_addr_i,
    .mst_rvalid_o(mst_rvalid),
    .mst_rdata_o (mst_rdata),
    .mst_resp_o  (mst_resp),
    .tgt_valid_o (tgt_valid),
    .tgt_ready_i,
    .tgt_rvalid_i,
    .tgt_rdata_i,
    .tgt_resp_i
  );

  // The target that the address names, and the one that owes answers
  logic [Targets-1:0] named, named_q, owes_q;
  // Answers that it owes
  logic [7:0] owed_q;
  // Targets that were given up; cycles in which nothing happened, modulo the patience; those of them in
  // which the master waited for the same
  logic [Targets-1:0] lost_q;
  logic [1:0] silent_q;
  logic [2:0] waited_q;
  logic taken, silent, answers, waits_q;

  always_comb begin
    for (int unsigned i = 0; i < Targets; i++)
      named[i] = mst_addr_i >= targets_i[i].first && mst_addr_i <= targets_i[i].last;
  end

  assign taken   = mst_valid_i && mst_ready;
  assign silent  = (mst_valid_i || owed_q != '0) && !taken && !mst_rvalid;
  assign answers = |(tgt_rvalid_i & owes_q & ~lost_q) && owed_q != '0;

  always_ff @(posedge clk_i) begin
    rst_n   <= 1'b1;
    named_q <= named;
    if (!rst_n) begin
      owes_q   <= '0;
      owed_q   <= '0;
      lost_q   <= '0;
      silent_q <= '0;
      waits_q  <= 1'b0;
      waited_q <= '0;
    end else begin
      if (taken) owes_q <= named;
      owed_q   <= owed_q + 8'(taken) - 8'(mst_rvalid);
      silent_q <= silent ? silent_q + 2'd1 : '0;
      if (silent && silent_q == 2'(Patience - 1)) lost_q <= lost_q | (owed_q != '0 ? owes_q : named);
      waits_q  <= silent;
      waited_q <= !silent ? '0 : waits_q && (owed_q != '0 || named == named_q) ? waited_q + 3'd1 : 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // Each address that is asked for belongs to one target.
      // Asserted: atoll_demux.OnlyKnownTargets
      one_owner : assume (!mst_valid_i || named == 3'b001 || named == 3'b010 || named == 3'b100);
      // A target answers only what it was asked, a cycle later or more; one given up may do anything.
      // Asserted: atoll_demux.OnlyTheAskedAnswers
      answers_asked : assume ((tgt_rvalid_i & ~lost_q & ~(owed_q != '0 ? owes_q : '0)) == '0);
      // At most 255 requests wait for an answer.
      // Asserted: atoll_demux.CountFits
      count_fits : assume (!taken || owed_q != '1);

      // A request is shown to the target that its address names alone.
      only_the_named : assert ((tgt_valid & ~(mst_valid_i ? named : '0)) == '0);
      // No target is asked while another one owes an answer, so that answers keep their order.
      one_at_a_time : assert (owed_q == '0 || (tgt_valid & ~owes_q) == '0);
      // A target that is not given up is asked at once, unless another one owes an answer.
      asked_at_once : assert (
          !(mst_valid_i && (owed_q == '0 || named == owes_q) && (named & lost_q) == '0)
          || tgt_valid == named);
      // A request is taken by the target that it is shown to.
      taken_by_target : assert (
          tgt_valid == '0 || mst_ready == |(tgt_valid & tgt_ready_i));
      // A request that no target is shown is taken only from one that was given up.
      never_lost : assert (!(taken && tgt_valid == '0) || (named & lost_q) != '0);
      // The answer of the target is passed on in its own cycle, as it is.
      answers_pass : assert (!answers || (mst_rvalid
          && mst_rdata == ((owes_q[0] ? tgt_rdata_i[0] : '0) | (owes_q[1] ? tgt_rdata_i[1] : '0)
              | (owes_q[2] ? tgt_rdata_i[2] : '0))
          && mst_resp == ((owes_q[0] ? tgt_resp_i[0] : '0) | (owes_q[1] ? tgt_resp_i[1] : '0)
              | (owes_q[2] ? tgt_resp_i[2] : '0))));
      // No answer is made up but what a target that was given up owes.
      none_made_up : assert (
          !mst_rvalid || answers || (owed_q != '0 && (owes_q & lost_q) != '0));
      // What a target that was given up owes is answered with an error and zeros, one a cycle.
      errors_for_the_lost : assert (!(owed_q != '0 && (owes_q & lost_q) != '0)
          || (mst_rvalid && mst_resp == RespSlave && mst_rdata == '0));
      // A target that was given up is never asked again.
      never_again : assert ((tgt_valid & lost_q) == '0);
      // A master that stays with its request never waits longer than the patience for a taken request
      // or an answer.
      always_ends : assert (waited_q <= 3'(Patience));
    end
  end

endmodule
