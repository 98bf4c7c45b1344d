// SPDX-License-Identifier: Apache-2.0
// Works through the list: fetches each descriptor, has it copied, and stops at the first fault.
module ripple_commands
  import engine_pkg::*;
  import ripple_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  // Clock and asynchronous reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // From the registers and to them
  input  list_t                         list_i,
  output status_t                       status_o,
  output logic                          ended_o,
  // A fault on the bus, for one cycle; nothing is outstanding on it
  input  fault_t                        bus_fault_i,
  input  logic                          bus_idle_i,
  // Issue nothing new on the bus; forget all that is under way
  output logic                          halt_o,
  output logic                          flush_o,
  // A descriptor to read; held until accepted
  output logic                          run_valid_o,
  input  logic                          run_ready_i,
  output logic        [           31:0] run_address_o,
  // Its beats, in order
  input  logic                          beat_valid_i,
  input  logic        [DataBytes*8-1:0] beat_data_i,
  output logic                          beat_pop_o,
  // For one cycle: copy as the descriptor says, which is stable until the next one
  output logic                          copy_start_o,
  output descriptor_t                   descriptor_o,
  // From the cycle after the start on: all is written and answered
  input  logic                          copy_done_i,
  // The copy has no data in this cycle
  input  logic                          starved_i
);

  logic fetch_start, fetch_done, copying_q, copied;
  error_e fetch_error;

  assign copied = copying_q && copy_done_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) copying_q <= 1'b0;
    else copying_q <= copy_start_o || (copying_q && !copied && !flush_o);
  end

  engine_control u_control (
    .clk_i,
    .rst_ni,
    .list_i,
    .status_o,
    .ended_o,
    .fetch_start_o  (fetch_start),
    .fetch_address_o(run_address_o),
    .fetch_done_i   (fetch_done),
    .fetch_error_i  (fetch_error),
    .link_i         ('0),
    .run_start_o    (copy_start_o),
    .run_done_i     (copied),
    .bus_fault_i,
    .bus_idle_i,
    .waits_i        ('{read: starved_i, default: '0}),
    .halt_o,
    .flush_o
  );

  ripple_fetch #(
    .DataBytes(DataBytes)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .flush_i     (flush_o),
    .start_i     (fetch_start),
    .run_valid_o,
    .run_ready_i,
    .beat_valid_i,
    .beat_data_i,
    .beat_pop_o,
    .done_o      (fetch_done),
    .error_o     (fetch_error),
    .descriptor_o
  );

endmodule
