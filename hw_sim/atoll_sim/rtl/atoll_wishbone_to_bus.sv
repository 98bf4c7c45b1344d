// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the Wishbone data port of an accelerator to the system bus.
//
// Classic cycles have one beat under way, which `ack` or `err` ends. Pipelined ones (`Pipelined`) start
// a beat in each cycle without `stall`, which waits here until the bus takes it. Both kinds of errors of
// the bus become `err`. An accelerator that drops `cyc` gives up the beats that it started: the bus still
// does them, and their answers stay here.
module atoll_wishbone_to_bus
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat, a power of two.
  parameter int unsigned DataBytes = 8,
  // Bytes of the accelerator's data port, a power of two from 4 to `DataBytes`.
  parameter int unsigned PortBytes = 8,
  // The accelerator makes pipelined cycles; otherwise classic ones, and `stall` stays low.
  parameter bit          Pipelined = 1'b0,
  // Beats under way at most in pipelined cycles, a power of two of at least 2.
  parameter int unsigned Depth     = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Wishbone B4, names as at a slave; `adr` counts bytes
  input  logic                   s_wb_cyc_i,
  input  logic                   s_wb_stb_i,
  input  logic                   s_wb_we_i,
  input  logic [           31:0] s_wb_adr_i,
  input  logic [  PortBytes-1:0] s_wb_sel_i,
  input  logic [8*PortBytes-1:0] s_wb_dat_w_i,
  output logic [8*PortBytes-1:0] s_wb_dat_r_o,
  output logic                   s_wb_ack_o,
  output logic                   s_wb_err_o,
  output logic                   s_wb_stall_o,
  // The system bus
  `ATOLL_BUS_MASTER_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(FitsTheBus, $onehot(PortBytes) && PortBytes >= 4 && PortBytes <= DataBytes)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned Lanes    = DataBytes / PortBytes;
  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned BusBits  = $clog2(DataBytes);
  localparam int unsigned CountBits = $clog2(Depth) + 1;

  typedef struct packed {
    logic                   we;
    logic [31:0]            addr;
    logic [PortBytes-1:0]   sel;
    logic [8*PortBytes-1:0] data;
  } request_t;

  request_t shown, asked;
  logic started, taken, lanes_full, awaiting, live;
  logic [LaneBits-1:0] lane, oldest;
  // Beats started and not answered, and how many of them the accelerator gave up: the oldest.
  logic [CountBits-1:0] outstanding, outstanding_q, stale_q;

  assign shown = '{we: s_wb_we_i, addr: s_wb_adr_i, sel: s_wb_sel_i, data: s_wb_dat_w_i};

  if (Pipelined) begin : gen_pipelined
    logic full;
    assign s_wb_stall_o = full || outstanding_q == CountBits'(Depth);
    assign started      = s_wb_cyc_i && s_wb_stb_i && !s_wb_stall_o;
    atoll_fifo #(
      .Width($bits(request_t)),
      .Depth(2)
    ) u_requests (
      .clk_i,
      .rst_ni,
      .flush_i(1'b0),
      .push_i (started),
      .data_i (shown),
      .pop_i  (taken),
      .valid_o(valid_o),
      .data_o (asked),
      .full_o (full)
    );
  end else begin : gen_classic
    assign s_wb_stall_o = 1'b0;
    assign started      = taken;
    assign valid_o      = s_wb_cyc_i && s_wb_stb_i && outstanding_q == '0;
    assign asked        = shown;
    `ATOLL_ASSERT(OneBeat, outstanding_q <= CountBits'(1))
  end

  assign lane    = Lanes > 1 ? LaneBits'(asked.addr >> $clog2(PortBytes)) : '0;
  assign we_o    = asked.we;
  assign addr_o  = {asked.addr[31:BusBits], BusBits'(0)};
  assign wdata_o = {Lanes{asked.data}};
  assign be_o    = DataBytes'(asked.sel) << (PortBytes * lane);
  assign taken   = valid_o && ready_i;

  atoll_fifo #(
    .Width(LaneBits),
    .Depth(Depth)
  ) u_lanes (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i (lane),
    .pop_i  (rvalid_i),
    .valid_o(awaiting),
    .data_o (oldest),
    .full_o (lanes_full)
  );

  assign outstanding = outstanding_q + CountBits'(started) - CountBits'(rvalid_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
      stale_q       <= '0;
    end else begin
      outstanding_q <= outstanding;
      if (!s_wb_cyc_i) stale_q <= outstanding;
      else if (rvalid_i && stale_q != '0) stale_q <= stale_q - CountBits'(1);
    end
  end

  assign live         = s_wb_cyc_i && stale_q == '0;
  assign s_wb_dat_r_o = rdata_i[8*PortBytes*oldest+:8*PortBytes];
  assign s_wb_ack_o   = rvalid_i && live && resp_i == RespOkay;
  assign s_wb_err_o   = rvalid_i && live && resp_i != RespOkay;

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, s_wb_ack_o, s_wb_err_o, s_wb_stall_o})
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, awaiting)
  `ATOLL_ASSERT_IF(BeatsHaveAPlace, taken, !lanes_full)
  `ATOLL_ASSERT(NeverMoreThanUnderWay, stale_q <= outstanding_q)
  `ATOLL_ASSERT_IF(OnlyWithinACycle, s_wb_ack_o || s_wb_err_o, s_wb_cyc_i)
  // In classic cycles the accelerator must keep it (docs/platform.md).
  `ATOLL_ASSERT_HELD(RequestHolds, valid_o && !ready_i, valid_o, {we_o, addr_o, be_o})

endmodule
