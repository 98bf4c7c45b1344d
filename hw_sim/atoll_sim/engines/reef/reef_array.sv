// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Multiplies and accumulates: one step of inputs against one row of weights in each cycle.
//
// A step for a pair of blocks stays for two cycles: it meets a row of the one, then of the other.
// A step passes two stages: the weights are read and the zero point is taken off; then every
// output lane adds its dot product. Convolution uses all bytes in all lanes; depthwise, lane `l`
// uses the byte `lane_byte[l]` alone, with the `OutputLanes` weights of its tap, and adds the product
// or keeps the greatest; by lines, each lane has bytes of its own, see `reef_lines`.
module reef_array
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned WeightRows = 128,
  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes,
  localparam int unsigned RowBytes = InputLanes * OutputLanes
) (
  // Clock and asynchronous reset
  input  logic                                clk_i,
  input  logic                                rst_ni,
  // Forget what is in the pipeline
  input  logic                                flush_i,
  // The blocks of all banks; each is stable while a step of it is in the pipeline
  input  block_t [                 3:0]       blocks_i,
  // Biases of the bank asked for
  output logic [                   1:0]       bias_bank_o,
  input  logic [       OutputLanes-1:0][31:0] bias_i,
  // Steps; masked bytes contribute nothing
  input  logic                                step_valid_i,
  output logic                                step_ready_o,
  input  logic [       StepBytes*8-1:0]       step_data_i,
  input  logic [         StepBytes-1:0]       step_mask_i,
  input  logic [                  13:0]       step_unit_i,
  input  logic                                step_depthwise_i,
  input  tag_t                                step_tag_i,
  // Steps by lines: each lane's own values, in place of the data
  input  logic                                step_lines_i,
  input  logic [OutputLanes-1:0][InputLanes-1:0][8:0] step_taps_i,
  // Weight memory; the row arrives one cycle after the read
  output logic                                weight_read_o,
  output logic [$clog2(WeightRows)-1:0]       weight_row_o,
  input  logic [        RowBytes*8-1:0]       weight_row_i,
  // Sums of a finished pixel
  output logic                                sums_valid_o,
  input  logic                                sums_ready_i,
  output logic [       OutputLanes-1:0][31:0] sums_o,
  output tag_t                                sums_tag_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, InputLanes inside {4, 8, 16} && OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalRows, $onehot(WeightRows) && WeightRows >= 16 && WeightRows <= 1024)

  localparam int unsigned RowBits = $clog2(WeightRows);
  localparam int unsigned TapBits = $clog2(InputLanes);

  // Half of a step for a pair; all of another one
  logic accept, advance, second_q;
  logic valid_q, done_q, depthwise_q, lines_q;
  tag_t tag, tag_q, sums_tag_q;
  logic [7:0] input_zero;
  logic [13:0] first_row;
  logic [TapBits-1:0] tap_q;
  logic [StepBytes*9-1:0] centred_q;
  logic [OutputLanes-1:0][InputLanes-1:0][8:0] taps_q;

  // A finished pixel stays in the sums until they are taken.
  assign advance       = !done_q || sums_ready_i;
  assign step_ready_o  = advance && (!step_tag_i.pair || second_q);
  assign accept        = step_valid_i && advance;
  assign sums_valid_o  = done_q;
  assign sums_tag_o    = sums_tag_q;
  assign bias_bank_o   = tag_q.bank;
  assign input_zero    = blocks_i[tag.bank].input_zero;
  assign first_row     = blocks_i[tag.bank].row;

  // Convolution counts units in rows, depthwise in taps, of which a row holds `InputLanes`.
  assign weight_read_o = accept;
  assign weight_row_o  = step_depthwise_i ? RowBits'(first_row + (step_unit_i >> TapBits))
                                          : RowBits'(first_row + step_unit_i);

  always_comb begin
    tag         = step_tag_i;
    tag.bank[0] = second_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      done_q   <= 1'b0;
      second_q <= 1'b0;
    end else if (flush_i) begin
      valid_q  <= 1'b0;
      done_q   <= 1'b0;
      second_q <= 1'b0;
    end else if (advance) begin
      valid_q <= step_valid_i;
      done_q  <= valid_q && tag_q.last;
      if (step_valid_i) second_q <= step_tag_i.pair && !second_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      depthwise_q <= step_depthwise_i;
      lines_q     <= step_lines_i;
      if (step_lines_i) taps_q <= step_taps_i;
      tag_q       <= tag;
      tap_q       <= step_unit_i[TapBits-1:0];
      for (int i = 0; i < StepBytes; i++) begin
        centred_q[i*9+:9] <= step_mask_i[i] ? centre(step_data_i[i*8+:8], input_zero) : 9'd0;
      end
    end
  end

  function automatic logic [8:0] centre(logic [7:0] value, logic [7:0] zero);
    return {value[7], value} - {zero[7], zero};
  endfunction

  // Signs are extended as `(x ^ sign) - sign`, which is an instruction of its own where this is simulated.
  function automatic logic [31:0] product(logic [8:0] value, logic [7:0] weight);
    return ((32'(value) ^ 32'h100) - 32'h100) * ((32'(weight) ^ 32'h80) - 32'h80);
  endfunction

  function automatic logic [31:0] dot_product(logic [InputLanes*9-1:0] values,
                                              logic [InputLanes*8-1:0] weights);
    dot_product = '0;
    for (int i = 0; i < InputLanes; i++)
    dot_product = dot_product + product(values[i*9+:9], weights[i*8+:8]);
  endfunction

  logic greatest;
  assign greatest = blocks_i[tag_q.bank].greatest;
  logic [OutputLanes*8-1:0] tap_weights;
  assign tap_weights = weight_row_i[tap_q*OutputLanes*8+:OutputLanes*8];

  always_ff @(posedge clk_i) begin
    if (valid_q && advance) sums_tag_q <= tag_q;
  end

  for (genvar lane = 0; lane < OutputLanes; lane++) begin : gen_lane
    logic [31:0] begun, tap;
    logic [1:0][31:0] sums_q;

    assign begun        = tag_q.first ? bias_i[lane] : sums_q[tag_q.bank[0]];
    assign sums_o[lane] = sums_q[sums_tag_q.bank[0]];
    always_comb begin
      tap = '0;
      if (depthwise_q)
        tap = product(
            centred_q[blocks_i[tag_q.bank].lane_byte[lane]*9+:9], tap_weights[lane*8+:8]
        );
    end
    always_ff @(posedge clk_i) begin
      if (valid_q && advance) begin
        if (depthwise_q && greatest)
          sums_q[tag_q.bank[0]] <= $signed(begun) > $signed(tap) ? begun : tap;
        else if (depthwise_q) sums_q[tag_q.bank[0]] <= begun + tap;
        else if (lines_q)
          sums_q[tag_q.bank[0]] <= begun + dot_product(
              taps_q[lane], weight_row_i[lane*InputLanes*8+:InputLanes*8]
          );
        else
          sums_q[tag_q.bank[0]] <= begun + dot_product(
              centred_q[InputLanes*9-1:0], weight_row_i[lane*InputLanes*8+:InputLanes*8]
          );
      end
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {step_ready_o, weight_read_o, sums_valid_o})
  `ATOLL_ASSERT_NEXT(SumsAreHeld, sums_valid_o && !sums_ready_i && !flush_i, sums_valid_o)

  logic unused;
  assign unused = ^blocks_i;

endmodule
