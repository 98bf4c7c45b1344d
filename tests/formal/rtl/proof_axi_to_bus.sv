// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from a two-byte AXI4 port to the bus of four bytes, with two beats under way.
// Beats and bursts are numbered modulo 8, and those of one number, any, are watched: never are so many under
// way.
module proof_axi_to_bus
  import atoll_bus_pkg::*;
#(
  parameter int unsigned Depth = 2
) (
  input logic        clk_i,
  input logic [31:0] araddr_i,
  input logic [ 7:0] arlen_i,
  input logic [ 2:0] arsize_i,
  input logic [ 1:0] arburst_i,
  input logic        arvalid_i,
  input logic        rready_i,
  input logic [31:0] awaddr_i,
  input logic [ 7:0] awlen_i,
  input logic [ 2:0] awsize_i,
  input logic [ 1:0] awburst_i,
  input logic        awvalid_i,
  input logic [15:0] wdata_i,
  input logic [ 1:0] wstrb_i,
  input logic        wlast_i,
  input logic        wvalid_i,
  input logic        bready_i,
  input logic        ready_i,
  input logic        rvalid_i,
  input logic [31:0] rdata_i,
  input resp_e       resp_i,
  // The number that is watched: the value in the first cycle counts
  input logic [ 2:0] watched_i
);

  logic rst_n = 1'b0;
  logic arready, rlast, rvalid, awready, wready, bvalid, valid, we;
  logic [15:0] rdata;
  logic [1:0] rresp, bresp;
  logic [31:0] addr, wdata;
  logic [3:0] be;

  atoll_axi_to_bus #(
    .DataBytes(4),
    .AxiBytes (2),
    .Depth    (Depth)
  ) u_dut (
    .clk_i,
    .rst_ni         (rst_n),
    .s_axi_araddr_i (araddr_i),
    .s_axi_arlen_i  (arlen_i),
    .s_axi_arsize_i (arsize_i),
    .s_axi_arburst_i(arburst_i),
    .s_axi_arvalid_i(arvalid_i),
    .s_axi_arready_o(arready),
    .s_axi_rdata_o  (rdata),
    .s_axi_rresp_o  (rresp),
    .s_axi_rlast_o  (rlast),
    .s_axi_rvalid_o (rvalid),
    .s_axi_rready_i (rready_i),
    .s_axi_awaddr_i (awaddr_i),
    .s_axi_awlen_i  (awlen_i),
    .s_axi_awsize_i (awsize_i),
    .s_axi_awburst_i(awburst_i),
    .s_axi_awvalid_i(awvalid_i),
    .s_axi_awready_o(awready),
    .s_axi_wdata_i  (wdata_i),
    .s_axi_wstrb_i  (wstrb_i),
    .s_axi_wlast_i  (wlast_i),
    .s_axi_wvalid_i (wvalid_i),
    .s_axi_wready_o (wready),
    .s_axi_bresp_o  (bresp),
    .s_axi_bvalid_o (bvalid),
    .s_axi_bready_i (bready_i),
    .valid_o        (valid),
    .ready_i,
    .we_o           (we),
    .addr_o         (addr),
    .wdata_o        (wdata),
    .be_o           (be),
    .rvalid_i,
    .rdata_i,
    .resp_i
  );

  // A burst of which beats are left, and the number of its next beat
  typedef struct packed {
    logic        active;
    logic [31:0] addr;
    logic [7:0]  len;
    logic        wide;
    logic [7:0]  beat;
  } burst_t;

  burst_t read_q, write_q;
  logic [31:0] read_addr, write_addr;
  logic taken, read_there, write_there, stays_q, w_stays_q, b_stays_q, r_stays_q;
  logic read_right, write_right;
  // Beats that the bus owes an answer, the oldest first: whether they write, and end their burst
  logic [1:0] owes_we_q, owes_last_q;
  logic [1:0] owed_q;
  // Numbers of the next read beat at the bus, of its next answer there and at the port; of the next burst
  // of writes, likewise
  logic [2:0] beat_q, done_q, r_q, burst_q, ended_q, b_q, watched_q;
  // What was seen of those watched
  logic lane_q, last_q;
  logic [15:0] data_q;
  resp_e resp_q, burst_resp_q, worst_q, worst;
  logic [68:0] asked, asked_q;
  logic [17:0] w_q;
  logic [18:0] r_payload_q;
  logic [1:0] b_payload_q;

  // The address of a beat: the first one's as it is, those of others aligned to the size
  function automatic logic [31:0] address(burst_t burst);
    logic [11:0] offset;
    offset = burst.wide ? {burst.addr[11:1] + {3'b0, burst.beat}, 1'b0}
        : burst.addr[11:0] + {4'b0, burst.beat};
    if (burst.beat == '0) offset = burst.addr[11:0];
    return {burst.addr[31:12], offset};
  endfunction

  // Whether byte `i` of the port belongs to a beat
  function automatic logic covers(burst_t burst, logic [31:0] at, logic i);
    return i == at[0] || (burst.wide && i > at[0]);
  endfunction

  assign read_addr   = address(read_q);
  assign write_addr  = address(write_q);
  assign taken       = valid && ready_i;
  assign asked       = {addr, we, be, we ? wdata : '0};
  assign read_there  = read_q.active && 3'(beat_q - r_q) < 3'(Depth) && owed_q < 2'(Depth);
  assign write_there = write_q.active && wvalid_i && owed_q < 2'(Depth);
  assign worst       = resp_i > worst_q ? resp_i : worst_q;

  always_comb begin
    read_right  = addr == {read_addr[31:2], 2'b0};
    write_right = addr == {write_addr[31:2], 2'b0};
    for (int unsigned i = 0; i < 4; i++) begin
      logic lane, byte_of;
      lane    = i >= 2;
      byte_of = i % 2 == 1;
      if (be[i] != (lane == read_addr[1] && covers(read_q, read_addr, byte_of))) read_right = 1'b0;
      if (be[i] != (lane == write_addr[1] && covers(write_q, write_addr, byte_of) && wstrb_i[byte_of]))
        write_right = 1'b0;
      if (be[i] && wdata[8*i+:8] != wdata_i[8*byte_of+:8]) write_right = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    rst_n       <= 1'b1;
    stays_q     <= rst_n && valid && !ready_i;
    w_stays_q   <= rst_n && wvalid_i && !wready;
    b_stays_q   <= rst_n && bvalid && !bready_i;
    r_stays_q   <= rst_n && rvalid && !rready_i;
    asked_q     <= asked;
    w_q         <= {wdata_i, wstrb_i};
    r_payload_q <= {rdata, rresp, rlast};
    b_payload_q <= bresp;
    if (!rst_n) begin
      watched_q <= watched_i;
      read_q    <= '0;
      write_q   <= '0;
      owed_q    <= '0;
      {beat_q, done_q, r_q, burst_q, ended_q, b_q} <= '0;
      worst_q   <= RespOkay;
    end else begin
      if (taken && !we) begin
        read_q.beat <= read_q.beat + 8'd1;
        if (read_q.beat == read_q.len) read_q.active <= 1'b0;
        beat_q <= beat_q + 3'd1;
        if (beat_q == watched_q) begin
          lane_q <= read_addr[1];
          last_q <= read_q.beat == read_q.len;
        end
      end
      if (taken && we) begin
        write_q.beat <= write_q.beat + 8'd1;
        if (write_q.beat == write_q.len) write_q.active <= 1'b0;
      end
      if (arvalid_i && arready)
        read_q <= '{active: 1'b1, addr: araddr_i, len: arlen_i, wide: arsize_i[0], beat: '0};
      if (awvalid_i && awready) begin
        write_q <= '{active: 1'b1, addr: awaddr_i, len: awlen_i, wide: awsize_i[0], beat: '0};
        burst_q <= burst_q + 3'd1;
      end
      owed_q <= owed_q + 2'(taken) - 2'(rvalid_i);
      if (rvalid_i) begin
        owes_we_q   <= owes_we_q >> 1;
        owes_last_q <= owes_last_q >> 1;
      end
      if (taken) begin
        owes_we_q[owed_q-2'(rvalid_i)]   <= we;
        owes_last_q[owed_q-2'(rvalid_i)] <= write_q.beat == write_q.len;
      end
      if (rvalid_i && !owes_we_q[0]) begin
        done_q <= done_q + 3'd1;
        if (done_q == watched_q) begin
          data_q <= lane_q ? rdata_i[31:16] : rdata_i[15:0];
          resp_q <= resp_i;
        end
      end
      if (rvalid_i && owes_we_q[0]) begin
        worst_q <= owes_last_q[0] ? RespOkay : worst;
        if (owes_last_q[0]) begin
          ended_q <= ended_q + 3'd1;
          if (ended_q == watched_q) burst_resp_q <= worst;
        end
      end
      if (rvalid && rready_i) r_q <= r_q + 3'd1;
      if (bvalid && bready_i) b_q <= b_q + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The bus answers only what it was asked, a cycle later or more.
      // Asserted: atoll_axi_to_bus.OnlyAwaitedAnswers
      answers_asked : assume (!rvalid_i || owed_q != '0);
      // All bursts count their addresses up.
      // Asserted: atoll_axi_burst.OnlyIncrementingBursts
      incrementing : assume ((!arvalid_i || arburst_i == 2'b01) && (!awvalid_i || awburst_i == 2'b01));
      // No beat is wider than the port.
      // Asserted: atoll_axi_burst.NeverWiderThanThePort
      narrow : assume ((!arvalid_i || arsize_i <= 3'd1) && (!awvalid_i || awsize_i <= 3'd1));
      // No burst crosses a boundary of 4 KiB.
      // Asserted: atoll_axi_burst.NeverAcross4KiB
      within_4k : assume (
          (!arvalid_i || (arsize_i[0] ? {2'b0, araddr_i[11:1]} + {5'b0, arlen_i} < 13'd2048
              : {1'b0, araddr_i[11:0]} + {5'b0, arlen_i} < 13'd4096))
          && (!awvalid_i || (awsize_i[0] ? {2'b0, awaddr_i[11:1]} + {5'b0, awlen_i} < 13'd2048
              : {1'b0, awaddr_i[11:0]} + {5'b0, awlen_i} < 13'd4096)));
      // The last beat of a burst of writes is marked, and no other.
      // Asserted: atoll_axi_to_bus.LastBeatIsMarked
      last_marked : assume (!(wvalid_i && wready) || wlast_i == (write_q.beat == write_q.len));
      // The accelerator keeps data to write until they are taken.
      // Asserted: atoll_channel_monitor.atoll_device_wavers
      keeps : assume (!w_stays_q || (wvalid_i && {wdata_i, wstrb_i} == w_q));

      // The bus is asked only for beats of a burst that was taken: none is made up or doubled.
      only_beats : assert (!valid || (we ? write_q.active && wvalid_i : read_q.active));
      // A beat of a read asks for its bytes at its address, counted from the burst's.
      right_read : assert (!(valid && !we) || read_right);
      // A beat of a write carries its bytes, and those alone that its strobes enable.
      right_write : assert (!(valid && we) || write_right);
      // Data to write are taken when the bus takes them.
      w_with_bus : assert (wready == (taken && we));
      // What the bus is asked stays until it is taken.
      holds : assert (!stays_q || (valid && asked == asked_q));
      // The bus is asked whenever there is a beat with a place for its answer.
      never_idle : assert (!(read_there || write_there) || valid);
      // A burst of reads is taken once the last beat of the one before is.
      ar_in_turn : assert (arready == (!read_q.active || (taken && !we && read_q.beat == read_q.len)));
      // So is one of writes, if there is a place for its answer.
      aw_in_turn : assert (awready == (3'(burst_q - b_q) != 3'(Depth)
          && (!write_q.active || (taken && we && write_q.beat == write_q.len))));
      // Reads are answered in their order, after the bus: none is lost or made up.
      r_after_bus : assert (rvalid == (r_q != done_q));
      // The watched read beat is answered with the bus's data of its lane, and its response.
      right_r : assert (!(rvalid && r_q == watched_q) || (rdata == data_q && rresp == resp_q));
      // The last beat of a burst of reads is marked, and no other.
      right_last : assert (!(rvalid && r_q == watched_q) || rlast == last_q);
      // Each burst of writes is answered once, in its order, after the last answer of the bus.
      b_after_bus : assert (bvalid == (b_q != ended_q));
      // The watched one is answered with the worst of its beats: decode error, slave error, okay.
      right_b : assert (!(bvalid && b_q == watched_q) || bresp == burst_resp_q);
      // Answers stay until they are taken.
      answers_hold : assert ((!b_stays_q || (bvalid && bresp == b_payload_q))
          && (!r_stays_q || (rvalid && {rdata, rresp, rlast} == r_payload_q)));
      // Never more beats are under way than there are places.
      places : assert (owed_q <= 2'(Depth) && 3'(beat_q - r_q) <= 3'(Depth));
    end
  end

endmodule
