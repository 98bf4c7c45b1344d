// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Scales the sums of a pixel to int8, `Requantisers` output lanes in each cycle.
//
// Takes a copy of the sums, so that the array goes on with the next pixel.
module reef_requantize
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned Requantisers = 8,
  localparam int unsigned Groups = OutputLanes / Requantisers,
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1
) (
  // Clock and asynchronous reset
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // Forget what is in the pipeline
  input  logic                            flush_i,
  // The blocks of all banks; each is stable while a pixel of it is under way
  input  block_t [             3:0]       blocks_i,
  // Sums of a pixel
  input  logic                            sums_valid_i,
  output logic                            sums_ready_o,
  input  logic   [ OutputLanes-1:0][31:0] sums_i,
  input  tag_t                            sums_tag_i,
  // Multipliers and shifts of the bank asked for
  output logic   [             1:0]       scale_bank_o,
  input  logic   [ OutputLanes-1:0][31:0] multiplier_i,
  input  logic   [ OutputLanes-1:0][ 5:0] shift_i,
  // Results in the order of groups of lanes; the tag's `last` marks a pixel's last group
  output logic                            bytes_valid_o,
  input  logic                            bytes_ready_i,
  output logic   [Requantisers-1:0][ 7:0] bytes_o,
  output logic   [   GroupBits-1:0]       bytes_group_o,
  output tag_t                            bytes_tag_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRequantisers, $onehot(Requantisers) && Requantisers <= OutputLanes)

  localparam int unsigned LaneBits = $clog2(OutputLanes);

  // The group and its tag travel with the data.
  typedef struct packed {
    logic                 valid;
    logic [GroupBits-1:0] group;
    tag_t                 tag;
  } stage_t;

  logic advance, busy_q, last_group;
  logic [GroupBits-1:0] group_q;
  logic [OutputLanes-1:0][31:0] sums_q;
  tag_t tag_q, tag;
  stage_t stage1_q, stage2_q, stage3_q, stage4_q;
  logic [3:0] last_lane;
  logic once;
  logic [7:0] output_zero, minimum, maximum;

  assign last_lane     = blocks_i[tag_q.bank].last_lane;
  assign once          = blocks_i[tag_q.bank].once;
  assign output_zero   = blocks_i[stage3_q.tag.bank].output_zero;
  assign minimum       = blocks_i[stage3_q.tag.bank].minimum;
  assign maximum       = blocks_i[stage3_q.tag.bank].maximum;
  assign advance       = !(stage4_q.valid && !bytes_ready_i);
  assign last_group    = 32'(group_q) == 32'(last_lane) / Requantisers;
  assign sums_ready_o  = !busy_q || (advance && last_group);
  assign scale_bank_o  = tag_q.bank;

  always_comb begin
    tag      = tag_q;
    tag.last = last_group;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      group_q <= '0;
    end else if (flush_i) begin
      busy_q  <= 1'b0;
      group_q <= '0;
    end else begin
      if (sums_ready_o) busy_q <= sums_valid_i;
      if (busy_q && advance) group_q <= last_group ? '0 : group_q + GroupBits'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (sums_valid_i && sums_ready_o) {sums_q, tag_q} <= {sums_i, sums_tag_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {stage1_q, stage2_q, stage3_q, stage4_q} <= '0;
    end else if (flush_i) begin
      {stage1_q, stage2_q, stage3_q, stage4_q} <= '0;
    end else if (advance) begin
      stage1_q <= '{valid: busy_q, group: group_q, tag: tag};
      stage2_q <= stage1_q;
      stage3_q <= stage2_q;
      stage4_q <= stage3_q;
    end
  end

  for (genvar i = 0; i < Requantisers; i++) begin : gen_scaler
    logic [LaneBits-1:0] lane;

    assign lane = LaneBits'(32'(group_q) * Requantisers + i);

    reef_scaler u_scaler (
      .clk_i,
      .advance_i    (advance),
      .valid_i      ({stage3_q.valid, stage2_q.valid, stage1_q.valid, busy_q}),
      .sum_i        (sums_q[lane]),
      .multiplier_i (multiplier_i[lane]),
      .shift_i      (shift_i[lane]),
      .once_i       (once),
      .output_zero_i(output_zero),
      .minimum_i    (minimum),
      .maximum_i    (maximum),
      .byte_o       (bytes_o[i])
    );
  end

  assign bytes_valid_o = stage4_q.valid;
  assign bytes_group_o = stage4_q.group;
  assign bytes_tag_o   = stage4_q.tag;

  logic unused;
  assign unused = ^blocks_i;

  // The next group is due.
  logic [GroupBits-1:0] due_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) due_q <= '0;
    else if (flush_i) due_q <= '0;
    else if (bytes_valid_o && bytes_ready_i) due_q <= bytes_tag_o.last ? '0 : due_q + 1'b1;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {sums_ready_o, bytes_valid_o})
  `ATOLL_ASSERT_IF(NeverSkipsAGroup, bytes_valid_o, bytes_group_o == due_q)
  `ATOLL_ASSERT_HELD(BytesAreHeld,
      bytes_valid_o && !bytes_ready_i && !flush_i, bytes_valid_o, {bytes_o, bytes_group_o})

endmodule
