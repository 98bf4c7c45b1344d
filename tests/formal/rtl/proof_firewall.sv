// SPDX-License-Identifier: Apache-2.0
// Specification of the firewall, byte by byte: two windows for reading and two for writing, of any
// addresses, which may change in each cycle.
module proof_firewall
  import atoll_bus_pkg::*;
#(
  parameter int unsigned DataBytes = 4
) (
  input logic                   clk_i,
  input window_t [1:0]          readable_i,
  input window_t [1:0]          writable_i,
  input logic                   mst_valid_i,
  input logic                   mst_we_i,
  input logic [           31:0] mst_addr_i,
  input logic                   mst_mapped_i,
  input logic [  DataBytes-1:0] mst_be_i,
  input logic                   bus_ready_i,
  input logic                   bus_rvalid_i,
  input logic [8*DataBytes-1:0] bus_rdata_i,
  input resp_e                  bus_resp_i,
  input logic                   clear_i
);

  localparam int unsigned OffsetBits = $clog2(DataBytes);

  logic rst_n = 1'b0;
  logic mst_ready, mst_rvalid, bus_valid, blocked, violated, violation_we, violation_bus;
  logic [8*DataBytes-1:0] mst_rdata;
  logic [31:0] violation_addr;
  resp_e mst_resp;

  atoll_firewall #(
    .DataBytes  (DataBytes),
    .NumReadable(2),
    .NumWritable(2)
  ) u_dut (
    .clk_i,
    .rst_ni          (rst_n),
    .readable_i,
    .writable_i,
    .mst_valid_i,
    .mst_ready_o     (mst_ready),
    .mst_we_i,
    .mst_addr_i,
    .mst_mapped_i,
    .mst_be_i,
    .mst_rvalid_o    (mst_rvalid),
    .mst_rdata_o     (mst_rdata),
    .mst_resp_o      (mst_resp),
    .bus_valid_o     (bus_valid),
    .bus_ready_i,
    .bus_rvalid_i,
    .bus_rdata_i,
    .bus_resp_i,
    .clear_i,
    .blocked_o       (blocked),
    .violated_o      (violated),
    .violation_addr_o(violation_addr),
    .violation_we_o  (violation_we),
    .violation_bus_o (violation_bus)
  );

  // What the master asks for, byte by byte: whether some window holds all of it, and its first byte
  logic reachable;
  logic [31:0] first;

  function automatic logic holds(window_t window, logic [31:0] addr);
    return addr >= window.first && addr <= window.last;
  endfunction

  always_comb begin
    reachable = 1'b0;
    for (int unsigned w = 0; w < 2; w++) begin
      logic all_inside;
      all_inside = 1'b1;
      for (int unsigned i = 0; i < DataBytes; i++) begin
        if (mst_be_i[i] && !holds(mst_we_i ? writable_i[w] : readable_i[w],
                                  {mst_addr_i[31:OffsetBits], OffsetBits'(i)}))
          all_inside = 1'b0;
      end
      if (all_inside) reachable = 1'b1;
    end
    if (!mst_mapped_i) reachable = 1'b0;
    first = mst_addr_i;
    for (int unsigned i = DataBytes; i > 0; i--)
      if (mst_be_i[i-1]) first = {mst_addr_i[31:OffsetBits], OffsetBits'(i - 1)};
  end

  // Requests that wait for the bus's answer; one that was denied in the cycle before
  logic [7:0] asked_q;
  logic denied_q, passes, denied, fails;
  // What is remembered: something, what, and the last request that passed
  logic kept_q, kept_we_q, kept_bus_q, last_we_q;
  logic [31:0] kept_addr_q, last_addr_q;

  assign passes = mst_valid_i && mst_ready && bus_valid;
  assign denied = mst_valid_i && mst_ready && !bus_valid;
  assign fails  = bus_rvalid_i && bus_resp_i != RespOkay;

  always_ff @(posedge clk_i) begin
    rst_n <= 1'b1;
    if (!rst_n) begin
      asked_q  <= '0;
      denied_q <= 1'b0;
      kept_q   <= 1'b0;
    end else begin
      asked_q  <= asked_q + 8'(passes) - 8'(bus_rvalid_i);
      denied_q <= denied;
      kept_q   <= denied || fails || (kept_q && !clear_i);
      if (passes) begin
        last_addr_q <= first;
        last_we_q   <= mst_we_i;
      end
      if ((denied || fails) && (!kept_q || clear_i)) begin
        kept_bus_q  <= fails;
        kept_addr_q <= fails ? last_addr_q : first;
        kept_we_q   <= fails ? last_we_q : mst_we_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      // The bus answers only what it was asked, a cycle later or more.
      // Asserted: atoll_firewall.NeverUnaskedAnswer
      answers_asked : assume (!bus_rvalid_i || asked_q != '0);
      // At most 255 requests wait for an answer.
      // Asserted: atoll_firewall.CountFits
      count_fits : assume (!passes || asked_q != '1);

      // Nothing reaches the bus but a request whose bytes all lie in one window that permits it.
      only_reachable : assert (!bus_valid || (mst_valid_i && (reachable || mst_be_i == '0)));
      // A request that has no place on the bus never reaches it.
      only_mapped : assert (!bus_valid || mst_mapped_i);
      // A request that the windows permit reaches the bus in its own cycle, and is taken with it.
      reachable_passes : assert (
          !(mst_valid_i && reachable && mst_be_i != '0) || (bus_valid && mst_ready == bus_ready_i));
      // A denied request is taken once the earlier ones are answered, at the latest.
      denied_is_taken : assert (
          !(mst_valid_i && !bus_valid && asked_q == '0 && !denied_q) || mst_ready);
      // It is never taken before, so that answers keep their order.
      denied_waits : assert (!denied || (asked_q == '0 && !denied_q));
      // A denied request is answered one cycle later with a decode error and zeros: it leaks nothing.
      denied_leaks_nothing : assert (
          !denied_q || (mst_rvalid && mst_resp == RespDecode && mst_rdata == '0));
      // Each other answer is the bus's, in its own cycle; none is lost, none is made up.
      answers_pass : assert (denied_q || (mst_rvalid == bus_rvalid_i
          && (!bus_rvalid_i || mst_resp == bus_resp_i)));
      // Data pass as they are, but those of a failed access, which are zeros.
      data_pass : assert (
          !bus_rvalid_i || mst_rdata == (bus_resp_i == RespOkay ? bus_rdata_i : '0));
      // Each denied request is told, and nothing else.
      denials_told : assert (blocked == denied);
      // The first denial or failure is kept until it is cleared.
      first_is_kept : assert (violated == kept_q);
      // What is kept of it is its first byte, its direction, and whether the bus failed it.
      kept_as_it_was : assert (!kept_q || (violation_bus == kept_bus_q
          && violation_addr == kept_addr_q && violation_we == kept_we_q));
    end
  end

endmodule
