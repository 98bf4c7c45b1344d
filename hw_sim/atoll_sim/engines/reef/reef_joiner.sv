// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Joins the kernel rows of a convolution: the array gets whole steps of the kernel as one row.
//
// A step of a run begins at any byte of the kernel; its unit says which. Bytes wait until a step is
// full, or none of it follows: taps outside of the image leave gaps. Some whole steps are queued, so
// that the array computes while the next ones are joined. All other steps pass as they are.
module reef_joiner
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  // Steps queued, a power of two.
  parameter int unsigned Steps = 4,
  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes
) (
  // Clock and asynchronous reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Forget what waits
  input  logic                   flush_i,
  // Steps of the runs
  input  logic                   step_valid_i,
  output logic                   step_ready_o,
  input  logic [StepBytes*8-1:0] step_data_i,
  input  logic [  StepBytes-1:0] step_mask_i,
  input  logic [           13:0] step_unit_i,
  input  logic                   step_depthwise_i,
  input  logic                   step_joined_i,
  input  tag_t                   step_tag_i,
  // Steps for the array
  output logic                   step_valid_o,
  input  logic                   step_ready_i,
  output logic [StepBytes*8-1:0] step_data_o,
  output logic [  StepBytes-1:0] step_mask_o,
  output logic [           13:0] step_unit_o,
  output logic                   step_depthwise_o,
  output tag_t                   step_tag_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})

  localparam int unsigned LaneBits = $clog2(InputLanes);

  typedef struct packed {
    logic [InputLanes*8-1:0] data;
    logic [  InputLanes-1:0] mask;
    logic [            13:0] unit;
    tag_t                    tag;
  } step_t;

  // What waits for the rest of its step; it may be the last of its pixel.
  logic [InputLanes*8-1:0] data_q;
  logic [InputLanes-1:0] mask_q;
  logic [13:0] unit_q;
  tag_t tag_q;
  logic begun_q, tail_q;

  // The step at hand over what waits, and what exceeds that
  logic [LaneBits-1:0] lane;
  logic [13:0] unit;
  logic [InputLanes*8-1:0] fresh;
  logic [InputLanes*16-1:0] data;
  logic [InputLanes*2-1:0] mask;
  logic joins, other, whole, take, push, full, queued, pop;
  step_t made, head;

  assign lane = step_unit_i[LaneBits-1:0];
  assign unit = step_unit_i >> LaneBits;

  // Nothing is worked out without a step to join, which saves the simulator time.
  always_comb begin
    fresh = '0;
    data  = '0;
    mask  = '0;
    if (joins) begin
      for (int i = 0; i < InputLanes; i++) begin
        fresh[i*8+:8] = step_mask_i[i] ? step_data_i[i*8+:8] : 8'd0;
      end
      data = ((InputLanes * 16)'(fresh) << {lane, 3'b0}) | (InputLanes * 16)'(data_q);
      mask = ((InputLanes * 2)'(step_mask_i[InputLanes-1:0]) << lane) | (InputLanes * 2)'(mask_q);
    end
  end

  assign joins = step_valid_i && step_joined_i;
  // What waits belongs to an earlier step.
  assign other = mask_q != 0 && unit != unit_q;
  assign whole = mask[InputLanes-1] || step_tag_i.last;
  assign take  = joins && !tail_q && !other && (!whole || !full);
  assign push  = !full && (tail_q || (joins && (other || whole)));

  always_comb begin
    made = '0;
    if (push) begin
      made.data = data[InputLanes*8-1:0];
      made.mask = mask[InputLanes-1:0];
      made.unit = unit;
      made.tag  = step_tag_i;
      made.tag.last = step_tag_i.last && mask[InputLanes*2-1:InputLanes] == 0;
      if (tail_q || other) begin
        made.data = data_q;
        made.mask = mask_q;
        made.unit = unit_q;
        made.tag  = tag_q;
        made.tag.last = tail_q;
      end
      made.tag.first = !begun_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q  <= '0;
      mask_q  <= '0;
      begun_q <= 1'b0;
      tail_q  <= 1'b0;
    end else if (flush_i) begin
      data_q  <= '0;
      mask_q  <= '0;
      begun_q <= 1'b0;
      tail_q  <= 1'b0;
    end else begin
      if (push) begin
        begun_q <= !made.tag.last;
        tail_q  <= 1'b0;
        data_q  <= '0;
        mask_q  <= '0;
      end
      if (take) begin
        data_q <= whole ? data[InputLanes*16-1:InputLanes*8] : data[InputLanes*8-1:0];
        mask_q <= whole ? mask[InputLanes*2-1:InputLanes] : mask[InputLanes-1:0];
        tail_q <= step_tag_i.last && mask[InputLanes*2-1:InputLanes] != 0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      unit_q <= whole ? unit + 14'd1 : unit;
      tag_q  <= step_tag_i;
    end
  end

  atoll_fifo #(
    .Width($bits(step_t)),
    .Depth(Steps)
  ) u_steps (
    .clk_i,
    .rst_ni,
    .flush_i,
    .push_i (push),
    .data_i (made),
    .pop_i  (pop),
    .valid_o(queued),
    .data_o (head),
    .full_o (full)
  );

  // Steps that are joined follow others only when the array has those.
  logic passes;

  assign passes       = step_valid_i && !step_joined_i && !queued && !tail_q;
  assign pop          = queued && step_ready_i;
  assign step_ready_o = step_joined_i ? take : passes && step_ready_i;
  assign step_valid_o = queued || passes;
  assign step_data_o  = queued ? (StepBytes * 8)'(head.data) : step_data_i;
  assign step_mask_o  = queued ? StepBytes'(head.mask) : step_mask_i;
  assign step_unit_o  = queued ? head.unit : step_unit_i;
  assign step_depthwise_o = !queued && step_depthwise_i;
  assign step_tag_o   = queued ? head.tag : step_tag_i;

  `ATOLL_ASSERT_KNOWN(KnownControl, {step_ready_o, step_valid_o})
  `ATOLL_ASSERT_IF(PixelsEnd, passes, mask_q == 0 && !begun_q)

endmodule
