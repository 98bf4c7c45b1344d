// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Tells the simulator what the ports of one accelerator do, so that it is held to its contract
// (docs/device-rules.md). Only for simulation: it drives nothing of the chip.
//
// It counts what is under way at the ports to memory, and asks the C++ side (shadow/devices.cpp) about
// each access to a register and each change of the interrupt; that says whether the accelerator has
// work, without which it may ask for nothing.
module atoll_device_monitor
  import atoll_bus_pkg::*;
#(
  // Number of the master.
  parameter int unsigned Master    = 0,
  // Bytes of a beat of the bus.
  parameter int unsigned DataBytes = 8,
  // Channels that ask, of all ports to memory; 1 if there are none.
  parameter int unsigned Channels  = 1
) (
  // Clock and reset of the accelerator
  input logic                   clk_i,
  input logic                   rst_ni,
  // Access to a register
  input logic                   reg_valid_i,
  input logic                   reg_ready_i,
  input logic                   reg_we_i,
  input logic [           11:0] reg_addr_i,
  input logic [8*DataBytes-1:0] reg_wdata_i,
  input logic [  DataBytes-1:0] reg_be_i,
  // Its answer
  input logic                   reg_rvalid_i,
  input logic [8*DataBytes-1:0] reg_rdata_i,
  input resp_e                  reg_resp_i,
  // Interrupt, as it leaves the accelerator
  input logic                   irq_i,
  // Channels that ask, whose request is taken, and whose request is answered
  input logic [   Channels-1:0] asks_i,
  input logic [   Channels-1:0] taken_i,
  input logic [   Channels-1:0] answered_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8 && DataBytes <= 64)

`ifndef SYNTHESIS
  import "DPI-C" function int unsigned atoll_device_wrote(
    input int unsigned master,
    input int unsigned offset,
    input int unsigned value
  );
  import "DPI-C" function int unsigned atoll_device_answered(
    input int unsigned master,
    input int unsigned write,
    input int unsigned offset,
    input int unsigned value,
    input int unsigned failed,
    input int unsigned unanswered,
    input int unsigned held
  );
  import "DPI-C" function int unsigned atoll_device_line(
    input int unsigned master,
    input int unsigned high,
    input int unsigned unanswered,
    input int unsigned held
  );
  import "DPI-C" function void atoll_device_asks(input int unsigned master);
  import "DPI-C" function void atoll_device_reset(input int unsigned master);

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  // Requests that were taken and are not answered, before and after this cycle
  logic [31:0] unanswered_d, unanswered_q;
  logic moves, held;
  assign moves        = {taken_i, answered_i} != '0;
  assign unanswered_d = unanswered_q + 32'($countones(taken_i)) - 32'($countones(answered_i));
  assign held         = (asks_i & ~taken_i) != '0;

  // The word that an access to a register is to, which its byte enables tell
  logic [LaneBits-1:0] lane, lane_q;
  logic we_q, irq_q, working_q, told_q, reset_q;
  logic [11:0] offset, offset_q;
  assign offset = (reg_addr_i & ~12'(DataBytes - 1)) | 12'({lane, 2'b00});

  always_comb begin
    lane = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (reg_be_i[4*i+:4] != '0) lane = LaneBits'(i);
    end
  end

  // The last answer of the C++ side counts.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      if (!reset_q) atoll_device_reset(Master);
      reset_q      <= 1'b1;
      unanswered_q <= '0;
      irq_q        <= 1'b0;
      working_q    <= 1'b0;
      told_q       <= 1'b0;
    end else begin
      reset_q <= 1'b0;
      if (moves) unanswered_q <= unanswered_d;
      if (working_q) told_q <= 1'b0;
      if (asks_i != '0 && !working_q && !told_q) begin
        atoll_device_asks(Master);
        told_q <= 1'b1;
      end
      if (irq_i != irq_q) begin
        irq_q     <= irq_i;
        working_q <= atoll_device_line(Master, 32'(irq_i), unanswered_d, 32'(held)) != 0;
      end
      if (reg_rvalid_i) begin
        working_q <= atoll_device_answered(Master, 32'(we_q), 32'(offset_q), reg_rdata_i[32*lane_q+:32],
                                           32'(reg_resp_i != RespOkay), unanswered_d, 32'(held)) != 0;
      end
      if (reg_valid_i && reg_ready_i) begin
        we_q     <= reg_we_i;
        lane_q   <= lane;
        offset_q <= offset;
        if (reg_we_i) working_q <= atoll_device_wrote(Master, 32'(offset), reg_wdata_i[32*lane+:32]) != 0;
      end
    end
  end
`endif

endmodule
