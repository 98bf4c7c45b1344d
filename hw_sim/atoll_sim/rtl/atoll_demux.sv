`include "atoll_assert.svh"

// Leads one bus master to the target that its address names.
//
// Requests to one target follow each other without a gap; before another target is asked, all
// earlier answers are awaited, so that answers keep their order. The payload of a request
// goes to all targets alike and is not routed here. Every address belongs to one target.
module atoll_demux
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, a power of two.
  parameter int unsigned                  DataBytes  = 8,
  // Number of targets.
  parameter int unsigned                  NumTargets = 2,
  // The addresses of each target; they do not overlap.
  parameter window_t     [NumTargets-1:0] Targets    = '0
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
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

  logic [NumTargets-1:0] hit, last_q;
  logic [7:0] outstanding_q;
  logic allowed;

  for (genvar i = 0; i < NumTargets; i++) begin : gen_hit
    assign hit[i] = mst_addr_i >= Targets[i].first && mst_addr_i <= Targets[i].last;
  end

  assign allowed     = outstanding_q == '0 || hit == last_q;
  assign tgt_valid_o = mst_valid_i && allowed ? hit : '0;
  assign mst_ready_o = allowed && |(hit & tgt_ready_i);

  always_comb begin
    mst_rvalid_o = 1'b0;
    mst_rdata_o  = '0;
    mst_resp_o   = RespOkay;
    for (int unsigned i = 0; i < NumTargets; i++) begin
      if (tgt_rvalid_i[i]) begin
        mst_rvalid_o = 1'b1;
        mst_rdata_o  = tgt_rdata_i[i];
        mst_resp_o   = resp_e'(tgt_resp_i[i]);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_q        <= '0;
      outstanding_q <= '0;
    end else begin
      outstanding_q <= outstanding_q + 8'(mst_valid_i && mst_ready_o) - 8'(mst_rvalid_o);
      if (mst_valid_i && mst_ready_o) last_q <= hit;
    end
  end

  `ATOLL_ASSERT(OnlyKnownTargets, mst_valid_i |-> $onehot(hit))
  `ATOLL_ASSERT(OnlyOneAnswer, $onehot0(tgt_rvalid_i))
  `ATOLL_ASSERT(NeverUnaskedAnswer, mst_rvalid_o |-> outstanding_q != '0)

endmodule
