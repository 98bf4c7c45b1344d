// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Fetches one descriptor and judges whether it is legal.
module ripple_fetch
  import engine_pkg::*;
  import ripple_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Give up
  input  logic                          flush_i,
  // Fetch a descriptor; only while idle
  input  logic                          start_i,
  // Ask for its bytes; held until accepted
  output logic                          run_valid_o,
  input  logic                          run_ready_i,
  // Its beats, in order
  input  logic                          beat_valid_i,
  input  logic        [DataBytes*8-1:0] beat_data_i,
  output logic                          beat_pop_o,
  // For one cycle: the descriptor was judged; from then on it is stable
  output logic                          done_o,
  output error_e                        error_o,
  output descriptor_t                   descriptor_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 4 && DataBytes <= 64)

  localparam int unsigned Beats = DescriptorBytes / DataBytes;
  localparam int unsigned BeatBits = Beats > 1 ? $clog2(Beats) : 1;
  localparam logic [7:0] DescriptorVersion = 8'd1;

  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StReceive,
    StJudge
  } state_e;

  state_e state_d, state_q;
  logic [BeatBits-1:0] beat_q;
  logic [Beats-1:0][DataBytes*8-1:0] beats_q;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      // Nothing to do.
      StIdle:    if (start_i) state_d = StAsk;
      // The read is requested.
      StAsk:     if (run_ready_i) state_d = StReceive;
      // Beats arrive in order.
      StReceive: if (beat_pop_o && beat_q == BeatBits'(Beats - 1)) state_d = StJudge;
      // Report.
      StJudge:   state_d = StIdle;
      default:   state_d = StIdle;
    endcase
    if (flush_i) state_d = StIdle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      beat_q  <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == StIdle) beat_q <= '0;
      else beat_q <= beat_q + BeatBits'(beat_pop_o);
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_pop_o) beats_q[beat_q] <= beat_data_i;
  end

  logic [15:0] check;

  engine_check #(
    .DataBytes(DataBytes)
  ) u_check (
    .clk_i,
    .rst_ni,
    .load_i (beat_pop_o),
    .first_i(beat_q == '0),
    .data_i (beat_data_i),
    .check_o(check)
  );

  always_comb begin
    error_o = ErrNone;
    if (descriptor_o.opcode != OpCopy || descriptor_o.version != DescriptorVersion)
      error_o = ErrBadOpcode;
    else if (descriptor_o.row_bytes == 0 || descriptor_o.rows == 0 || descriptor_o.reserved_9 != 0)
      error_o = ErrBadField;
    else if (check != descriptor_o.check) error_o = ErrBadCheck;
  end

  assign run_valid_o  = state_q == StAsk;
  assign beat_pop_o   = state_q == StReceive && beat_valid_i && !flush_i;
  assign done_o       = state_q == StJudge;
  assign descriptor_o = descriptor_t'(beats_q);

  `ATOLL_ASSERT_KNOWN(KnownControl, {run_valid_o, beat_pop_o, done_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, state_q == StIdle)

endmodule
