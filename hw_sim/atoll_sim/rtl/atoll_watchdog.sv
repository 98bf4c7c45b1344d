// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Restarts the chip when its host has not reported for a period, and remembers that it did.
//
// Lies outside of the reset that it makes: it has the chip's own reset, everything else has `rst_no`.
module atoll_watchdog #(
  // Cycles for which it holds the rest of the chip in reset.
  parameter int unsigned ResetCycles = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Cycles of a period; 0 is off
  input  logic [31:0] period_i,
  // Begin a period anew; its length counts from the next cycle on
  input  logic        kick_i,
  // Forget that the chip was restarted
  input  logic        forget_i,
  // A period has gone by since reset, or since that was forgotten
  output logic        restarted_o,
  // Reset of everything else
  output logic        rst_no
);

  `ATOLL_ASSERT_INIT(SomeReset, ResetCycles >= 1)

  localparam int unsigned ResetBits = $clog2(ResetCycles + 1);

  logic [31:0] passed_q;
  logic [ResetBits-1:0] reset_d, reset_q;
  // `running_q` is a register of its own, so that the reset of the rest never glitches.
  logic expired, running_q, restarted_q;

`ifndef SYNTHESIS
  // As in atoll_reset_sync
  initial running_q = 1'b1;
`endif

  assign expired = period_i != '0 && passed_q >= period_i && running_q;

  always_comb begin
    reset_d = reset_q;
    if (expired) reset_d = ResetBits'(ResetCycles);
    else if (!running_q) reset_d = reset_q - ResetBits'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      passed_q    <= '0;
      reset_q     <= '0;
      running_q   <= 1'b1;
      restarted_q <= 1'b0;
    end else begin
      passed_q    <= kick_i || period_i == '0 ? '0 : passed_q + 32'd1;
      reset_q     <= reset_d;
      running_q   <= reset_d == '0;
      restarted_q <= expired || (restarted_q && !forget_i);
    end
  end

  assign restarted_o = restarted_q;
  assign rst_no      = rst_ni && running_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {restarted_o, rst_no})
  `ATOLL_ASSERT_NEXT(OnlyWhenOn, period_i == '0 && !restarted_o, !restarted_o)
  `ATOLL_ASSERT_NEXT(NeverJustAfterAKick, kick_i, !expired)
  `ATOLL_ASSERT_NEXT(RestartIsKept, expired, restarted_o && !rst_no)

endmodule
