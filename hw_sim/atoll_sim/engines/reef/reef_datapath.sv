// From the beats read to the bytes to write: everything that computes.
module reef_datapath
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned LaneBits = $clog2(OutputLanes)
) (
  // Clock and asynchronous reset
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // Forget all that is under way
  input  logic                             flush_i,
  // Settings of the operator and of the block; stable while not idle
  input  settings_t                        settings_i,
  input  logic      [OutputLanes-1:0][3:0] lane_byte_i,
  input  logic      [   LaneBits-1:0]      last_lane_i,
  // Runs in the order in which they are read
  input  logic                             run_valid_i,
  output logic                             run_ready_o,
  input  run_t                             run_i,
  // The beats read
  input  logic                             beat_valid_i,
  input  logic      [DataBytes*8-1:0]      beat_data_i,
  output logic                             beat_pop_o,
  // A beat of a descriptor, and its number
  output logic                             descriptor_load_o,
  output logic      [           15:0]      load_beat_o,
  // Bytes of the output pixels, in lane order
  output logic                             byte_valid_o,
  input  logic                             byte_ready_i,
  output logic      [            7:0]      byte_o,
  output logic      [   LaneBits-1:0]      byte_lane_o,
  output logic                             byte_last_o,
  // Waiting for data to compute with
  output logic                             starved_o,
  // Nothing is under way
  output logic                             idle_o
);

  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes;
  localparam int unsigned RowBits = $clog2(WeightRows);

  logic load_valid;
  kind_e load_kind;
  logic [15:0] load_beat;

  logic step_valid, step_ready, step_first, step_last;
  logic [StepBytes*8-1:0] step_data;
  logic [StepBytes-1:0] step_mask;
  logic [13:0] step_unit;

  logic weight_read;
  logic [RowBits-1:0] weight_row;
  logic [InputLanes*OutputLanes*8-1:0] weights;

  logic [OutputLanes-1:0][31:0] bias, sums;
  logic sums_valid, sums_ready;

  logic [LaneBits-1:0] lane;
  logic [31:0] multiplier;
  logic signed [5:0] shift;

  logic aligner_idle, array_idle, requantize_idle;

  assign descriptor_load_o = load_valid && load_kind == KindDescriptor;
  assign load_beat_o       = load_beat;
  assign idle_o            = aligner_idle && array_idle && requantize_idle;

  reef_aligner #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .DataBytes  (DataBytes)
  ) u_aligner (
    .clk_i,
    .rst_ni,
    .flush_i,
    .depthwise_i (settings_i.depthwise),
    .run_valid_i,
    .run_ready_o,
    .run_i,
    .beat_valid_i,
    .beat_data_i,
    .beat_pop_o,
    .load_valid_o(load_valid),
    .load_kind_o (load_kind),
    .load_beat_o (load_beat),
    .step_valid_o(step_valid),
    .step_ready_i(step_ready),
    .step_data_o (step_data),
    .step_mask_o (step_mask),
    .step_unit_o (step_unit),
    .step_first_o(step_first),
    .step_last_o (step_last),
    .starved_o,
    .idle_o      (aligner_idle)
  );

  reef_parameters #(
    .OutputLanes(OutputLanes),
    .DataBytes  (DataBytes)
  ) u_parameters (
    .clk_i,
    .load_i      (load_valid && load_kind == KindParameters),
    .beat_i      (load_beat),
    .data_i      (beat_data_i),
    .bias_o      (bias),
    .lane_i      (lane),
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
    .load_i    (load_valid && load_kind == KindWeights),
    .beat_i    (load_beat),
    .data_i    (beat_data_i),
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
    .depthwise_i  (settings_i.depthwise),
    .input_zero_i (settings_i.input_zero),
    .lane_byte_i,
    .bias_i       (bias),
    .step_valid_i (step_valid),
    .step_ready_o (step_ready),
    .step_data_i  (step_data),
    .step_mask_i  (step_mask),
    .step_unit_i  (step_unit),
    .step_first_i (step_first),
    .step_last_i  (step_last),
    .weight_read_o(weight_read),
    .weight_row_o (weight_row),
    .weight_row_i (weights),
    .sums_valid_o (sums_valid),
    .sums_ready_i (sums_ready),
    .sums_o       (sums),
    .idle_o       (array_idle)
  );

  reef_requantize #(
    .OutputLanes(OutputLanes)
  ) u_requantize (
    .clk_i,
    .rst_ni,
    .flush_i,
    .output_zero_i(settings_i.output_zero),
    .minimum_i    (settings_i.minimum),
    .maximum_i    (settings_i.maximum),
    .last_lane_i,
    .sums_valid_i (sums_valid),
    .sums_ready_o (sums_ready),
    .sums_i       (sums),
    .lane_o       (lane),
    .multiplier_i (multiplier),
    .shift_i      (shift),
    .byte_valid_o,
    .byte_ready_i,
    .byte_o,
    .byte_lane_o,
    .byte_last_o,
    .idle_o       (requantize_idle)
  );

endmodule
