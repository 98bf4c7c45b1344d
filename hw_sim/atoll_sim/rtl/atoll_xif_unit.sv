// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Hands R-type instructions of the four custom opcodes from the eXtension interface of a CORE-V core
// (CV-X-IF) to a function unit.
//
// The core offers an instruction before it is sure of it, and commits or kills each that is taken, in
// order; the unit gets what is committed.
module atoll_xif_unit #(
  // Bits of the number of an offloaded instruction.
  parameter int unsigned IdBits = 4,
  // Instructions that are offered, and as many that the unit has, a power of two.
  parameter int unsigned Depth  = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  // Issue
  input  logic              issue_valid_i,
  output logic              issue_ready_o,
  input  logic [      31:0] issue_instr_i,
  input  logic [IdBits-1:0] issue_id_i,
  input  logic [      31:0] issue_rs1_i,
  input  logic [      31:0] issue_rs2_i,
  output logic              issue_accept_o,
  // Commit
  input  logic              commit_valid_i,
  input  logic [IdBits-1:0] commit_id_i,
  input  logic              commit_kill_i,
  // Result
  output logic              result_valid_o,
  input  logic              result_ready_i,
  output logic [IdBits-1:0] result_id_o,
  output logic [       4:0] result_rd_o,
  output logic [      31:0] result_data_o,
  // Request to the function unit, which keeps its payload until it is taken
  output logic              unit_valid_o,
  input  logic              unit_ready_i,
  // Custom opcode 0 to 3, funct7, funct3
  output logic [      11:0] unit_function_o,
  output logic [      31:0] unit_a_o,
  output logic [      31:0] unit_b_o,
  // Answer of the function unit, kept until it is taken
  input  logic              unit_rvalid_i,
  output logic              unit_rready_o,
  input  logic [      31:0] unit_result_i
);

  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth))

  localparam int unsigned Bits = $clog2(Depth);

  typedef struct packed {
    logic [IdBits-1:0] id;
    logic [11:0] called;
    logic [4:0] rd;
    logic [31:0] a;
    logic [31:0] b;
  } offered_t;

  // What the core offered and the unit has not: from `first_q` on, committed up to `sure_q`
  offered_t [Depth-1:0] offered_q;
  logic [Depth-1:0] killed_q;
  logic [Bits:0] first_q, sure_q, next_q;
  logic full, push, sure, pop, spoken_of, unused_registers;
  offered_t head;

  // What the unit has and has not answered
  logic [IdBits+4:0] sent_q[Depth];
  logic [Bits:0] sent_first_q, sent_next_q;
  logic sent_full, sent_empty, sent;

  assign full       = next_q - first_q == (Bits + 1)'(Depth);
  assign head       = offered_q[first_q[Bits-1:0]];
  assign sent_empty = sent_first_q == sent_next_q;
  assign sent_full  = sent_next_q - sent_first_q == (Bits + 1)'(Depth);

  assign unused_registers = ^issue_instr_i[24:15];

  // Issue: only the custom opcodes, 0x0B, 0x2B, 0x5B and 0x7B, are taken
  assign issue_accept_o = issue_instr_i[4:0] == {issue_instr_i[6], 4'b1011};
  assign issue_ready_o  = !issue_accept_o || !full;
  assign push           = issue_valid_i && issue_ready_o && issue_accept_o;

  // Commit: the core also speaks of instructions that were not taken
  assign spoken_of      = sure_q != next_q && offered_q[sure_q[Bits-1:0]].id == commit_id_i;
  assign sure           = commit_valid_i && spoken_of;

  // To the unit
  assign unit_valid_o    = first_q != sure_q && !killed_q[first_q[Bits-1:0]] && !sent_full;
  assign unit_function_o = head.called;
  assign unit_a_o        = head.a;
  assign unit_b_o        = head.b;
  assign sent            = unit_valid_o && unit_ready_i;
  assign pop             = sent || (first_q != sure_q && killed_q[first_q[Bits-1:0]]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q  <= '0;
      sure_q   <= '0;
      next_q   <= '0;
      killed_q <= '0;
    end else begin
      if (push) next_q <= next_q + 1'b1;
      if (pop) first_q <= first_q + 1'b1;
      if (sure) begin
        sure_q                     <= sure_q + 1'b1;
        killed_q[sure_q[Bits-1:0]] <= commit_kill_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      offered_q[next_q[Bits-1:0]] <= '{
          id: issue_id_i,
          called: {issue_instr_i[6:5], issue_instr_i[31:25], issue_instr_i[14:12]},
          rd: issue_instr_i[11:7],
          a: issue_rs1_i,
          b: issue_rs2_i
      };
    end
    if (sent) sent_q[sent_next_q[Bits-1:0]] <= {head.id, head.rd};
  end

  // Results
  assign result_valid_o = unit_rvalid_i && !sent_empty;
  assign unit_rready_o = result_ready_i && !sent_empty;
  assign result_data_o = unit_result_i;
  assign {result_id_o, result_rd_o} = sent_q[sent_first_q[Bits-1:0]];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sent_first_q <= '0;
      sent_next_q  <= '0;
    end else begin
      if (sent) sent_next_q <= sent_next_q + 1'b1;
      if (result_valid_o && result_ready_i) sent_first_q <= sent_first_q + 1'b1;
    end
  end

  `ATOLL_ASSERT_HELD(UnitRequestIsKept,
      unit_valid_o && !unit_ready_i, unit_valid_o, {unit_function_o, unit_a_o, unit_b_o})

endmodule
