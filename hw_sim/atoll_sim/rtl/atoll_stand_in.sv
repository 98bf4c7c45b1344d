// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Stands in the place of an accelerator without RTL: the simulator's process plays its registers, and
// says what it reads and writes when. Only for simulation.
//
// An access to a register is answered in the next cycle. What the model moves goes over the bus beat
// by beat, at the pace that its cost formula gives it.
module atoll_stand_in
  import atoll_bus_pkg::*;
#(
  // Number of the master.
  parameter int unsigned Master    = 0,
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Request to a register; `addr_i` counts from the first
  input  logic                   reg_valid_i,
  output logic                   reg_ready_o,
  input  logic                   reg_we_i,
  input  logic [           11:0] reg_addr_i,
  input  logic [8*DataBytes-1:0] reg_wdata_i,
  input  logic [  DataBytes-1:0] reg_be_i,
  // Answer
  output logic                   reg_rvalid_o,
  output logic [8*DataBytes-1:0] reg_rdata_o,
  output resp_e                  reg_resp_o,
  // Request to the bus
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic                   we_o,
  output logic [           31:0] addr_o,
  output logic [8*DataBytes-1:0] wdata_o,
  output logic [  DataBytes-1:0] be_o,
  // Answer of the bus
  input  logic                   rvalid_i,
  input  resp_e                  resp_i,
  // Level interrupt
  output logic                   irq_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8 && DataBytes <= 64)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

`ifndef SYNTHESIS
  import "DPI-C" function void atoll_stand_in_register(
    input  int unsigned master,
    input  int unsigned write,
    input  int unsigned offset,
    input  int unsigned value,
    output int unsigned answer,
    output int unsigned failed
  );
  import "DPI-C" function int unsigned atoll_stand_in_beat(
    input  int unsigned master,
    output int unsigned write,
    output int unsigned address,
    output int unsigned size
  );
  import "DPI-C" function byte unsigned atoll_stand_in_byte(
    input int unsigned master,
    input int unsigned number
  );
  import "DPI-C" function void atoll_stand_in_answer(
    input int unsigned master,
    input int unsigned resp
  );
  import "DPI-C" function int unsigned atoll_stand_in_irq(input int unsigned master);

  // The word that the access is to, which its byte enables tell
  logic [LaneBits-1:0] lane;
  logic [11:0] offset;
  logic whole;
  assign reg_ready_o = 1'b1;
  assign offset      = (reg_addr_i & ~12'(DataBytes - 1)) | 12'({lane, 2'b00});
  assign whole       = reg_be_i == DataBytes'(4'hF) << (4 * lane);

  always_comb begin
    lane = '0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (reg_be_i[4*i+:4] != '0) lane = LaneBits'(i);
    end
  end

  int unsigned answer, failed, beat_write, beat_address, beat_size;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reg_rvalid_o <= 1'b0;
      reg_rdata_o  <= '0;
      reg_resp_o   <= RespOkay;
    end else begin
      reg_rvalid_o <= reg_valid_i;
      if (reg_valid_i) begin
        atoll_stand_in_register(Master, 32'(reg_we_i), 32'(offset), reg_wdata_i[32*lane+:32],
                                answer, failed);
        reg_rdata_o <= {Lanes{answer}};
        reg_resp_o  <= failed != 0 || !whole ? RespSlave : RespOkay;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      we_o    <= 1'b0;
      addr_o  <= '0;
      wdata_o <= '0;
      be_o    <= '0;
      irq_o   <= 1'b0;
    end else begin
      if (rvalid_i) atoll_stand_in_answer(Master, 32'(resp_i));
      if (!valid_o || ready_i) begin
        valid_o <= 1'b0;
        if (atoll_stand_in_beat(Master, beat_write, beat_address, beat_size) != 0) begin
          valid_o <= 1'b1;
          we_o    <= beat_write[0];
          addr_o  <= beat_address & ~32'(DataBytes - 1);
          for (int unsigned i = 0; i < DataBytes; i++) begin
            if (i >= beat_address % DataBytes && i < beat_address % DataBytes + beat_size) begin
              be_o[i]         <= 1'b1;
              wdata_o[8*i+:8] <= atoll_stand_in_byte(Master, i - beat_address % DataBytes);
            end else begin
              be_o[i]         <= 1'b0;
              wdata_o[8*i+:8] <= '0;
            end
          end
        end
      end
      irq_o <= atoll_stand_in_irq(Master) != 0;
    end
  end
`endif

endmodule
