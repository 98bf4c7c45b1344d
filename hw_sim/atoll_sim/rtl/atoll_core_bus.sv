// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Leads a core's two ports, one for instructions and one for data, to the system bus.
//
// Both speak OBI: a request is taken in a cycle with `req` and `gnt`, keeps its payload until then, and
// gets one `rvalid` later, in order. Data go first. Cores decide what to fetch in the cycle in which
// their data are taken, so requests for instructions wait in a queue, on whose state alone `gnt`
// depends. The 64 KiB from `LocalOrigin` on are the core's own (see atoll_core_local.sv) and never
// reach the bus, but for the software interrupts of all cores, if the core shares them.
module atoll_core_bus
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes   = 8,
  // Where the core's own registers lie, a multiple of 64 KiB.
  parameter logic [31:0] LocalOrigin = '0,
  // The first 16 KiB there are on the bus: the registers msip of all cores.
  parameter bit          SharesMsip  = 1'b0,
  // The number by which the chip knows the core.
  parameter int unsigned Hart        = 0,
  // Requests that may wait for an answer.
  parameter int unsigned Outstanding = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Instruction port: reads of whole words
  input  logic                   instr_req_i,
  output logic                   instr_gnt_o,
  input  logic [           31:0] instr_addr_i,
  output logic                   instr_rvalid_o,
  output logic [           31:0] instr_rdata_o,
  output logic                   instr_err_o,
  // Data port; `data_be_i` tells the bytes of a load, too
  input  logic                   data_req_i,
  output logic                   data_gnt_o,
  input  logic                   data_we_i,
  input  logic [            3:0] data_be_i,
  input  logic [           31:0] data_addr_i,
  input  logic [           31:0] data_wdata_i,
  output logic                   data_rvalid_o,
  output logic [           31:0] data_rdata_o,
  output logic                   data_err_o,
  // Request to the bus
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic                   we_o,
  output logic [           31:0] addr_o,
  output logic [8*DataBytes-1:0] wdata_o,
  output logic [  DataBytes-1:0] be_o,
  output logic                   instr_o,
  // Answer of the bus
  input  logic                   rvalid_i,
  input  logic [8*DataBytes-1:0] rdata_i,
  input  logic                   err_i,
  // The core's timer, and that it stands still for good
  output logic                   timer_o,
  output logic                   halted_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)
  `ATOLL_ASSERT_INIT(LegalOrigin, LocalOrigin[15:0] == '0)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  typedef struct packed {
    logic                instr;
    logic [LaneBits-1:0] lane;
  } request_t;

  request_t asked, awaited;
  logic of_fetch, fetch, fetch_full, taken, full, awaiting, shared, own, own_taken, own_rvalid;
  logic held_q, held_instr_q, unused_low_bits;
  logic [31:0] fetch_addr, own_rdata, addr, word;

  assign unused_low_bits = ^addr[1:0];

  // A request that the bus did not take at once is not exchanged for another.
  assign shared      = SharesMsip && data_addr_i[15:14] == 2'b00;
  assign own         = data_req_i && data_addr_i[31:16] == LocalOrigin[31:16] && !shared;
  assign of_fetch    = held_q ? held_instr_q : !data_req_i;
  assign asked       = '{instr: of_fetch, lane: addr[2+:LaneBits]};
  assign valid_o     = !full && (of_fetch ? fetch : data_req_i && !own);
  assign taken       = valid_o && ready_i;
  // Own registers answer at once, so that earlier data have to be there.
  assign own_taken   = own && !awaiting && !held_q;
  assign instr_gnt_o = !fetch_full;
  assign data_gnt_o  = taken && !of_fetch || own_taken;

  assign addr    = of_fetch ? fetch_addr : data_addr_i;
  assign addr_o  = {addr[31:2+LaneBits], (2 + LaneBits)'(0)};
  assign we_o    = !of_fetch && data_we_i;
  assign wdata_o = {Lanes{data_wdata_i}};
  assign be_o    = DataBytes'(of_fetch ? 4'hf : data_be_i) << (4 * addr[2+:LaneBits]);
  assign instr_o = of_fetch;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q       <= 1'b0;
      held_instr_q <= 1'b0;
    end else begin
      held_q       <= valid_o && !ready_i;
      held_instr_q <= of_fetch;
    end
  end

  atoll_fifo #(
    .Width(32),
    .Depth(2)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (instr_req_i && instr_gnt_o),
    .data_i (instr_addr_i),
    .pop_i  (taken && of_fetch),
    .valid_o(fetch),
    .data_o (fetch_addr),
    .full_o (fetch_full)
  );

  atoll_fifo #(
    .Width($bits(request_t)),
    .Depth(Outstanding)
  ) u_awaited (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i (asked),
    .pop_i  (rvalid_i),
    .valid_o(awaiting),
    .data_o (awaited),
    .full_o (full)
  );

  atoll_core_local #(
    .Hart(Hart)
  ) u_local (
    .clk_i,
    .rst_ni,
    .valid_i (own_taken),
    .we_i    (data_we_i),
    .addr_i  (data_addr_i[15:0]),
    .wdata_i (data_wdata_i),
    .be_i    (data_be_i),
    .rvalid_o(own_rvalid),
    .rdata_o (own_rdata),
    .timer_o,
    .halted_o
  );

  assign word           = rdata_i[32*awaited.lane+:32];
  assign instr_rvalid_o = rvalid_i && awaited.instr;
  assign instr_rdata_o  = word;
  assign instr_err_o    = err_i;
  assign data_rvalid_o  = own_rvalid || rvalid_i && !awaited.instr;
  assign data_rdata_o   = own_rvalid ? own_rdata : word;
  assign data_err_o     = !own_rvalid && err_i;

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, instr_gnt_o, data_gnt_o})
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, awaiting)
  `ATOLL_ASSERT(OneAnswerAtATime, !(own_rvalid && rvalid_i && !awaited.instr))
  `ATOLL_ASSERT_HELD(RequestIsKept, valid_o && !ready_i, valid_o, {addr_o, we_o, be_o, instr_o})
  `ATOLL_ASSERT_IF(NeverWithoutBytes, valid_o, be_o != '0)

endmodule
