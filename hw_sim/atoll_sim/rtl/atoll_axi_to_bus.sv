// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the AXI4 master of an accelerator to the system bus, one beat per cycle.
//
// Reads and writes take turns beat by beat. Read data wait here until the accelerator takes them;
// no beat is asked for without a place for its answer. A write burst is answered with the worst
// answer of its beats.
module atoll_axi_to_bus
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat, a power of two.
  parameter int unsigned DataBytes = 8,
  // Bytes of the AXI data port, a power of two from 2 to `DataBytes`.
  parameter int unsigned AxiBytes  = 8,
  // Beats under way at most, a power of two.
  parameter int unsigned Depth     = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4, names as at an AXI slave
  input  logic [           31:0] s_axi_araddr_i,
  input  logic [            7:0] s_axi_arlen_i,
  input  logic [            2:0] s_axi_arsize_i,
  input  logic [            1:0] s_axi_arburst_i,
  input  logic                   s_axi_arvalid_i,
  output logic                   s_axi_arready_o,
  output logic [ 8*AxiBytes-1:0] s_axi_rdata_o,
  output logic [            1:0] s_axi_rresp_o,
  output logic                   s_axi_rlast_o,
  output logic                   s_axi_rvalid_o,
  input  logic                   s_axi_rready_i,
  input  logic [           31:0] s_axi_awaddr_i,
  input  logic [            7:0] s_axi_awlen_i,
  input  logic [            2:0] s_axi_awsize_i,
  input  logic [            1:0] s_axi_awburst_i,
  input  logic                   s_axi_awvalid_i,
  output logic                   s_axi_awready_o,
  input  logic [ 8*AxiBytes-1:0] s_axi_wdata_i,
  input  logic [   AxiBytes-1:0] s_axi_wstrb_i,
  input  logic                   s_axi_wlast_i,
  input  logic                   s_axi_wvalid_i,
  output logic                   s_axi_wready_o,
  output logic [            1:0] s_axi_bresp_o,
  output logic                   s_axi_bvalid_o,
  input  logic                   s_axi_bready_i,
  // The system bus
  `ATOLL_BUS_MASTER_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(FitsTheBus, $onehot(AxiBytes) && AxiBytes >= 2 && AxiBytes <= DataBytes)
  `ATOLL_ASSERT_INIT(LegalDepth, $onehot(Depth) && Depth >= 2)

  localparam int unsigned Lanes     = DataBytes / AxiBytes;
  localparam int unsigned LaneBits  = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned CountBits = $clog2(Depth) + 1;
  localparam int unsigned BusBits   = $clog2(DataBytes);

  // What a beat under way is.
  typedef struct packed {
    logic                we;
    logic                last;
    logic [LaneBits-1:0] lane;
  } beat_t;

  // An answer to a read beat.
  typedef struct packed {
    logic [8*AxiBytes-1:0] data;
    resp_e                 resp;
    logic                  last;
  } read_t;

  logic read_beat, read_last, write_beat, write_last, read_allowed, write_allowed;
  logic [31:0] read_addr, write_addr, addr;
  logic [AxiBytes-1:0] read_bytes, write_bytes, bytes;
  logic taken, choose_write, held_q, held_we_q, turn_q;
  logic [LaneBits-1:0] lane;
  beat_t issued, oldest;
  logic beats_valid, beats_full, reads_full, writes_full;
  logic [CountBits-1:0] read_credit_q, bursts_q;
  read_t arrived, offered;
  resp_e worst, worst_q;

  // All of it rests between beats.
  logic clk;

  atoll_rest_clock u_clock (
    .clk_i,
    .rst_ni,
    .busy_i(s_axi_arvalid_i || s_axi_awvalid_i || read_beat || write_beat || beats_valid
        || s_axi_rvalid_o || s_axi_bvalid_o),
    .clk_o (clk)
  );

  atoll_axi_burst #(
    .AxiBytes(AxiBytes)
  ) u_read (
    .clk_i       (clk),
    .rst_ni,
    .addr_i      (s_axi_araddr_i),
    .len_i       (s_axi_arlen_i),
    .size_i      (s_axi_arsize_i),
    .burst_i     (s_axi_arburst_i),
    .valid_i     (s_axi_arvalid_i),
    .ready_o     (s_axi_arready_o),
    .allow_i     (1'b1),
    .beat_valid_o(read_beat),
    .beat_addr_o (read_addr),
    .beat_bytes_o(read_bytes),
    .beat_last_o (read_last),
    .taken_i     (taken && !we_o)
  );

  atoll_axi_burst #(
    .AxiBytes(AxiBytes)
  ) u_write (
    .clk_i       (clk),
    .rst_ni,
    .addr_i      (s_axi_awaddr_i),
    .len_i       (s_axi_awlen_i),
    .size_i      (s_axi_awsize_i),
    .burst_i     (s_axi_awburst_i),
    .valid_i     (s_axi_awvalid_i),
    .ready_o     (s_axi_awready_o),
    .allow_i     (bursts_q != CountBits'(Depth)),
    .beat_valid_o(write_beat),
    .beat_addr_o (write_addr),
    .beat_bytes_o(write_bytes),
    .beat_last_o (write_last),
    .taken_i     (taken && we_o)
  );

  // A request, once shown, stays until it is taken.
  assign read_allowed   = read_beat && read_credit_q != '0 && !beats_full;
  assign write_allowed  = write_beat && s_axi_wvalid_i && !beats_full;
  assign choose_write   = write_allowed && (turn_q || !read_allowed);
  assign we_o           = held_q ? held_we_q : choose_write;
  assign valid_o        = held_q || read_allowed || write_allowed;
  assign taken          = valid_o && ready_i;
  assign s_axi_wready_o = taken && we_o;

  // Nothing is worked out without a request, which saves the simulator time.
  always_comb begin
    addr    = '0;
    bytes   = '0;
    lane    = '0;
    be_o    = '0;
    wdata_o = '0;
    if (valid_o) begin
      addr    = we_o ? write_addr : read_addr;
      bytes   = we_o ? write_bytes & s_axi_wstrb_i : read_bytes;
      lane    = Lanes > 1 ? LaneBits'(addr >> $clog2(AxiBytes)) : '0;
      be_o    = DataBytes'(bytes) << (AxiBytes * lane);
      wdata_o = {Lanes{s_axi_wdata_i}};
    end
  end
  assign addr_o = {addr[31:BusBits], BusBits'(0)};
  assign issued = '{we: we_o, last: we_o ? write_last : read_last, lane: lane};

  atoll_fifo #(
    .Width($bits(beat_t)),
    .Depth(Depth)
  ) u_beats (
    .clk_i  (clk),
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i (issued),
    .pop_i  (rvalid_i),
    .valid_o(beats_valid),
    .data_o (oldest),
    .full_o (beats_full)
  );

  assign arrived = '{
          data: rdata_i[8*AxiBytes*oldest.lane+:8*AxiBytes],
          resp: resp_i,
          last: oldest.last
      };

  atoll_fifo #(
    .Width($bits(read_t)),
    .Depth(Depth)
  ) u_reads (
    .clk_i  (clk),
    .rst_ni,
    .flush_i(1'b0),
    .push_i (rvalid_i && !oldest.we),
    .data_i (arrived),
    .pop_i  (s_axi_rvalid_o && s_axi_rready_i),
    .valid_o(s_axi_rvalid_o),
    .data_o (offered),
    .full_o (reads_full)
  );

  assign s_axi_rdata_o  = offered.data;
  assign s_axi_rresp_o  = offered.resp;
  assign s_axi_rlast_o  = offered.last;

  assign worst = resp_i > worst_q ? resp_i : worst_q;

  atoll_fifo #(
    .Width(2),
    .Depth(Depth)
  ) u_writes (
    .clk_i  (clk),
    .rst_ni,
    .flush_i(1'b0),
    .push_i (rvalid_i && oldest.we && oldest.last),
    .data_i (worst),
    .pop_i  (s_axi_bvalid_o && s_axi_bready_i),
    .valid_o(s_axi_bvalid_o),
    .data_o (s_axi_bresp_o),
    .full_o (writes_full)
  );

  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q        <= 1'b0;
      held_we_q     <= 1'b0;
      turn_q        <= 1'b0;
      read_credit_q <= CountBits'(Depth);
      bursts_q      <= '0;
      worst_q       <= RespOkay;
    end else begin
      held_q    <= valid_o && !ready_i;
      held_we_q <= we_o;
      if (taken) turn_q <= !we_o;
      if (taken || s_axi_rvalid_o) begin
        read_credit_q <= read_credit_q - CountBits'(taken && !we_o)
            + CountBits'(s_axi_rvalid_o && s_axi_rready_i);
      end
      if (s_axi_awvalid_i || s_axi_bvalid_o) begin
        bursts_q <= bursts_q + CountBits'(s_axi_awvalid_i && s_axi_awready_o)
            - CountBits'(s_axi_bvalid_o && s_axi_bready_i);
      end
      if (rvalid_i && oldest.we) worst_q <= oldest.last ? RespOkay : worst;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {valid_o, s_axi_arready_o, s_axi_rvalid_o, s_axi_awready_o, s_axi_wready_o, s_axi_bvalid_o})
  `ATOLL_ASSERT_IF(LastBeatIsMarked, s_axi_wvalid_i && s_axi_wready_o, s_axi_wlast_i == write_last)
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, beats_valid)
  `ATOLL_ASSERT_IF(AnswersHaveAPlace,
      rvalid_i, oldest.we ? !(oldest.last && writes_full) : !reads_full)
  `ATOLL_ASSERT_HELD(RequestHolds, valid_o && !ready_i, valid_o, {we_o, addr_o})

endmodule
