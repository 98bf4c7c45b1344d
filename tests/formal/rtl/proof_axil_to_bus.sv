// SPDX-License-Identifier: Apache-2.0
// Specification of the adapter from a four-byte AXI4-Lite port to the bus of eight bytes, with two reads
// and two writes under way. Beats are numbered modulo 16, and those of one number, any, are watched: never
// are so many under way.
module proof_axil_to_bus
  import atoll_bus_pkg::*;
#(
  parameter int unsigned Depth = 2
) (
  input logic        clk_i,
  input logic [31:0] awaddr_i,
  input logic        awvalid_i,
  input logic [31:0] wdata_i,
  input logic [ 3:0] wstrb_i,
  input logic        wvalid_i,
  input logic        bready_i,
  input logic [31:0] araddr_i,
  input logic        arvalid_i,
  input logic        rready_i,
  input logic        ready_i,
  input logic        rvalid_i,
  input logic [63:0] rdata_i,
  input resp_e       resp_i,
  // The number that is watched: the value in the first cycle counts
  input logic [ 3:0] watched_i
);

  logic rst_n = 1'b0;
  logic awready, wready, bvalid, arready, rvalid, valid, we;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata, addr;
  logic [63:0] wdata;
  logic [7:0] be;

  atoll_axil_to_bus #(
    .DataBytes(8),
    .PortBytes(4),
    .Depth    (Depth)
  ) u_dut (
    .clk_i,
    .rst_ni          (rst_n),
    .s_axil_awaddr_i (awaddr_i),
    .s_axil_awvalid_i(awvalid_i),
    .s_axil_awready_o(awready),
    .s_axil_wdata_i  (wdata_i),
    .s_axil_wstrb_i  (wstrb_i),
    .s_axil_wvalid_i (wvalid_i),
    .s_axil_wready_o (wready),
    .s_axil_bresp_o  (bresp),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (bready_i),
    .s_axil_araddr_i (araddr_i),
    .s_axil_arvalid_i(arvalid_i),
    .s_axil_arready_o(arready),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (rready_i),
    .valid_o         (valid),
    .ready_i,
    .we_o            (we),
    .addr_o          (addr),
    .wdata_o         (wdata),
    .be_o            (be),
    .rvalid_i,
    .rdata_i,
    .resp_i
  );

  // Numbers of the next address and data of a write, of the next write and read at the bus, of the next
  // answers of the bus to each, of the next answers at the port
  logic [3:0] address_q, data_q, write_q, read_q, write_done_q, read_done_q, b_q, r_q, watched_q;
  // The kinds of beats that the bus owes an answer, the oldest first
  logic [7:0] kinds_q;
  logic [2:0] owed_q;
  // What was seen of the watched write and read
  logic [31:0] awaddr_q;
  logic [35:0] wdata_q;
  logic araddr_2_q;
  logic [31:0] rdata_q;
  resp_e bresp_q, rresp_q;
  logic taken, bytes_right, stays_q, b_stays_q, r_stays_q, ar_stays_q, write_there, read_there;
  logic [31:0] araddr_q;
  logic [104:0] asked, asked_q;
  logic [33:0] r_q_payload;
  logic [1:0] b_q_payload;
  // Beats of the other kind that passed a read, a write, that waits
  logic [1:0] read_passed_q, write_passed_q;

  assign taken       = valid && ready_i;
  assign asked       = {addr, we, be, we ? wdata : '0};
  assign write_there = write_q != address_q && write_q != data_q
      && 4'(write_q - b_q) < 4'(Depth);
  assign read_there  = arvalid_i && 4'(read_q - r_q) < 4'(Depth);

  // The watched write, byte for byte
  always_comb begin
    bytes_right = addr == {awaddr_q[31:3], 3'b0};
    for (int unsigned i = 0; i < 8; i++) begin
      logic lane;
      lane = i >= 4;
      if (be[i] != (lane == awaddr_q[2] && wdata_q[i%4])) bytes_right = 1'b0;
      if (be[i] && wdata[8*i+:8] != wdata_q[4+8*(i%4)+:8]) bytes_right = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    rst_n       <= 1'b1;
    stays_q     <= rst_n && valid && !ready_i;
    b_stays_q   <= rst_n && bvalid && !bready_i;
    r_stays_q   <= rst_n && rvalid && !rready_i;
    ar_stays_q  <= rst_n && arvalid_i && !arready;
    asked_q     <= asked;
    araddr_q    <= araddr_i;
    b_q_payload <= bresp;
    r_q_payload <= {rdata, rresp};
    if (!rst_n) begin
      watched_q <= watched_i;
      {address_q, data_q, write_q, read_q} <= '0;
      {write_done_q, read_done_q, b_q, r_q} <= '0;
      owed_q   <= '0;
      kinds_q  <= '0;
      read_passed_q  <= '0;
      write_passed_q <= '0;
    end else begin
      if (awvalid_i && awready) begin
        address_q <= address_q + 4'd1;
        if (address_q == watched_q) awaddr_q <= awaddr_i;
      end
      if (wvalid_i && wready) begin
        data_q <= data_q + 4'd1;
        if (data_q == watched_q) wdata_q <= {wdata_i, wstrb_i};
      end
      if (taken && we) write_q <= write_q + 4'd1;
      if (taken && !we) begin
        read_q <= read_q + 4'd1;
        if (read_q == watched_q) araddr_2_q <= araddr_i[2];
      end
      // The kinds move on with each answer
      kinds_q <= rvalid_i ? kinds_q >> 1 : kinds_q;
      owed_q  <= owed_q + 3'(taken) - 3'(rvalid_i);
      if (taken) kinds_q[3'(owed_q - 3'(rvalid_i))] <= we;
      if (rvalid_i && kinds_q[0]) begin
        write_done_q <= write_done_q + 4'd1;
        if (write_done_q == watched_q) bresp_q <= resp_i;
      end
      if (rvalid_i && !kinds_q[0]) begin
        read_done_q <= read_done_q + 4'd1;
        if (read_done_q == watched_q) begin
          rresp_q <= resp_i;
          rdata_q <= araddr_2_q ? rdata_i[63:32] : rdata_i[31:0];
        end
      end
      if (bvalid && bready_i) b_q <= b_q + 4'd1;
      if (rvalid && rready_i) r_q <= r_q + 4'd1;
      read_passed_q  <= read_there && !(taken && !we) ? read_passed_q + 2'(taken) : '0;
      write_passed_q <= write_there && !(taken && we) ? write_passed_q + 2'(taken) : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The bus answers only what it was asked, a cycle later or more.
      // Asserted: atoll_axil_to_bus.OnlyAwaitedAnswers
      answers_asked : assume (!rvalid_i || owed_q != '0);
      // The accelerator keeps the address of a read until it is taken.
      // Asserted: atoll_channel_monitor.atoll_device_wavers
      keeps : assume (!ar_stays_q || (arvalid_i && araddr_i == araddr_q));

      // A write reaches the bus only once its address and its data are there.
      only_writes : assert (!(valid && we) || (write_q != address_q && write_q != data_q));
      // The watched write reaches the bus byte for byte as it was: address and data of one number.
      right_write : assert (!(valid && we && write_q == watched_q) || bytes_right);
      // A read reaches the bus only while its address is shown, which is taken with it.
      only_reads : assert ((!(valid && !we) || arvalid_i) && arready == (taken && !we));
      // A read asks for all bytes of its lane.
      right_read : assert (!(valid && !we)
          || (addr == {araddr_i[31:3], 3'b0} && be == (araddr_i[2] ? 8'hf0 : 8'h0f)));
      // What the bus is asked stays until it is taken.
      holds : assert (!stays_q || (valid && asked == asked_q));
      // The bus is asked whenever a read or a whole write is there, with a place for its answer.
      never_idle : assert (!(read_there || write_there) || valid);
      // Reads and writes take turns: who waits is passed once.
      turns : assert (read_passed_q <= 2'd1 && write_passed_q <= 2'd1);
      // Writes are answered in their order, after the bus: none is lost or made up.
      b_after_bus : assert (bvalid == (b_q != write_done_q));
      // The watched write is answered as the bus answered it.
      right_b : assert (!(bvalid && b_q == watched_q) || bresp == bresp_q);
      // So are reads.
      r_after_bus : assert (rvalid == (r_q != read_done_q));
      // The watched read is answered with the bus's data of its lane, and its response.
      right_r : assert (!(rvalid && r_q == watched_q) || (rdata == rdata_q && rresp == rresp_q));
      // Answers stay until they are taken.
      answers_hold : assert ((!b_stays_q || (bvalid && bresp == b_q_payload))
          && (!r_stays_q || (rvalid && {rdata, rresp} == r_q_payload)));
      // Never more reads and writes are under way than there are places.
      places : assert (4'(write_q - b_q) <= 4'(Depth) && 4'(read_q - r_q) <= 4'(Depth));
      // Two addresses and two data wait here at most, and are taken while fewer do.
      queues : assert (awready == (4'(address_q - write_q) < 4'd2)
          && wready == (4'(data_q - write_q) < 4'd2));
    end
  end

endmodule
