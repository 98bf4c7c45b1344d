// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the bus to the AXI4-Lite control port of an accelerator, one access at a time.
//
// An access stays within one 32-bit word; a wider one is answered with an error and not carried
// on. The answer is the port's.
module atoll_bus_to_axil
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // AXI4-Lite, names as at an AXI master
  output logic [   AddrBits-1:0] m_axil_awaddr_o,
  output logic                   m_axil_awvalid_o,
  input  logic                   m_axil_awready_i,
  output logic [           31:0] m_axil_wdata_o,
  output logic [            3:0] m_axil_wstrb_o,
  output logic                   m_axil_wvalid_o,
  input  logic                   m_axil_wready_i,
  input  logic [            1:0] m_axil_bresp_i,
  input  logic                   m_axil_bvalid_i,
  output logic                   m_axil_bready_o,
  output logic [   AddrBits-1:0] m_axil_araddr_o,
  output logic                   m_axil_arvalid_o,
  input  logic                   m_axil_arready_i,
  input  logic [           31:0] m_axil_rdata_i,
  input  logic [            1:0] m_axil_rresp_i,
  input  logic                   m_axil_rvalid_i,
  output logic                   m_axil_rready_o,
  // The system bus
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)
  `ATOLL_ASSERT_INIT(LegalAddress, AddrBits >= $clog2(DataBytes) && AddrBits <= 32)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  typedef enum logic [1:0] {
    StIdle,
    StSend,
    StWait,
    StAnswer
  } state_e;

  // All of it rests between accesses.
  logic clk;
  state_e state_d, state_q;
  logic we_d, we_q, address_left_d, address_left_q, data_left_d, data_left_q;
  logic [LaneBits-1:0] lane, lane_d, lane_q;
  logic [AddrBits-1:0] addr_d, addr_q;
  logic [31:0] data_d, data_q;
  logic [3:0] strobe_d, strobe_q;
  resp_e resp_d, resp_q;

  always_comb begin
    lane           = '0;
    state_d        = state_q;
    we_d           = we_q;
    lane_d         = lane_q;
    addr_d         = addr_q;
    data_d         = data_q;
    strobe_d       = strobe_q;
    resp_d         = resp_q;
    address_left_d = address_left_q;
    data_left_d    = data_left_q;
    unique case (state_q)
      // Take a request; answer at once what is no access to one word.
      StIdle:
      if (valid_i) begin
        for (int unsigned i = 0; i < Lanes; i++) if (|be_i[4*i+:4]) lane = LaneBits'(i);
        we_d           = we_i;
        lane_d         = lane;
        addr_d         = addr_i + AddrBits'(4 * lane);
        data_d         = wdata_i[32*lane+:32];
        strobe_d       = be_i[4*lane+:4];
        resp_d         = RespSlave;
        address_left_d = 1'b1;
        data_left_d    = we_i;
        state_d        = be_i == DataBytes'(be_i[4*lane+:4]) << (4 * lane) ? StSend : StAnswer;
      end
      // Hand over address and data, in either order.
      StSend: begin
        if (we_q ? m_axil_awready_i : m_axil_arready_i) address_left_d = 1'b0;
        if (m_axil_wready_i) data_left_d = 1'b0;
        if (!address_left_d && !data_left_d) state_d = StWait;
      end
      // Await the port's answer.
      StWait: begin
        data_d = we_q ? '0 : m_axil_rdata_i;
        resp_d = resp_e'(we_q ? m_axil_bresp_i : m_axil_rresp_i);
        if (we_q ? m_axil_bvalid_i : m_axil_rvalid_i) state_d = StAnswer;
      end
      // Pass it on.
      StAnswer: state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  atoll_rest_clock u_clock (
    .clk_i,
    .rst_ni,
    .busy_i(valid_i || state_q != StIdle),
    .clk_o (clk)
  );

  always_ff @(posedge clk or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      we_q           <= 1'b0;
      lane_q         <= '0;
      addr_q         <= '0;
      data_q         <= '0;
      strobe_q       <= '0;
      resp_q         <= RespOkay;
      address_left_q <= 1'b0;
      data_left_q    <= 1'b0;
    end else begin
      state_q        <= state_d;
      we_q           <= we_d;
      lane_q         <= lane_d;
      addr_q         <= addr_d;
      data_q         <= data_d;
      strobe_q       <= strobe_d;
      resp_q         <= resp_d;
      address_left_q <= address_left_d;
      data_left_q    <= data_left_d;
    end
  end

  assign ready_o  = state_q == StIdle;
  assign rvalid_o = state_q == StAnswer;
  assign rdata_o  = rvalid_o ? (8 * DataBytes)'(data_q) << (32 * lane_q) : '0;
  assign resp_o   = resp_q;

  assign m_axil_awaddr_o  = addr_q;
  assign m_axil_awvalid_o = state_q == StSend && we_q && address_left_q;
  assign m_axil_wdata_o   = data_q;
  assign m_axil_wstrb_o   = strobe_q;
  assign m_axil_wvalid_o  = state_q == StSend && data_left_q;
  assign m_axil_bready_o  = state_q == StWait && we_q;
  assign m_axil_araddr_o  = addr_q;
  assign m_axil_arvalid_o = state_q == StSend && !we_q && address_left_q;
  assign m_axil_rready_o  = state_q == StWait && !we_q;

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {ready_o, rvalid_o, m_axil_awvalid_o, m_axil_wvalid_o, m_axil_bready_o, m_axil_arvalid_o,
       m_axil_rready_o})
  `ATOLL_ASSERT_NEXT(AddressHolds, m_axil_arvalid_o && !m_axil_arready_i, m_axil_arvalid_o)
  `ATOLL_ASSERT(NeverReadAndWrite, !(m_axil_arvalid_o && (m_axil_awvalid_o || m_axil_wvalid_o)))

endmodule
