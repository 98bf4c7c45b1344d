// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Works through the list: fetches each descriptor, then asks for all that its operator reads.
module reef_commands
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  parameter int unsigned LineColumns = 64,
  parameter int unsigned Vector = 1,
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // From and to the registers, see `engine_control`
  input  list_t                            list_i,
  output status_t                          status_o,
  output logic                             ended_o,
  // A fault on the bus, for one cycle; nothing is outstanding on it
  input  fault_t                           bus_fault_i,
  input  logic                             bus_idle_i,
  // Issue nothing new on the bus; forget all that is under way
  output logic                             halt_o,
  output logic                             flush_o,
  // Runs to read, in order
  output logic                             run_valid_o,
  input  logic                             run_ready_i,
  output run_t                             run_o,
  // A beat of a descriptor, and its number
  input  logic                             load_i,
  input  logic      [           15:0]      beat_i,
  input  logic      [DataBytes*8-1:0]      data_i,
  // Runs of parameters and weights, in order, and the beats read
  output logic                             constants_valid_o,
  input  logic                             constants_ready_i,
  output logic      [           31:0]      constants_address_o,
  output logic      [           31:0]      constants_bytes_o,
  input  logic                             beat_valid_i,
  output logic                             beat_pop_o,
  output constants_t                       constants_o,
  // A set of blocks has left the datapath; nothing is left to write; what the datapath waits for
  input  logic                             closed_i,
  input  logic                             writer_idle_i,
  input  waits_t                           waits_i,
  // No run is left in the datapath
  input  logic                             idle_i,
  // The blocks of all banks, see `reef_loader`
  output block_t    [            3:0]      blocks_o,
  output lines_t                           lines_o,
  // A command over elements or rows; its last beat is taken
  output vector_t                          vector_o,
  input  logic                             vector_closed_i
);

  logic fetch_start, fetch_done, run_start, run_done;
  logic [31:0] fetch_address;
  error_e fetch_error;
  link_t link;
  descriptor_t descriptor;
  geometry_t geometry;

  // Fetch and operator take turns.
  logic fetch_run_valid, operator_run_valid;
  run_t fetch_run, operator_run;

  // Commands over elements have a sequencer of their own.
  logic vector, vector_on, vector_done, vector_run_valid, block_done, block_run_valid;
  run_t vector_run, block_run;

  // What the loader says
  logic resident, pairs, loaded, take, empty, settle, settle_set, waiting;
  waits_t waits;
  logic [15:0][3:0] lane_byte;

  assign vector_o           = '{
          start: run_start && vector,
          on: vector_on,
          command: elements_t'(descriptor)
      };
  assign vector             = is_vector(descriptor.opcode, 2'(Vector));
  always_comb begin
    waits         = waits_i;
    waits.weights = waits_i.weights || waiting;
  end

  assign run_done           = block_done || vector_done;
  assign operator_run_valid = block_run_valid || vector_run_valid;
  assign operator_run       = vector_run_valid ? vector_run : block_run;

  assign run_valid_o = fetch_run_valid || operator_run_valid;
  assign run_o       = fetch_run_valid ? fetch_run : operator_run;

  engine_control u_control (
    .clk_i,
    .rst_ni,
    .list_i,
    .status_o,
    .ended_o,
    .fetch_start_o  (fetch_start),
    .fetch_address_o(fetch_address),
    .fetch_done_i   (fetch_done),
    .fetch_error_i  (fetch_error),
    .link_i         (link),
    .run_start_o    (run_start),
    .run_done_i     (run_done),
    .bus_fault_i,
    .bus_idle_i,
    .waits_i        (waits),
    .halt_o,
    .flush_o
  );

  reef_fetch #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .LineColumns(LineColumns),
    .Vector     (Vector),
    .DataBytes  (DataBytes)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .flush_i     (flush_o),
    .start_i     (fetch_start),
    .address_i   (fetch_address),
    .run_valid_o (fetch_run_valid),
    .run_ready_i,
    .run_o       (fetch_run),
    .load_i,
    .beat_i,
    .data_i,
    .done_o      (fetch_done),
    .error_o     (fetch_error),
    .link_o      (link),
    .descriptor_o(descriptor),
    .geometry_o  (geometry)
  );

  reef_sequencer #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .DataBytes  (DataBytes)
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .flush_i     (flush_o),
    .start_i     (run_start && !vector),
    .descriptor_i(descriptor),
    .geometry_i  (geometry),
    .done_o      (block_done),
    .resident_i  (resident),
    .pairs_i     (pairs),
    .loaded_i    (loaded),
    .take_o      (take),
    .empty_i     (empty),
    .settle_o    (settle),
    .settle_set_o(settle_set),
    .lane_byte_o (lane_byte),
    .waiting_o   (waiting),
    .run_valid_o (block_run_valid),
    .run_ready_i,
    .run_o       (block_run),
    .writer_idle_i,
    .idle_i,
    .lines_o
  );

  reef_loader #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .WeightRows (WeightRows),
    .DataBytes  (DataBytes)
  ) u_loader (
    .clk_i,
    .rst_ni,
    .flush_i      (flush_o),
    .start_i      (run_start && !vector),
    .descriptor_i (descriptor),
    .resident_o   (resident),
    .pairs_o      (pairs),
    .loaded_o     (loaded),
    .take_i       (take),
    .closed_i,
    .empty_o      (empty),
    .blocks_o,
    .settle_i     (settle),
    .settle_set_i (settle_set),
    .lane_byte_i  (lane_byte),
    .run_valid_o  (constants_valid_o),
    .run_ready_i  (constants_ready_i),
    .run_address_o(constants_address_o),
    .run_bytes_o  (constants_bytes_o),
    .beat_valid_i,
    .beat_pop_o,
    .beat_o       (constants_o)
  );

  if (Vector != 0) begin : gen_vector
    reef_vector_sequencer #(
      .InputLanes(InputLanes)
    ) u_vector_sequencer (
      .clk_i,
      .rst_ni,
      .flush_i      (flush_o),
      .start_i      (vector_o.start),
      .command_i    (vector_o.command),
      .done_o       (vector_done),
      .on_o         (vector_on),
      .run_valid_o  (vector_run_valid),
      .run_ready_i,
      .run_o        (vector_run),
      .closed_i     (vector_closed_i),
      .writer_idle_i,
      .idle_i
    );
  end else begin : gen_no_vector
    logic unused;

    assign vector_done      = 1'b0;
    assign vector_on        = 1'b0;
    assign vector_run_valid = 1'b0;
    assign vector_run       = '0;
    assign unused           = vector_closed_i;
  end

  `ATOLL_ASSERT(OneSourceOfRuns, $onehot0({fetch_run_valid, block_run_valid, vector_run_valid}))

endmodule
