// SPDX-License-Identifier: Apache-2.0

// Tells the simulator that a function unit does not take or answer what its core asks. Only for
// simulation: it drives nothing of the chip.
module atoll_unit_monitor #(
  // Number of the core.
  parameter int unsigned Master = 0,
  // Cycles without an answer.
  parameter int unsigned Most   = 65_536
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        valid_i,
  input logic        ready_i,
  input logic [11:0] function_i,
  input logic        rvalid_i,
  input logic        rready_i
);

`ifndef SYNTHESIS
  import "DPI-C" function void atoll_unit_rests(
    input int unsigned master,
    input int unsigned called,
    input int unsigned taken
  );

  logic [31:0] waited_q;
  logic [ 7:0] under_way_q;
  logic [11:0] called_q;
  logic waits, taken, answered;
  assign waits    = (valid_i && !ready_i) || under_way_q != '0;
  assign taken    = valid_i && ready_i;
  assign answered = rvalid_i && rready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waited_q    <= '0;
      under_way_q <= '0;
    end else if (valid_i || rvalid_i || under_way_q != '0 || waited_q != '0) begin
      under_way_q <= under_way_q + 8'(taken) - 8'(answered);
      if (valid_i) called_q <= function_i;
      waited_q <= waits && !taken && !rvalid_i ? waited_q + 32'd1 : '0;
      if (waited_q == 32'(Most)) atoll_unit_rests(Master, 32'(called_q), 32'(under_way_q != '0));
    end
  end
`endif

endmodule
