// SPDX-License-Identifier: Apache-2.0
// Offers the instructions of a function unit's port to a unit with the eXtension interface of CORE-V
// cores (CV-X-IF, as the interface `if_xif`), one at a time.
//
// Each is committed in the cycle after it was taken. One that the unit does not accept gives 0.
module atoll_unit_to_xif (
  input  logic             clk_i,
  input  logic             rst_ni,
  // A request, which keeps its payload until it is taken: custom opcode 0 to 3, funct7, funct3
  input  logic             valid_i,
  output logic             ready_o,
  input  logic      [11:0] function_i,
  input  logic      [31:0] a_i,
  input  logic      [31:0] b_i,
  // The answer, kept until it is taken
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic      [31:0] result_o,
  // The unit
  if_xif.cpu_compressed    compressed,
  if_xif.cpu_issue         issue,
  if_xif.cpu_commit        commit,
  if_xif.cpu_mem           mem,
  if_xif.cpu_mem_result    mem_result,
  if_xif.cpu_result        result
);

  typedef enum logic [1:0] {
    StIdle,    // offers what comes
    StCommit,  // commits it
    StAwait,   // wants its result
    StRefused  // answers for the unit
  } state_e;

  state_e state_d, state_q;
  logic [3:0] id_q;
  logic taken;

  assign compressed.compressed_valid = 1'b0;
  assign compressed.compressed_req   = '0;
  assign mem.mem_ready               = 1'b1;
  assign mem.mem_resp                = '0;
  assign mem_result.mem_result_valid = 1'b0;
  assign mem_result.mem_result       = '0;

  assign issue.issue_valid = valid_i && state_q == StIdle;
  assign ready_o           = issue.issue_ready && state_q == StIdle;
  assign taken             = issue.issue_valid && issue.issue_ready;

  always_comb begin
    issue.issue_req          = '0;
    issue.issue_req.id       = id_q;
    issue.issue_req.mode     = 2'b11;
    issue.issue_req.rs[0]    = a_i;
    issue.issue_req.rs[1]    = b_i;
    issue.issue_req.rs_valid = '1;
    // rd, rs1 and rs2 are x12, x10 and x11
    issue.issue_req.instr    = {
      function_i[9:3], 5'd11, 5'd10, function_i[2:0], 5'd12, function_i[11:10], {function_i[11], 4'b1011}
    };
  end

  assign commit.commit_valid       = state_q == StCommit;
  assign commit.commit.id          = id_q;
  assign commit.commit.commit_kill = 1'b0;

  assign result.result_ready = rready_i && state_q inside {StCommit, StAwait};
  assign rvalid_o            = result.result_valid || state_q == StRefused;
  assign result_o            = state_q == StRefused ? '0 : result.result.data;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle:    if (taken) state_d = issue.issue_resp.accept ? StCommit : StRefused;
      StCommit:  state_d = result.result_valid && rready_i ? StIdle : StAwait;
      StAwait:   if (result.result_valid && rready_i) state_d = StIdle;
      StRefused: if (rready_i) state_d = StIdle;
      default:   state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      id_q    <= '0;
    end else begin
      state_q <= state_d;
      if (state_d == StIdle && state_q != StIdle) id_q <= id_q + 4'd1;
    end
  end

endmodule
