// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Carries an AHB-Lite manager, such as a port of a core, to OBI.
//
// An access asks on OBI in its data phase, where the data of a write are known, and is answered in the
// cycle in which OBI answers; the next address is taken in that cycle. Bursts count as single accesses.
module atoll_ahb_to_obi (
  input  logic        clk_i,
  input  logic        rst_ni,
  // AHB-Lite, names as at a manager
  input  logic [31:0] haddr_i,
  input  logic        hwrite_i,
  input  logic [ 1:0] htrans_i,
  input  logic [ 2:0] hsize_i,
  input  logic [31:0] hwdata_i,
  output logic        hready_o,
  output logic        hresp_o,
  output logic [31:0] hrdata_o,
  // OBI
  output logic        req_o,
  input  logic        gnt_i,
  output logic [31:0] addr_o,
  output logic        we_o,
  output logic [ 3:0] be_o,
  output logic [31:0] wdata_o,
  input  logic        rvalid_i,
  input  logic [31:0] rdata_i,
  input  logic        err_i
);

  typedef enum logic [1:0] {
    StIdle,   // no data phase
    StAsk,    // wants to be granted
    StAwait,  // wants to be answered
    StError   // the second cycle of an answer with an error
  } state_e;

  state_e state_d, state_q;
  logic [31:0] addr_q;
  logic [ 2:0] size_q;
  logic write_q, taken;

  assign taken    = htrans_i[1] && hready_o;
  assign req_o    = state_q == StAsk;
  assign addr_o   = {addr_q[31:2], 2'b00};
  assign we_o     = write_q;
  assign be_o     = size_q == 3'd0 ? 4'h1 << addr_q[1:0] : size_q == 3'd1 ? 4'h3 << addr_q[1:0] : 4'hf;
  assign wdata_o  = hwdata_i;
  assign hrdata_o = rdata_i;
  assign hresp_o  = state_q == StError || (state_q == StAwait && rvalid_i && err_i);
  assign hready_o = state_q inside {StIdle, StError} || (state_q == StAwait && rvalid_i && !err_i);

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StAsk:   if (gnt_i) state_d = StAwait;
      StAwait: if (rvalid_i) state_d = err_i ? StError : taken ? StAsk : StIdle;
      default: state_d = taken ? StAsk : StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      addr_q  <= '0;
      size_q  <= '0;
      write_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (taken) begin
        addr_q  <= haddr_i;
        size_q  <= hsize_i;
        write_q <= hwrite_i;
      end
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {hready_o, hresp_o, req_o})
  `ATOLL_ASSERT_IF(AlignedAccesses, taken, (haddr_i[1:0] & ~(2'b11 << hsize_i)) == '0)
  `ATOLL_ASSERT_IF(AWordAtMost, taken, hsize_i <= 3'd2)
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, state_q == StAwait)

endmodule
