// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Runs one command over elements: asks for some steps of the first operand and as many of the
// second in turn. Of a move, asks for the table and row after row, as if they were the second one;
// of shares, for each row three times.
module reef_vector_sequencer
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  // Steps of an operand that are read in a row, a power of two.
  parameter int unsigned Steps = 8
) (
  // Clock and asynchronous reset
  input  logic      clk_i,
  input  logic      rst_ni,
  // Give up
  input  logic      flush_i,
  // Run this command; stable until `done_o`, which lasts one cycle
  input  logic      start_i,
  input  elements_t command_i,
  output logic      done_o,
  // It is at work
  output logic      on_o,
  // Runs to read, in order
  output logic      run_valid_o,
  input  logic      run_ready_i,
  output run_t      run_o,
  // The last beat is taken; nothing is left to write; no run is left
  input  logic      closed_i,
  input  logic      writer_idle_i,
  input  logic      idle_i
);

  localparam logic [31:0] ChunkBytes = Steps * InputLanes;
  localparam logic [31:0] TableBytes = 256;
  localparam logic [31:0] ExponentialsBytes = 1024;

  typedef enum logic [2:0] {
    StIdle,
    StTable,
    StFirst,
    StSecond,
    StFinish
  } state_e;

  state_e state_d, state_q;
  // Elements left of the row, and those that were asked for
  logic [31:0] left_q, offset_q, most, chunk, row_bytes, row_address, next_row_address;
  logic last, last_row, closed_q, next, unary, softmax, filled;
  logic [2:0][15:0] counts;
  logic [2:0][31:0] steps;
  moves_t move;

  assign move      = moves_t'(command_i);
  assign softmax   = command_i.opcode == OpSoftmax;
  assign unary     = command_i.opcode == OpMove || softmax;
  assign filled    = unary && move.filled;
  assign row_bytes = unary ? move.row_bytes : command_i.elements;

  // What fills a row is asked for step by step.
  assign most   = filled ? InputLanes : ChunkBytes;
  assign last   = (unary && !filled) || left_q <= most;
  assign chunk  = last ? left_q : most;
  assign next   = state_q == StSecond && run_ready_i;
  assign done_o = state_q == StFinish && closed_q && writer_idle_i && idle_i;
  assign on_o   = state_q != StIdle;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // No command.
      StIdle:   if (start_i) state_d = !unary ? StFirst : move.mapped || softmax ? StTable : StSecond;
      // The table is requested.
      StTable:  if (run_ready_i) state_d = StSecond;
      // A part of the first operand is requested.
      StFirst:  if (run_ready_i) state_d = StSecond;
      // The same part of the second one is.
      StSecond:
      if (run_ready_i) begin
        if (last && last_row) state_d = StFinish;
        else state_d = unary ? StSecond : StFirst;
      end
      // The last elements are computed and written.
      StFinish: if (done_o) state_d = StIdle;
      default:  state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      left_q   <= '0;
      offset_q <= '0;
      closed_q <= 1'b0;
    end else begin
      state_q  <= state_d;
      closed_q <= state_q != StIdle && (closed_q || closed_i);
      if (state_q == StIdle) begin
        left_q   <= row_bytes;
        offset_q <= '0;
      end else if (next && last) begin
        left_q   <= row_bytes;
        offset_q <= '0;
      end else if (next) begin
        left_q   <= left_q - chunk;
        offset_q <= offset_q + chunk;
      end
    end
  end

  // Of shares, the steps are within the times of a row, and from one row to the next.
  always_comb begin
    counts = unary ? move.counts : {3{16'd1}};
    steps  = move.source_steps;
    if (softmax) begin
      counts = {16'd1, move.counts[0], 16'd3};
      steps  = {32'd0, move.row_bytes, 32'd0};
    end
  end

  reef_rows u_rows (
    .clk_i,
    .rst_ni,
    .start_i,
    .address_i     (unary ? move.source_address : command_i.second_address),
    .counts_i      (counts),
    .steps_i       (steps),
    .next_i        (next && last && !last_row),
    .address_o     (row_address),
    .next_address_o(next_row_address),
    .last_o        (last_row)
  );

  always_comb begin
    run_o            = '0;
    run_o.kind       = KindInput;
    run_o.bytes      = filled ? '0 : chunk;
    run_o.unit       = filled ? 14'(chunk) : '0;
    run_o.tag.bank   = 2'(state_q == StSecond);
    run_o.tag.last   = 1'b1;
    run_o.tag.closes = last && (!softmax || last_row);
    run_o.address    = offset_q + (state_q == StSecond ? row_address : command_i.first_address);
    if (state_q == StTable) begin
      run_o.kind    = KindTable;
      run_o.bytes   = softmax ? ExponentialsBytes : TableBytes;
      run_o.address = move.table_address;
    end
  end
  assign run_valid_o = state_q == StTable || state_q == StFirst || state_q == StSecond;

  logic unused;
  assign unused = ^{command_i, move, next_row_address};

  `ATOLL_ASSERT_KNOWN(KnownControl, {done_o, on_o, run_valid_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, state_q == StIdle)
  `ATOLL_ASSERT_IF(NeverClosesEarly, closed_i, state_q == StFinish)

endmodule
