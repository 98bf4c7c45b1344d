// SPDX-License-Identifier: Apache-2.0

// Tells the simulator when a request that has not been taken is withdrawn or changed. Only for
// simulation: it drives nothing of the chip.
module atoll_channel_monitor #(
  // Number of the master.
  parameter int unsigned Master  = 0,
  // Number of the channel at its ports.
  parameter int unsigned Channel = 0,
  // Bits of a request.
  parameter int unsigned Width   = 32
) (
  input logic             clk_i,
  input logic             rst_ni,
  // A request, whether it is taken, and what it asks for
  input logic             asks_i,
  input logic             taken_i,
  input logic [Width-1:0] payload_i
);

`ifndef SYNTHESIS
  import "DPI-C" function void atoll_device_wavers(
    input int unsigned master,
    input int unsigned channel
  );

  logic held_q;
  logic [Width-1:0] payload_q;

  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && asks_i && !taken_i;
    if (asks_i && !taken_i) payload_q <= payload_i;
    if (rst_ni && held_q && !(asks_i && payload_i == payload_q)) atoll_device_wavers(Master, Channel);
  end
`endif

endmodule
