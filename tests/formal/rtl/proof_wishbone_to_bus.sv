// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from a four-byte Wishbone port to the bus of eight bytes, for classic and
// for pipelined cycles.
module proof_wishbone_to_bus
  import atoll_bus_pkg::*;
#(
  parameter bit          Pipelined = 1'b0,
  parameter int unsigned Depth     = 4
) (
  input logic        clk_i,
  input logic        cyc_i,
  input logic        stb_i,
  input logic        we_i,
  input logic [31:0] adr_i,
  input logic [ 3:0] sel_i,
  input logic [31:0] dat_i,
  input logic        ready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input resp_e       resp_i,
  // The watched beat is this one
  input logic        pick_i
);

  logic rst_n = 1'b0;
  logic ack, err, stall, valid, we;
  logic [31:0] dat, addr;
  logic [63:0] wdata;
  logic [7:0] be;

  atoll_wishbone_to_bus #(
    .DataBytes(8),
    .PortBytes(4),
    .Pipelined(Pipelined),
    .Depth    (Depth)
  ) u_dut (
    .clk_i,
    .rst_ni      (rst_n),
    .s_wb_cyc_i  (cyc_i),
    .s_wb_stb_i  (stb_i),
    .s_wb_we_i   (we_i),
    .s_wb_adr_i  (adr_i),
    .s_wb_sel_i  (sel_i),
    .s_wb_dat_w_i(dat_i),
    .s_wb_dat_r_o(dat),
    .s_wb_ack_o  (ack),
    .s_wb_err_o  (err),
    .s_wb_stall_o(stall),
    .valid_o     (valid),
    .ready_i,
    .we_o        (we),
    .addr_o      (addr),
    .wdata_o     (wdata),
    .be_o        (be),
    .rvalid_i,
    .rdata_i,
    .resp_i
  );

  // A beat is started when the port takes it, taken when the bus does
  logic started, taken, ends, starts, answers, takes, unused_awaits, unused_takes;
  logic [3:0] awaited, waiting, untaken;
  // The watched beat, and whether the accelerator has given it up
  logic [68:0] shown, shown_q, beat_q, watched;
  logic given_up_q, waits_q, stays_q, bytes_right;
  logic [104:0] asked, asked_q;

  assign shown   = {adr_i, we_i, sel_i, we_i ? dat_i : 32'd0};
  assign asked   = {addr, we, be, we ? wdata : 64'd0};
  assign taken   = valid && ready_i;
  assign started = Pipelined ? cyc_i && stb_i && !stall : taken;
  assign ends    = ack || err;

  watched_order #(
    .CountBits(4)
  ) u_watched (
    .clk_i,
    .rst_ni    (rst_n),
    .pick_i,
    .asked_i   (started),
    .answered_i(rvalid_i),
    .asks_o    (starts),
    .awaits_o  (unused_awaits),
    .answers_o (answers),
    .awaited_o (awaited)
  );

  // Pipelined beats wait for the bus
  watched_order #(
    .CountBits(4)
  ) u_waiting (
    .clk_i,
    .rst_ni    (rst_n),
    .pick_i,
    .asked_i   (started),
    .answered_i(taken),
    .asks_o    (unused_takes),
    .awaits_o  (),
    .answers_o (takes),
    .awaited_o (waiting)
  );

  assign untaken = awaited - waiting;
  assign watched = Pipelined ? beat_q : shown;

  always_comb begin
    bytes_right = we == watched[36] && addr == {watched[68:40], 3'b0};
    for (int unsigned i = 0; i < 8; i++) begin
      logic lane;
      lane = i >= 4;
      if (be[i] != (lane == watched[39] && watched[32+i%4])) bytes_right = 1'b0;
      if (we && be[i] && wdata[8*i+:8] != watched[8*(i%4)+:8]) bytes_right = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    rst_n   <= 1'b1;
    waits_q <= rst_n && valid && !ready_i;
    stays_q <= rst_n && valid && !ready_i;
    shown_q <= shown;
    asked_q <= asked;
    if (starts) beat_q <= shown;
    given_up_q <= rst_n && !starts && (given_up_q || !cyc_i);
    if (starts) given_up_q <= !cyc_i;
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The bus answers only what it took, a cycle later or more.
      // Asserted: atoll_wishbone_to_bus.OnlyAwaitedAnswers
      answers_asked : assume (!rvalid_i || untaken != '0);
      // In a classic cycle the accelerator keeps its access until it is answered.
      // Asserted: atoll_channel_monitor.atoll_device_wavers
      keeps : assume (Pipelined || !waits_q || (cyc_i && stb_i && shown == shown_q));

      // The watched beat reaches the bus once, byte for byte as it was shown, in its turn.
      right_beat : assert (!(Pipelined ? takes : starts) || bytes_right);
      // The bus is asked only for beats that were started, or are shown in a classic cycle.
      only_beats : assert (!valid || (Pipelined ? waiting != '0 : cyc_i && stb_i && awaited == '0));
      // The bus is asked as soon as there is a beat for it.
      never_idle : assert (
          !(Pipelined ? waiting != '0 : cyc_i && stb_i && awaited == '0) || valid);
      // The port stalls only while all places are taken, or two beats wait for the bus.
      stalls_when_full : assert (stall == (Pipelined && (awaited == 4'(Depth) || waiting == 4'd2)));
      // Never more beats are under way than there are places.
      places : assert (awaited <= 4'(Depth));
      // What the bus is asked stays until it is taken.
      holds : assert (!stays_q || (valid && asked == asked_q));
      // The watched beat is answered in the cycle of the bus's answer, unless it was given up.
      answered : assert (!(answers && cyc_i && !given_up_q)
          || (ack == (resp_i == RespOkay) && err == (resp_i != RespOkay)));
      // Its data are those of its lane.
      right_lane : assert (!answers || dat == (beat_q[39] ? rdata_i[63:32] : rdata_i[31:0]));
      // A beat that was given up is not answered.
      given_up_is_silent : assert (!(answers && (given_up_q || !cyc_i)) || !ends);
      // No answer is made up.
      none_made_up : assert (!ends || (rvalid_i && cyc_i && ack != err));
    end
  end

endmodule
