// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Leads one bus master to the target that its address names.
//
// Requests to one target follow each other without a gap; before another target is asked, all
// earlier answers are awaited, so that answers keep their order. The payload of a request
// goes to all targets alike and is not routed here. Every address belongs to one target.
//
// A target that neither takes a request nor answers one for `TimeoutCycles` is given up until reset:
// what it owes, and all that is asked of it later, is answered here with an error, a beat per cycle.
module atoll_demux
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, a power of two.
  parameter int unsigned DataBytes     = 8,
  // Number of targets.
  parameter int unsigned NumTargets    = 2,
  // Cycles of patience, more than contention ever costs.
  parameter int unsigned TimeoutCycles = 1024
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  // The addresses of each target; they do not overlap; constant out of reset
  input  window_t [NumTargets-1:0]                targets_i,
  // Request of the master
  input  logic                                    mst_valid_i,
  output logic                                    mst_ready_o,
  input  logic  [           31:0]                 mst_addr_i,
  // Answer to the master
  output logic                                    mst_rvalid_o,
  output logic  [8*DataBytes-1:0]                 mst_rdata_o,
  output resp_e                                   mst_resp_o,
  // Requests to the targets
  output logic  [ NumTargets-1:0]                 tgt_valid_o,
  input  logic  [ NumTargets-1:0]                 tgt_ready_i,
  // Answers of the targets
  input  logic  [ NumTargets-1:0]                 tgt_rvalid_i,
  input  logic  [ NumTargets-1:0][8*DataBytes-1:0] tgt_rdata_i,
  input  logic  [ NumTargets-1:0][           1:0] tgt_resp_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(SomeTarget, NumTargets >= 1)
  `ATOLL_ASSERT_INIT(SomePatience, TimeoutCycles >= 2)

  localparam int unsigned TimerBits = $clog2(TimeoutCycles);

  logic [NumTargets-1:0] hit, last_q, dead_q, answers;
  logic [7:0] outstanding_q;
  logic [TimerBits-1:0] waited_q;
  logic allowed, busy, taken, waiting, give_up, gave_up;

  // Nothing is worked out without a request, which saves the simulator time.
  always_comb begin
    hit = '0;
    if (mst_valid_i) begin
      for (int unsigned i = 0; i < NumTargets; i++) begin
        hit[i] = mst_addr_i >= targets_i[i].first && mst_addr_i <= targets_i[i].last;
      end
    end
  end

  assign busy        = outstanding_q != '0;
  assign allowed     = !busy || hit == last_q;
  assign tgt_valid_o = mst_valid_i && allowed ? hit & ~dead_q : '0;
  assign mst_ready_o = allowed && |(hit & (tgt_ready_i | dead_q));
  assign taken       = mst_valid_i && mst_ready_o;
  assign answers     = tgt_rvalid_i & ~dead_q;
  assign waiting     = (busy || mst_valid_i) && !taken && !mst_rvalid_o;
  assign give_up     = waiting && waited_q == TimerBits'(TimeoutCycles - 1);

  // The answer of target i, or of one after it
  for (genvar i = 0; i < NumTargets; i++) begin : gen_answer
    logic [8*DataBytes-1:0] rdata;
    logic [1:0] resp;

    if (i + 1 < NumTargets) begin : gen_choice
      assign rdata = answers[i] ? tgt_rdata_i[i] : gen_answer[i+1].rdata;
      assign resp  = answers[i] ? tgt_resp_i[i] : gen_answer[i+1].resp;
    end else begin : gen_last
      assign rdata = answers[i] ? tgt_rdata_i[i] : '0;
      assign resp  = answers[i] ? tgt_resp_i[i] : gave_up ? RespSlave : RespOkay;
    end
  end

  assign gave_up      = busy && |(last_q & dead_q);
  assign mst_rvalid_o = gave_up || answers != '0;
  assign mst_rdata_o  = gen_answer[0].rdata;
  assign mst_resp_o   = resp_e'(gen_answer[0].resp);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q        <= '0;
      outstanding_q <= '0;
      dead_q        <= '0;
      waited_q      <= '0;
    end else if (!busy && !mst_valid_i) begin
      waited_q <= '0;
    end else begin
      outstanding_q <= outstanding_q + 8'(taken) - 8'(mst_rvalid_o);
      if (taken) last_q <= hit;
      waited_q <= waiting ? waited_q + TimerBits'(1) : '0;
      if (give_up) dead_q <= dead_q | (busy ? last_q : hit);
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {mst_rvalid_o, tgt_valid_o})
  `ATOLL_ASSERT_IF(OnlyKnownTargets, mst_valid_i, $onehot(hit))
  `ATOLL_ASSERT_IF(OnlyTheAskedAnswers, answers != '0, answers == last_q)
  `ATOLL_ASSERT_IF(NeverAskedAgain, mst_valid_i, (tgt_valid_o & dead_q) == '0)
  `ATOLL_ASSERT_NEXT(OnlyGivenUpForSilence, dead_q == '0 && waited_q == '0, dead_q == '0)
  `ATOLL_ASSERT_IF(NeverUnaskedAnswer, mst_rvalid_o, outstanding_q != '0)
  `ATOLL_ASSERT_IF(CountFits, taken, outstanding_q != '1)

endmodule
