// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The control port of a device that runs lists: AXI4-Lite registers, as in docs/reef.md.
//
// A write or read of anything but a register that allows it answers SLVERR and changes nothing.
// Registers are whole words: the low two address bits do not matter, the write strobes do.
module engine_registers
  import engine_pkg::*;
#(
  // What ID and PARAMS read
  parameter logic [31:0] Id         = 32'h4645_4552,
  parameter logic [31:0] Params     = 32'h0108_0808,
  // What WEIGHT_ROWS reads; 0: there is no such register
  parameter int unsigned WeightRows = 128,
  // 1: there are registers that say what was waited for; 0: there are none
  parameter int unsigned Waits      = 1
) (
  // Clock and asynchronous reset
  input  logic          clk_i,
  input  logic          rst_ni,
  // AXI4-Lite control port
  input  axil_req_t     axil_req_i,
  output axil_rsp_t     axil_rsp_o,
  // Something is asked there, or an answer waits
  output logic          in_use_o,
  // The list
  output list_t         list_o,
  // How it stands; `ended_i` for one cycle when it ends
  input  status_t     status_i,
  input  logic        ended_i,
  // Level interrupt
  output logic          irq_o
);

  localparam logic [11:0] OffsetId = 12'h000;
  localparam logic [11:0] OffsetParams = 12'h004;
  localparam logic [11:0] OffsetWeightRows = 12'h008;
  localparam logic [11:0] OffsetControl = 12'h00C;
  localparam logic [11:0] OffsetStatus = 12'h010;
  localparam logic [11:0] OffsetError = 12'h014;
  localparam logic [11:0] OffsetFaultAddress = 12'h018;
  localparam logic [11:0] OffsetListAddress = 12'h01C;
  localparam logic [11:0] OffsetListCount = 12'h020;
  localparam logic [11:0] OffsetCompleted = 12'h024;
  localparam logic [11:0] OffsetIrqEnable = 12'h028;
  localparam logic [11:0] OffsetIrqStatus = 12'h02C;
  localparam logic [11:0] OffsetCycles = 12'h030;
  localparam logic [11:0] OffsetStalls = 12'h034;
  localparam logic [11:0] OffsetWaitRead = 12'h038;
  localparam logic [11:0] OffsetWaitWrite = 12'h03C;
  localparam logic [11:0] OffsetWaitWeights = 12'h040;

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlaveError = 2'b10;

  logic [31:0] list_address_q, list_count_q;
  logic irq_enable_q, irq_status_q;

  logic [11:0] write_offset, read_offset;
  logic unused;

  assign write_offset = {axil_req_i.awaddr[11:2], 2'b00};
  assign read_offset  = {axil_req_i.araddr[11:2], 2'b00};
  assign unused       = ^{axil_req_i.awaddr[1:0], axil_req_i.araddr[1:0]};

  // Writes: address and data are taken together.
  logic write, write_legal;
  logic bvalid_q;
  logic [1:0] bresp_q;
  logic [31:0] strobe;

  assign write = axil_req_i.awvalid && axil_req_i.wvalid && (!bvalid_q || axil_req_i.bready);
  assign strobe = {
    {8{axil_req_i.wstrb[3]}}, {8{axil_req_i.wstrb[2]}}, {8{axil_req_i.wstrb[1]}}, {8{axil_req_i.wstrb[0]}}
  };
  assign axil_rsp_o.awready = write;
  assign axil_rsp_o.wready = write;
  assign axil_rsp_o.bvalid = bvalid_q;
  assign axil_rsp_o.bresp = bresp_q;

  always_comb begin
    write_legal = 1'b0;
    if (write) unique case (write_offset)
      OffsetControl: write_legal = !(status_i.busy && axil_req_i.wdata[0] && axil_req_i.wstrb[0]);
      OffsetListAddress, OffsetListCount: write_legal = !status_i.busy;
      OffsetIrqEnable, OffsetIrqStatus: write_legal = 1'b1;
      default: write_legal = 1'b0;
    endcase
  end

  logic control, irq_clear, start, stop;

  assign control = write && write_legal && write_offset == OffsetControl && axil_req_i.wstrb[0];
  assign start = control && axil_req_i.wdata[0];
  assign stop = control && axil_req_i.wdata[1] && status_i.busy;
  assign irq_clear =
      write && write_offset == OffsetIrqStatus && axil_req_i.wdata[0] && axil_req_i.wstrb[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bvalid_q       <= 1'b0;
      bresp_q        <= Okay;
      list_address_q <= '0;
      list_count_q   <= '0;
      irq_enable_q   <= 1'b0;
      irq_status_q   <= 1'b0;
    end else begin
      if (write) begin
        bvalid_q <= 1'b1;
        bresp_q  <= write_legal ? Okay : SlaveError;
      end else if (axil_req_i.bready) begin
        bvalid_q <= 1'b0;
      end
      if (write && write_legal && write_offset == OffsetListAddress)
        list_address_q <= (list_address_q & ~strobe) | (axil_req_i.wdata & strobe);
      if (write && write_legal && write_offset == OffsetListCount)
        list_count_q <= (list_count_q & ~strobe) | (axil_req_i.wdata & strobe);
      if (write && write_offset == OffsetIrqEnable && axil_req_i.wstrb[0])
        irq_enable_q <= axil_req_i.wdata[0];
      irq_status_q <= ended_i || (irq_status_q && !irq_clear && !start);
    end
  end

  // Reads
  logic read, read_legal, failed;
  logic rvalid_q;
  logic [1:0] rresp_q;
  logic [31:0] rdata_q, value;

  assign failed = status_i.fault.valid && !status_i.busy;
  assign read = axil_req_i.arvalid && axil_rsp_o.arready;
  assign axil_rsp_o.arready = !rvalid_q || axil_req_i.rready;
  assign axil_rsp_o.rvalid = rvalid_q;
  assign axil_rsp_o.rresp = rresp_q;
  assign axil_rsp_o.rdata = rdata_q;

  always_comb begin
    value      = '0;
    read_legal = 1'b1;
    if (read) unique case (read_offset)
      OffsetId: value = Id;
      OffsetParams: value = Params;
      OffsetWeightRows: begin
        value      = WeightRows;
        read_legal = WeightRows != 0;
      end
      OffsetStatus: value = {29'b0, failed, status_i.done, status_i.busy};
      OffsetError: value = {28'b0, status_i.fault.error};
      OffsetFaultAddress: value = status_i.fault.address;
      OffsetListAddress: value = list_address_q;
      OffsetListCount: value = list_count_q;
      OffsetCompleted: value = status_i.completed;
      OffsetIrqEnable: value = {31'b0, irq_enable_q};
      OffsetIrqStatus: value = {31'b0, irq_status_q};
      OffsetCycles: value = status_i.cycles;
      OffsetStalls: value = status_i.stalls;
      OffsetWaitRead, OffsetWaitWrite, OffsetWaitWeights: begin
        read_legal = Waits != 0;
        if (Waits != 0) unique case (read_offset)
          OffsetWaitRead: value = status_i.wait_read;
          OffsetWaitWrite: value = status_i.wait_write;
          default: value = status_i.wait_weights;
        endcase
      end
      default: read_legal = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      rresp_q  <= Okay;
      rdata_q  <= '0;
    end else if (read) begin
      rvalid_q <= 1'b1;
      rresp_q  <= read_legal ? Okay : SlaveError;
      rdata_q  <= value;
    end else if (axil_req_i.rready) begin
      rvalid_q <= 1'b0;
    end
  end

  assign in_use_o = axil_req_i.awvalid || axil_req_i.wvalid || axil_req_i.arvalid || bvalid_q || rvalid_q;

  assign list_o = '{start: start, stop: stop, address: list_address_q, count: list_count_q};
  assign irq_o  = irq_enable_q && irq_status_q;

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {axil_rsp_o.awready, axil_rsp_o.wready, axil_rsp_o.bvalid, axil_rsp_o.arready, axil_rsp_o.rvalid,
       start, stop, irq_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start, !status_i.busy)
  `ATOLL_ASSERT_HELD(WriteAnswerIsHeld, bvalid_q && !axil_req_i.bready, bvalid_q, bresp_q)
  `ATOLL_ASSERT_HELD(ReadAnswerIsHeld, rvalid_q && !axil_req_i.rready, rvalid_q, {rdata_q, rresp_q})

endmodule
