// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Synchronises the end of a reset with the clock; its beginning takes effect at once.
module atoll_reset_sync #(
  // Cycles from the end of the reset to that of the synchronised one, at least 2.
  parameter int unsigned Stages = 2
) (
  // Clock and asynchronous reset
  input  logic clk_i,
  input  logic rst_ni,
  // Reset that begins asynchronously and ends after a clock edge
  output logic rst_no
);

  `ATOLL_ASSERT_INIT(EnoughStages, Stages >= 2)

  logic [Stages-1:0] stages_q;

`ifndef SYNTHESIS
  // In simulation the first reset falls at what it resets, whose clock may stand still.
  initial stages_q = '1;
`endif

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stages_q <= '0;
    else if (!rst_no) stages_q <= {stages_q[Stages-2:0], 1'b1};
  end

  assign rst_no = stages_q[Stages-1];

  `ATOLL_ASSERT_KNOWN(KnownControl, rst_no)
  `ATOLL_ASSERT_NEXT(OnlyEndsAfterTheReset, stages_q == '0, !rst_no)
  // A reset between two edges of a slow clock is seen by the registers alone.
  `ATOLL_ASSERT_NEXT(NeverComesBack, rst_no, rst_no || stages_q == '0)

endmodule
