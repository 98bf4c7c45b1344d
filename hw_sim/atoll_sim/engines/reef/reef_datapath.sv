// SPDX-License-Identifier: Apache-2.0
// From the beats read to the bytes to write: everything that computes.
module reef_datapath
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned Requantisers = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned LineColumns = 64,
  parameter int unsigned Vector = 1,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned Groups = OutputLanes / Requantisers,
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1
) (
  // Clock and asynchronous reset
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // Forget all that is under way
  input  logic                             flush_i,
  // The blocks of all banks; each is stable while something of it is under way
  input  block_t    [            3:0]      blocks_i,
  // Whether they are computed by lines, and how
  input  lines_t                           lines_i,
  // Runs in the order in which they are read
  input  logic                             run_valid_i,
  output logic                             run_ready_o,
  input  run_t                             run_i,
  // The beats read
  input  logic                             beat_valid_i,
  input  logic      [DataBytes*8-1:0]      beat_data_i,
  output logic                             beat_pop_o,
  // Parameters and weights
  input  constants_t                       constants_i,
  input  logic      [DataBytes*8-1:0]      constants_data_i,
  // A beat of a descriptor, and its number
  output logic                             descriptor_load_o,
  output logic      [           15:0]      load_beat_o,
  // Bytes of the output pixels, in the order of groups of lanes
  output logic                             bytes_valid_o,
  input  logic                             bytes_ready_i,
  output logic  [Requantisers-1:0][7:0]    bytes_o,
  output logic      [  GroupBits-1:0]      bytes_group_o,
  output tag_t                             bytes_tag_o,
  // A command over elements
  input  vector_t                          vector_i,
  // The beats that it writes; the last one is taken
  output logic                             beat_valid_o,
  input  logic                             beat_ready_i,
  output logic [32-$clog2(DataBytes)-1:0]  beat_index_o,
  output logic      [DataBytes*8-1:0]      beat_data_o,
  output logic      [  DataBytes-1:0]      beat_strobe_o,
  output logic                             vector_closed_o,
  // What it waits for
  output waits_t                           waits_o,
  // No run is queued
  output logic                             idle_o
);

  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes;
  localparam int unsigned RowBits = $clog2(WeightRows);

  logic load_valid, load_weights;
  kind_e load_kind;

  // Steps of the runs, those by lines, and what of them goes to the array
  logic step_valid, step_ready, step_depthwise, step_joined;
  tag_t step_tag;
  logic [StepBytes*8-1:0] step_data;
  logic [StepBytes-1:0] step_mask;
  logic [13:0] step_unit;

  logic vector_ready, pixel_ready, lines_valid;
  logic [OutputLanes-1:0][InputLanes-1:0][8:0] lines_taps;
  logic [13:0] lines_row;
  tag_t lines_tag;

  logic joiner_ready, joined_valid, joined_depthwise;
  logic [StepBytes*8-1:0] joined_data;
  logic [StepBytes-1:0] joined_mask;
  logic [13:0] joined_unit;
  tag_t joined_tag;

  logic array_valid, array_ready;
  logic [13:0] array_unit;
  tag_t array_tag;

  logic weight_read;
  logic [RowBits-1:0] weight_row;
  logic [InputLanes*OutputLanes*8-1:0] weights;

  logic [OutputLanes-1:0][31:0] bias, sums;
  logic sums_valid, sums_ready;
  logic [1:0] bias_bank, scale_bank;
  tag_t sums_tag;

  logic [OutputLanes-1:0][31:0] multiplier;
  logic [OutputLanes-1:0][5:0] shift;

  assign descriptor_load_o = load_valid && load_kind == KindDescriptor;
  assign load_weights      = load_valid && load_kind == KindWeights;
  assign waits_o.write     = (bytes_valid_o && !bytes_ready_i) || (beat_valid_o && !beat_ready_i);
  assign step_ready        = vector_i.on ? vector_ready : lines_i.on ? pixel_ready : joiner_ready;
  assign array_valid       = lines_i.on ? lines_valid : joined_valid;
  assign array_unit        = lines_i.on ? lines_row : joined_unit;
  assign array_tag         = lines_i.on ? lines_tag : joined_tag;

  reef_aligner #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .DataBytes  (DataBytes)
  ) u_aligner (
    .clk_i,
    .rst_ni,
    .flush_i,
    .run_valid_i,
    .run_ready_o,
    .run_i,
    .beat_valid_i,
    .beat_data_i,
    .beat_pop_o,
    .load_valid_o    (load_valid),
    .load_kind_o     (load_kind),
    .load_beat_o,
    .step_valid_o    (step_valid),
    .step_ready_i    (step_ready),
    .step_data_o     (step_data),
    .step_mask_o     (step_mask),
    .step_unit_o     (step_unit),
    .step_depthwise_o(step_depthwise),
    .step_joined_o   (step_joined),
    .step_tag_o      (step_tag),
    .starved_o       (waits_o.read),
    .unweighted_o    (waits_o.weights),
    .idle_o
  );

  reef_joiner #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes)
  ) u_joiner (
    .clk_i,
    .rst_ni,
    .flush_i,
    .step_valid_i (step_valid && !lines_i.on && !vector_i.on),
    .step_ready_o (joiner_ready),
    .step_data_i  (step_data),
    .step_mask_i  (step_mask),
    .step_unit_i  (step_unit),
    .step_depthwise_i(step_depthwise),
    .step_joined_i(step_joined),
    .step_tag_i   (step_tag),
    .step_valid_o (joined_valid),
    .step_ready_i (array_ready && !lines_i.on),
    .step_data_o  (joined_data),
    .step_mask_o  (joined_mask),
    .step_unit_o  (joined_unit),
    .step_depthwise_o(joined_depthwise),
    .step_tag_o   (joined_tag)
  );

  if (LineColumns != 0) begin : gen_lines
    reef_lines #(
      .InputLanes (InputLanes),
      .OutputLanes(OutputLanes),
      .LineColumns(LineColumns)
    ) u_lines (
      .clk_i,
      .rst_ni,
      .flush_i,
      .lines_i,
      .pixel_valid_i(step_valid && lines_i.on),
      .pixel_ready_o(pixel_ready),
      .pixel_i      (step_data[OutputLanes*8-1:0]),
      .step_valid_o (lines_valid),
      .step_ready_i (array_ready),
      .step_taps_o  (lines_taps),
      .step_row_o   (lines_row),
      .step_tag_o   (lines_tag)
    );
  end else begin : gen_no_lines
    assign {pixel_ready, lines_valid} = '0;
    assign {lines_taps, lines_row, lines_tag} = '0;
  end

  if (Vector != 0) begin : gen_vector
    reef_vector #(.InputLanes(InputLanes), .DataBytes(DataBytes), .Vector(Vector)) u_vector (
      .clk_i,
      .rst_ni,
      .flush_i,
      .start_i      (vector_i.start),
      .command_i    (vector_i.command),
      .load_i       (load_valid && load_kind == KindTable),
      .load_beat_i  (load_beat_o),
      .load_data_i  (beat_data_i),
      .step_valid_i (step_valid && vector_i.on),
      .step_ready_o (vector_ready),
      .step_data_i  (step_data[InputLanes*8-1:0]),
      .step_mask_i  (step_mask[InputLanes-1:0]),
      .step_unit_i  (step_unit),
      .step_tag_i   (step_tag),
      .beat_valid_o,
      .beat_ready_i,
      .beat_index_o,
      .beat_data_o,
      .beat_strobe_o,
      .closed_o     (vector_closed_o)
    );
  end else begin : gen_no_vector
    logic unused_vector;

    assign {vector_ready, beat_valid_o, vector_closed_o} = '0;
    assign {beat_index_o, beat_data_o, beat_strobe_o} = '0;
    assign unused_vector = ^{vector_i, beat_ready_i};
  end

  reef_parameters #(.OutputLanes(OutputLanes), .DataBytes(DataBytes)) u_parameters (
    .clk_i,
    .load_i      (constants_i.parameters),
    .load_bank_i (constants_i.bank),
    .beat_i      (constants_i.beat),
    .data_i      (constants_data_i),
    .bias_bank_i (bias_bank),
    .bias_o      (bias),
    .scale_bank_i(scale_bank),
    .multiplier_o(multiplier),
    .shift_o     (shift)
  );

  reef_weights #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .DataBytes  (DataBytes)
  ) u_weights (
    .clk_i,
    .rst_ni,
    .load_i    (constants_i.weights || load_weights),
    .load_row_i(constants_i.weights ? RowBits'(constants_i.row) : '0),
    .beat_i    (constants_i.weights ? constants_i.beat : load_beat_o),
    .data_i    (constants_i.weights ? constants_data_i : beat_data_i),
    .read_i    (weight_read),
    .read_row_i(weight_row),
    .row_o     (weights)
  );

  reef_array #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows)
  ) u_array (
    .clk_i,
    .rst_ni,
    .flush_i,
    .blocks_i,
    .bias_bank_o     (bias_bank),
    .bias_i          (bias),
    .step_valid_i    (array_valid),
    .step_ready_o    (array_ready),
    .step_data_i     (joined_data),
    .step_mask_i     (joined_mask),
    .step_unit_i     (array_unit),
    .step_depthwise_i(joined_depthwise && !lines_i.on),
    .step_tag_i      (array_tag),
    .step_lines_i    (lines_i.on),
    .step_taps_i     (lines_taps),
    .weight_read_o   (weight_read),
    .weight_row_o    (weight_row),
    .weight_row_i    (weights),
    .sums_valid_o    (sums_valid),
    .sums_ready_i    (sums_ready),
    .sums_o          (sums),
    .sums_tag_o      (sums_tag)
  );

  reef_requantize #(
    .OutputLanes(OutputLanes), .Requantisers(Requantisers)
  ) u_requantize (
    .clk_i,
    .rst_ni,
    .flush_i,
    .blocks_i,
    .sums_valid_i(sums_valid),
    .sums_ready_o(sums_ready),
    .sums_i      (sums),
    .sums_tag_i  (sums_tag),
    .scale_bank_o(scale_bank),
    .multiplier_i(multiplier),
    .shift_i     (shift),
    .bytes_valid_o,
    .bytes_ready_i,
    .bytes_o,
    .bytes_group_o,
    .bytes_tag_o
  );

endmodule
