// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Works through the list of descriptors, and stops it at the first fault.
//
// A fault halts the bus masters in the cycle in which it shows. What is outstanding is waited
// for, and only then the list counts as ended.
module engine_control
  import engine_pkg::*;
(
  // Clock and asynchronous reset
  input  logic          clk_i,
  input  logic          rst_ni,
  // From the registers
  input  list_t         list_i,
  // To the registers
  output status_t       status_o,
  output logic          ended_o,
  // Fetch of a descriptor
  output logic          fetch_start_o,
  output logic   [31:0] fetch_address_o,
  input  logic          fetch_done_i,
  input  error_e        fetch_error_i,
  // What was fetched says with which list to go on
  input  link_t         link_i,
  // Run of what it describes
  output logic          run_start_o,
  input  logic          run_done_i,
  // A fault on the bus, for one cycle; nothing is outstanding on it
  input  fault_t        bus_fault_i,
  input  logic          bus_idle_i,
  // What the run waits for in this cycle
  input  waits_t        waits_i,
  // Issue nothing new on the bus; forget all that is under way
  output logic          halt_o,
  output logic          flush_o
);

  typedef enum logic [1:0] {
    StIdle,
    StFetch,
    StRun,
    StDrain
  } state_e;

  state_e state_d, state_q;
  logic done_d, done_q;
  // The fetch of this descriptor was started.
  logic asked_q;
  fault_t fault_d, fault_q, fault;
  logic [31:0] address_d, address_q, completed_d, completed_q, cycles_q;
  logic [31:0] stalls_q, wait_read_q, wait_write_q, wait_weights_q;
  waits_t waits;
  // Descriptors of the present list that have not completed
  logic [15:0] left_d, left_q;
  logic running, legal_count, last;

  assign running     = state_q == StFetch || state_q == StRun;
  assign legal_count = list_i.count[31:16] == 0 && list_i.count != 0;
  assign last        = left_q == 16'd1;
  assign waits       = state_q == StRun ? waits_i : '0;

  // The first fault counts; of simultaneous ones, the first of this order.
  always_comb begin
    fault = '{valid: 1'b0, error: ErrNone, address: address_q};
    if (bus_fault_i.valid) fault = bus_fault_i;
    else if (fetch_done_i && fetch_error_i != ErrNone)
      fault = '{valid: 1'b1, error: fetch_error_i, address: address_q};
    else if (list_i.stop) fault = '{valid: 1'b1, error: ErrAborted, address: address_q};
  end

  always_comb begin
    state_d       = state_q;
    done_d        = done_q;
    fault_d       = fault_q;
    address_d     = address_q;
    completed_d   = completed_q;
    left_d        = left_q;
    fetch_start_o = 1'b0;
    run_start_o   = 1'b0;
    ended_o       = 1'b0;
    unique case (state_q)
      // No list. A list that cannot begin ends at once.
      StIdle:
      if (list_i.start) begin
        done_d      = 1'b0;
        completed_d = '0;
        address_d   = list_i.address;
        left_d      = list_i.count[15:0];
        fault_d     = '{valid: 1'b0, error: ErrNone, address: '0};
        if (list_i.address[5:0] != 0)
          fault_d = '{valid: 1'b1, error: ErrMisaligned, address: list_i.address};
        else if (!legal_count)
          fault_d = '{valid: 1'b1, error: ErrBadField, address: list_i.address};
        ended_o = fault_d.valid;
        if (!fault_d.valid) state_d = StFetch;
      end
      // The next descriptor is read and judged.
      StFetch: begin
        fetch_start_o = !asked_q && !fault.valid;
        if (fetch_done_i && link_i.valid) begin
          // Its list ends here.
          completed_d = completed_q + 32'd1;
          address_d   = link_i.address;
          left_d      = link_i.count;
        end else if (fetch_done_i) begin
          run_start_o = !fault.valid;
          state_d     = StRun;
        end
      end
      // What it describes runs.
      StRun:
      if (run_done_i) begin
        completed_d = completed_q + 32'd1;
        address_d   = address_q + DescriptorBytes;
        left_d      = left_q - 16'd1;
        state_d     = last ? StIdle : StFetch;
        done_d      = last && !fault.valid;
        ended_o     = last && !fault.valid;
      end
      // After a fault, the bus comes to rest.
      StDrain:
      if (bus_idle_i) begin
        ended_o = 1'b1;
        state_d = StIdle;
      end
      default: state_d = StIdle;
    endcase
    if (running && fault.valid) begin
      fault_d = fault;
      state_d = StDrain;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      done_q      <= 1'b0;
      asked_q     <= 1'b0;
      fault_q     <= '{valid: 1'b0, error: ErrNone, address: '0};
      address_q   <= '0;
      completed_q <= '0;
      left_q      <= '0;
    end else begin
      state_q     <= state_d;
      done_q      <= done_d;
      asked_q     <= state_d == StFetch && !fetch_done_i && (fetch_start_o || asked_q);
      fault_q     <= fault_d;
      address_q   <= address_d;
      completed_q <= completed_d;
      left_q      <= left_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_q <= '0;
      {stalls_q, wait_read_q, wait_write_q, wait_weights_q} <= '0;
    end else if (list_i.start) begin
      cycles_q <= '0;
      {stalls_q, wait_read_q, wait_write_q, wait_weights_q} <= '0;
    end else begin
      cycles_q       <= cycles_q + 32'(status_o.busy);
      stalls_q       <= stalls_q + 32'(waits.read || waits.weights);
      wait_read_q    <= wait_read_q + 32'(waits.read);
      wait_write_q   <= wait_write_q + 32'(waits.write);
      wait_weights_q <= wait_weights_q + 32'(waits.weights);
    end
  end

  assign status_o = '{
      busy: state_q != StIdle,
      done: done_q,
      fault: fault_q,
      completed: completed_q,
      cycles: cycles_q,
      stalls: stalls_q,
      wait_read: wait_read_q,
      wait_write: wait_write_q,
      wait_weights: wait_weights_q
  };
  assign fetch_address_o = address_q;
  assign halt_o          = state_q == StDrain || fault.valid;
  assign flush_o         = state_q == StDrain;

  `ATOLL_ASSERT_KNOWN(KnownControl, {ended_o, fetch_start_o, run_start_o, halt_o, flush_o})
  `ATOLL_ASSERT_IF(SomethingIsLeft, running, left_q != 0)
  `ATOLL_ASSERT(OneIsMissing, !(waits_i.read && waits_i.weights))
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, list_i.start, !status_o.busy)
  `ATOLL_ASSERT_IF(NeverRunsAfterAFault, fault_q.valid, !running)
  `ATOLL_ASSERT_IF(BusIsAtRestWhenIdle, state_q == StIdle, bus_idle_i)

endmodule
