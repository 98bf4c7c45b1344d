// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Computes element by element what two operands make, half as many at once as the reader brings.
//
// Steps of the first operand wait for those of the second; results leave as beats to write. Moves
// have the second operand alone: its bytes, what a table has for them, or a value that fills rows.
// Shares of rows are made beside that, by `reef_softmax`.
module reef_vector
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned DataBytes = 8,
  parameter int unsigned Vector = 1,
  // Steps of an operand that are read in a row, a power of two.
  parameter int unsigned Steps = 8,
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes)
) (
  // Clock and asynchronous reset
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // Forget all that is under way
  input  logic                        flush_i,
  // A command begins in this cycle; it is stable until it is done
  input  logic                        start_i,
  input  elements_t                   command_i,
  // A beat of the table
  input  logic                        load_i,
  input  logic      [           15:0] load_beat_i,
  input  logic      [DataBytes*8-1:0] load_data_i,
  // Steps of both operands; the tag's bank is 1 for those of the second, and the unit
  // says how many bytes a step has that is filled
  input  logic                        step_valid_i,
  output logic                        step_ready_o,
  input  logic      [InputLanes*8-1:0] step_data_i,
  input  logic      [InputLanes-1:0]  step_mask_i,
  input  logic      [           13:0] step_unit_i,
  input  tag_t                        step_tag_i,
  // A beat to write
  output logic                        beat_valid_o,
  input  logic                        beat_ready_i,
  output logic      [ IndexBits-1:0]  beat_index_o,
  output logic      [DataBytes*8-1:0] beat_data_o,
  output logic      [ DataBytes-1:0]  beat_strobe_o,
  // The last beat is taken
  output logic                        closed_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16})

  localparam int unsigned Lanes = InputLanes / 2;
  localparam int unsigned Stages = 9;

  typedef struct packed {
    logic [InputLanes*8-1:0] data;
    logic [InputLanes-1:0]   mask;
    logic                    last;
  } operand_t;

  // What both operands have at hand
  operand_t second, entry;
  logic [InputLanes*8-1:0] first;
  logic first_valid, first_full, second_valid, second_full, pair_valid, pop;

  moves_t move;
  logic unary, mapped;

  assign move   = moves_t'(command_i);
  assign unary  = command_i.opcode == OpMove;
  assign mapped = unary && move.mapped;

  assign entry = '{
          data: unary && move.filled ? {InputLanes{move.value}} : step_data_i,
          mask: unary && move.filled ? ~({InputLanes{1'b1}} << step_unit_i[4:0]) : step_mask_i,
          last: step_tag_i.last && step_tag_i.closes
      };

  // What makes shares of rows
  logic softmax, shares_ready, shares_valid, shares_closed, step_valid, step_ready;
  logic [IndexBits-1:0] shares_index;
  logic [DataBytes*8-1:0] shares_data;
  logic [DataBytes-1:0] shares_strobe;

  assign softmax      = Vector > 1 && command_i.opcode == OpSoftmax;
  assign step_valid   = step_valid_i && !softmax;
  assign step_ready   = step_tag_i.bank[0] ? !second_full : !first_full;
  assign step_ready_o = softmax ? shares_ready : step_ready;

  atoll_fifo #(
    .Width(InputLanes * 8),
    .Depth(2 * Steps)
  ) u_first (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (step_valid && step_ready && !step_tag_i.bank[0]),
    .data_i (step_data_i),
    .pop_i  (pop && !unary),
    .valid_o(first_valid),
    .data_o (first),
    .full_o (first_full)
  );

  atoll_fifo #(
    .Width($bits(operand_t)),
    .Depth(Steps)
  ) u_second (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (step_valid && step_ready && step_tag_i.bank[0]),
    .data_i (entry),
    .pop_i  (pop),
    .valid_o(second_valid),
    .data_o (second),
    .full_o (second_full)
  );

  // Half after half
  logic half_q, last_half, advance;
  logic [1:0][Lanes-1:0][7:0] firsts, seconds;
  logic [1:0][Lanes-1:0] masks;

  assign firsts     = first;
  assign seconds    = second.data;
  assign masks      = second.mask;
  assign pair_valid = (first_valid || unary) && second_valid;
  assign last_half  = half_q || masks[1] == 0;
  assign pop        = pair_valid && advance && last_half;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) half_q <= 1'b0;
    else if (flush_i) half_q <= 1'b0;
    else if (pair_valid && advance) half_q <= !last_half;
  end

  // The pipeline; moves leave it after the first stage.
  logic [Stages-1:0] valid_q, last_q;
  logic [Stages-1:0][Lanes-1:0] enables_q;
  logic [Lanes-1:0][7:0] computed, moved_q, looked_up, bytes;
  logic packer_ready, moving, leaves;

  // An empty pipeline stands still.
  assign leaves  = unary ? valid_q[0] : valid_q[Stages-1];
  assign advance = packer_ready || !leaves;
  assign moving  = advance && (pair_valid || valid_q != '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (flush_i) valid_q <= '0;
    else if (moving) valid_q <= {unary ? '0 : valid_q[Stages-2:0], pair_valid};
  end

  always_ff @(posedge clk_i) begin
    if (moving) begin
      last_q    <= {last_q[Stages-2:0], second.last && last_half};
      enables_q <= {enables_q[Stages-2:0], masks[half_q]};
      if (unary) moved_q <= seconds[half_q];
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_element
    reef_element u_element (
      .clk_i,
      .advance_i(moving),
      .valid_i  (unary ? '0 : {valid_q[Stages-2:0], pair_valid}),
      .command_i(command_i),
      .first_i  (firsts[half_q][i]),
      .second_i (seconds[half_q][i]),
      .byte_o   (computed[i])
    );
  end

  reef_table #(
    .Lanes(Lanes),
    .DataBytes(DataBytes)
  ) u_table (
    .clk_i,
    .load_i,
    .beat_i  (load_beat_i),
    .data_i  (load_data_i),
    .read_i  (moving && mapped && pair_valid),
    .values_i(seconds[half_q]),
    .bytes_o (looked_up)
  );

  assign bytes = mapped ? looked_up : unary ? moved_q : computed;

  // Where rows of a move go; other results are one row.
  logic row_closed, last_row, beat_valid;
  logic [31:0] row_address, next_address;
  logic [IndexBits-1:0] beat_index;
  logic [DataBytes*8-1:0] beat_data;
  logic [DataBytes-1:0] beat_strobe;

  reef_rows u_rows (
    .clk_i,
    .rst_ni,
    .start_i,
    .address_i     (command_i.output_address),
    .counts_i      (unary ? move.counts : {3{16'd1}}),
    .steps_i       (move.output_steps),
    .next_i        (row_closed && !last_row),
    .address_o     (row_address),
    .next_address_o(next_address),
    .last_o        (last_row)
  );

  assign closed_o      = softmax ? shares_closed : row_closed && last_row;
  assign beat_valid_o  = softmax ? shares_valid : beat_valid;
  assign beat_index_o  = softmax ? shares_index : beat_index;
  assign beat_data_o   = softmax ? shares_data : beat_data;
  assign beat_strobe_o = softmax ? shares_strobe : beat_strobe;

  reef_packer #(
    .Bytes(Lanes),
    .DataBytes(DataBytes)
  ) u_packer (
    .clk_i,
    .rst_ni,
    .flush_i,
    .start_i,
    .address_i    (start_i ? command_i.output_address : next_address),
    .valid_i      (leaves),
    .ready_o      (packer_ready),
    .bytes_i      (bytes),
    .enables_i    (unary ? enables_q[0] : enables_q[Stages-1]),
    .last_i       (unary ? last_q[0] : last_q[Stages-1]),
    .beat_valid_o (beat_valid),
    .beat_ready_i,
    .beat_index_o (beat_index),
    .beat_data_o  (beat_data),
    .beat_strobe_o(beat_strobe),
    .closed_o     (row_closed)
  );

  if (Vector > 1) begin : gen_softmax
    reef_softmax #(
      .InputLanes(InputLanes),
      .DataBytes(DataBytes)
    ) u_softmax (
      .clk_i,
      .rst_ni,
      .flush_i,
      .start_i         (start_i && softmax),
      .output_address_i(command_i.output_address),
      .load_i          (load_i && softmax),
      .load_beat_i,
      .load_data_i,
      .step_valid_i    (step_valid_i && softmax),
      .step_ready_o    (shares_ready),
      .step_data_i,
      .step_mask_i,
      .step_tag_i,
      .beat_valid_o    (shares_valid),
      .beat_ready_i    (beat_ready_i && softmax),
      .beat_index_o    (shares_index),
      .beat_data_o     (shares_data),
      .beat_strobe_o   (shares_strobe),
      .closed_o        (shares_closed)
    );
  end else begin : gen_no_softmax
    assign {shares_ready, shares_valid, shares_closed} = '0;
    assign {shares_index, shares_data, shares_strobe} = '0;
  end

  logic unused;
  assign unused = ^{step_tag_i.bank, step_tag_i.pair, step_tag_i.first, step_unit_i, move, row_address};

  `ATOLL_ASSERT_KNOWN(KnownControl, {step_ready_o, beat_valid_o, closed_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenEmpty, start_i, !first_valid && !second_valid && valid_q == '0)

endmodule
