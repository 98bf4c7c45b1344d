// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Turns the beats of each run into what the run is for, in order.
//
// Descriptor, parameter and weight runs are handed on as whole beats. Input runs become steps of
// `InputLanes` bytes (depthwise: one step of up to `OutputLanes`) in which `mask` marks the bytes
// of the run. Steps are cut at multiples of the step counted from `phase` bytes before the run,
// so that a run which starts inside a kernel row meets the right weights.
module reef_aligner
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned DataBytes = 8,
  // Runs that may be queued, a power of two.
  parameter int unsigned Runs = 16,
  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes
) (
  // Clock and asynchronous reset
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // Forget all runs
  input  logic                    flush_i,
  // Runs in the order in which they are read
  input  logic                    run_valid_i,
  output logic                    run_ready_o,
  input  run_t                    run_i,
  // The beats read
  input  logic                    beat_valid_i,
  input  logic  [DataBytes*8-1:0] beat_data_i,
  output logic                    beat_pop_o,
  // A beat of a run that is not input, and its number in the run
  output logic                    load_valid_o,
  output kind_e                   load_kind_o,
  output logic  [           15:0] load_beat_o,
  // Steps of the input runs
  output logic                    step_valid_o,
  input  logic                    step_ready_i,
  output logic  [StepBytes*8-1:0] step_data_o,
  output logic  [  StepBytes-1:0] step_mask_o,
  output logic  [           13:0] step_unit_o,
  output logic                    step_depthwise_o,
  output logic                    step_joined_o,
  output tag_t                    step_tag_o,
  // Waiting for input; for weights that come with it
  output logic                    starved_o,
  output logic                    unweighted_o,
  // No run is queued
  output logic                    idle_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalBeat,
      DataBytes inside {8, 16} && DataBytes >= InputLanes && DataBytes >= OutputLanes)
  `ATOLL_ASSERT_INIT(LegalRuns, $onehot(Runs) && Runs >= 2)

  // What the queue keeps of a run; of its address only the place in the first beat.
  typedef struct packed {
    kind_e       kind;
    logic [$clog2(DataBytes)-1:0] offset;
    logic [31:0] bytes;
    logic [3:0]  phase;
    logic [13:0] unit;
    logic        depthwise;
    logic        joined;
    tag_t        tag;
  } entry_t;

  logic head_valid, head_pop, runs_full;
  entry_t head, entry;

  assign entry = '{
          kind: run_i.kind,
          offset: run_i.address[$clog2(DataBytes)-1:0],
          bytes: run_i.bytes,
          phase: run_i.phase,
          unit: run_i.unit,
          depthwise: run_i.depthwise,
          joined: run_i.joined,
          tag: run_i.tag
      };
  assign run_ready_o = !runs_full;
  assign idle_o = !head_valid;

  atoll_fifo #(
    .Width($bits(entry_t)),
    .Depth(Runs)
  ) u_runs (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (run_valid_i && run_ready_o),
    .data_i (entry),
    .pop_i  (head_pop),
    .valid_o(head_valid),
    .data_o (head),
    .full_o (runs_full)
  );

  // Where the next step is: `offset` counts from the first byte of the beat at hand, negative
  // if the step began in the beat before; `remaining` counts from the step's first byte.
  logic begun_q, stepped_q;
  logic signed [6:0] offset, offset_q, after;
  logic [32:0] remaining, remaining_q;
  logic [13:0] unit, unit_q;
  logic [15:0] beat_q;
  logic [DataBytes*8-1:0] held_q;

  logic is_input, empty, straddles, ends, final_step, step, load, hold;
  logic [6:0] width, room;

  assign is_input = head.kind == KindInput;
  assign empty = head.bytes == 0;
  assign width = head.depthwise && is_input ? 7'(OutputLanes) : 7'(InputLanes);

  always_comb begin
    if (begun_q) begin
      offset    = offset_q;
      remaining = remaining_q;
      unit      = unit_q;
    end else begin
      offset    = 7'(head.offset) - 7'(head.phase);
      remaining = 33'(head.bytes) + 33'(head.phase);
      unit      = head.unit;
    end
  end

  // Bytes from the step's start to the end of the beat at hand
  assign room = 7'(DataBytes) - offset;
  assign straddles = room < width;
  assign ends = remaining <= 33'(room);
  assign final_step = empty || remaining <= 33'(width);

  assign step_valid_o = head_valid && is_input && (empty || (beat_valid_i && (ends || !straddles)));
  assign step = step_valid_o && step_ready_i;
  assign load = head_valid && !is_input && beat_valid_i;

  // After a step the beat is used up unless a whole further step, or the run's end, is in it.
  assign after = step ? offset + width : offset;
  assign hold = head_valid && is_input && beat_valid_i && (
      step ? !final_step && room - width < width && !(remaining - 33'(width) <= 33'(room - width))
           : straddles && !ends);
  assign beat_pop_o = load || hold || (step && final_step && !empty);
  assign head_pop = (step && final_step) || (load && ends);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q     <= 1'b0;
      stepped_q   <= 1'b0;
      offset_q    <= '0;
      remaining_q <= '0;
      unit_q      <= '0;
      beat_q      <= '0;
    end else if (flush_i || head_pop) begin
      begun_q   <= 1'b0;
      stepped_q <= 1'b0;
      beat_q    <= '0;
    end else if (load) begin
      begun_q     <= 1'b1;
      offset_q    <= '0;
      remaining_q <= remaining - 33'(room);
      beat_q      <= beat_q + 16'd1;
    end else if (step || hold) begin
      begun_q     <= 1'b1;
      stepped_q   <= stepped_q || step;
      offset_q    <= hold ? after - 7'(DataBytes) : after;
      remaining_q <= step ? remaining - 33'(width) : remaining;
      unit_q      <= step ? unit + (head.joined ? 14'(InputLanes) : 14'd1) : unit;
    end
  end

  always_ff @(posedge clk_i) begin
    if (hold) held_q <= beat_data_i;
  end

  // The step's bytes: from the beat at hand, and below them those held from the beat before.
  logic [6:0] back;

  assign back = -offset;
  always_comb begin
    if (offset[6])
      step_data_o = (StepBytes * 8)'(
          (beat_data_i << {back, 3'b0}) | (held_q >> {7'(DataBytes) - back, 3'b0}));
    else step_data_o = (StepBytes * 8)'(beat_data_i >> {offset, 3'b0});
  end

  // Bytes from the run's first on, and before its end
  logic [StepBytes-1:0] begun, unended;

  assign begun       = stepped_q ? '1 : {StepBytes{1'b1}} << head.phase;
  assign unended     = remaining >= 33'(StepBytes) ? '1 : ~({StepBytes{1'b1}} << remaining[4:0]);
  assign step_mask_o = empty ? '0 : begun & unended;
  assign step_unit_o  = unit;
  assign step_depthwise_o = head.depthwise;
  assign step_joined_o = head.joined;
  assign step_tag_o = '{
          bank: head.tag.bank,
          pair: head.tag.pair,
          first: head.tag.first && !stepped_q,
          last: head.tag.last && final_step,
          closes: head.tag.closes
      };

  assign load_valid_o = load;
  assign load_kind_o  = head.kind;
  assign load_beat_o  = beat_q;
  assign starved_o    = head_valid && is_input && !empty && !beat_valid_i;
  assign unweighted_o = head_valid && head.kind == KindWeights && !beat_valid_i;

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {run_ready_o, beat_pop_o, load_valid_o, step_valid_o, starved_o, unweighted_o, idle_o})
  `ATOLL_ASSERT_IF(OnlyPopsBeats, beat_pop_o, beat_valid_i)
  `ATOLL_ASSERT_HELD(StepIsHeld,
      step_valid_o && !step_ready_i && !flush_i, step_valid_o,
      {step_mask_o, empty ? '0 : step_data_o})

endmodule
