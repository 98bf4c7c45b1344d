// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Holds up the requests of a bus master, so that a bench can press back. Only for a bench: no chip
// has it.
//
// A request that has been let through stays until it is accepted.
module atoll_throttle (
  input  logic        clk_i,
  input  logic        rst_ni,
  // In so many of 256 cycles, drawn at random, no new request passes
  input  logic [ 7:0] share_i,
  // Each request waits so many cycles
  input  logic [15:0] wait_i,
  // Request of the master
  input  logic        valid_i,
  output logic        ready_o,
  // What passes
  output logic        valid_o,
  input  logic        ready_i
);

  localparam logic [31:0] FirstDraw = 32'h2545_F491;

  logic [31:0] draw_q, draw_a, draw_b;
  logic [15:0] waited_q;
  logic passing_q;

  // A draw of Marsaglia's xorshift generator for each cycle.
  assign draw_a  = draw_q ^ {draw_q[18:0], 13'b0};
  assign draw_b  = draw_a ^ {17'b0, draw_a[31:17]};
  assign valid_o = valid_i && (passing_q || (waited_q >= wait_i && draw_q[7:0] >= share_i));
  assign ready_o = valid_o && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      draw_q    <= FirstDraw;
      waited_q  <= '0;
      passing_q <= 1'b0;
    end else begin
      if (share_i != '0) draw_q <= draw_b ^ {draw_b[26:0], 5'b0};
      passing_q <= valid_o && !ready_i;
      if (!valid_i || ready_o) waited_q <= '0;
      else if (waited_q < wait_i) waited_q <= waited_q + 16'd1;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, valid_o)
  `ATOLL_ASSERT_IF(OnlyWhatWasAsked, valid_o, valid_i)

endmodule
