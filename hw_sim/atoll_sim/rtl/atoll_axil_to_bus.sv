// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the AXI4-Lite data port of an accelerator to the system bus, one beat per cycle.
//
// Reads and writes take turns. Address and data of a write may come in either order; what comes first
// waits here. No beat is asked for without a place for its answer, which waits here until the
// accelerator takes it.
module atoll_axil_to_bus
  import atoll_bus_pkg::*;
#(
  // Bytes of a bus beat, a power of two.
  parameter int unsigned DataBytes = 8,
  // Bytes of the accelerator's data port, a power of two from 4 to `DataBytes`.
  parameter int unsigned PortBytes = 8,
  // Reads under way at most, and writes likewise, a power of two of at least 2.
  parameter int unsigned Depth     = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4-Lite, names as at a slave
  input  logic [           31:0] s_axil_awaddr_i,
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [8*PortBytes-1:0] s_axil_wdata_i,
  input  logic [  PortBytes-1:0] s_axil_wstrb_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  output logic [            1:0] s_axil_bresp_o,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  input  logic [           31:0] s_axil_araddr_i,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  output logic [8*PortBytes-1:0] s_axil_rdata_o,
  output logic [            1:0] s_axil_rresp_o,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,
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

  // What a beat under way is.
  typedef struct packed {
    logic                we;
    logic [LaneBits-1:0] lane;
  } beat_t;

  // An answer to a read.
  typedef struct packed {
    logic [8*PortBytes-1:0] data;
    resp_e                  resp;
  } read_t;

  logic address_valid, address_full, data_valid, data_full, taken, took_read, took_write;
  logic read_allowed, write_allowed, choose_write, held_q, held_we_q, turn_q;
  logic [31:0] write_addr, addr;
  logic [8*PortBytes-1:0] write_data;
  logic [PortBytes-1:0] write_strobe;
  logic [LaneBits-1:0] lane;
  beat_t oldest;
  logic beats_valid, beats_full, reads_full, writes_full, r_taken, b_taken;
  logic [CountBits-1:0] read_credit_q, write_credit_q;
  read_t arrived, offered;

  assign s_axil_awready_o = !address_full;
  assign s_axil_wready_o  = !data_full;

  atoll_fifo #(
    .Width(32),
    .Depth(2)
  ) u_addresses (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (s_axil_awvalid_i && s_axil_awready_o),
    .data_i (s_axil_awaddr_i),
    .pop_i  (took_write),
    .valid_o(address_valid),
    .data_o (write_addr),
    .full_o (address_full)
  );

  atoll_fifo #(
    .Width(9 * PortBytes),
    .Depth(2)
  ) u_data (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (s_axil_wvalid_i && s_axil_wready_o),
    .data_i ({s_axil_wdata_i, s_axil_wstrb_i}),
    .pop_i  (took_write),
    .valid_o(data_valid),
    .data_o ({write_data, write_strobe}),
    .full_o (data_full)
  );

  // A request, once shown, stays until it is taken.
  assign read_allowed     = s_axil_arvalid_i && read_credit_q != '0 && !beats_full;
  assign write_allowed    = address_valid && data_valid && write_credit_q != '0 && !beats_full;
  assign choose_write     = write_allowed && (turn_q || !read_allowed);
  assign we_o             = held_q ? held_we_q : choose_write;
  assign valid_o          = held_q || read_allowed || write_allowed;
  assign taken            = valid_o && ready_i;
  assign took_read        = taken && !we_o;
  assign took_write       = taken && we_o;
  assign s_axil_arready_o = took_read;

  assign addr    = we_o ? write_addr : s_axil_araddr_i;
  assign lane    = Lanes > 1 ? LaneBits'(addr >> $clog2(PortBytes)) : '0;
  assign addr_o  = {addr[31:BusBits], BusBits'(0)};
  assign wdata_o = {Lanes{write_data}};
  assign be_o    = DataBytes'(we_o ? write_strobe : {PortBytes{1'b1}}) << (PortBytes * lane);

  atoll_fifo #(
    .Width($bits(beat_t)),
    .Depth(2 * Depth)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (taken),
    .data_i ({we_o, lane}),
    .pop_i  (rvalid_i),
    .valid_o(beats_valid),
    .data_o (oldest),
    .full_o (beats_full)
  );

  assign arrived = '{data: rdata_i[8*PortBytes*oldest.lane+:8*PortBytes], resp: resp_i};

  atoll_fifo #(
    .Width($bits(read_t)),
    .Depth(Depth)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (rvalid_i && !oldest.we),
    .data_i (arrived),
    .pop_i  (r_taken),
    .valid_o(s_axil_rvalid_o),
    .data_o (offered),
    .full_o (reads_full)
  );

  assign s_axil_rdata_o = offered.data;
  assign s_axil_rresp_o = offered.resp;
  assign r_taken        = s_axil_rvalid_o && s_axil_rready_i;

  atoll_fifo #(
    .Width(2),
    .Depth(Depth)
  ) u_writes (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (rvalid_i && oldest.we),
    .data_i (resp_i),
    .pop_i  (b_taken),
    .valid_o(s_axil_bvalid_o),
    .data_o (s_axil_bresp_o),
    .full_o (writes_full)
  );

  assign b_taken = s_axil_bvalid_o && s_axil_bready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q         <= 1'b0;
      held_we_q      <= 1'b0;
      turn_q         <= 1'b0;
      read_credit_q  <= CountBits'(Depth);
      write_credit_q <= CountBits'(Depth);
    end else begin
      held_q    <= valid_o && !ready_i;
      held_we_q <= we_o;
      if (taken) turn_q <= !we_o;
      read_credit_q  <= read_credit_q - CountBits'(took_read) + CountBits'(r_taken);
      write_credit_q <= write_credit_q - CountBits'(took_write) + CountBits'(b_taken);
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {valid_o, s_axil_arready_o, s_axil_rvalid_o, s_axil_awready_o, s_axil_wready_o,
       s_axil_bvalid_o})
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, beats_valid)
  `ATOLL_ASSERT_IF(AnswersHaveAPlace, rvalid_i, oldest.we ? !writes_full : !reads_full)
  `ATOLL_ASSERT_HELD(RequestHolds, valid_o && !ready_i, valid_o, {we_o, addr_o, be_o})

endmodule
