// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Makes one access to a 32-bit register of a request of the bus, for the adapters to control ports.
//
// The access begins a cycle after the request and holds until the register's port has done it; the
// answer follows a cycle later. A request that spans two words is answered with an error and makes no
// access. A port that never answers is waited for until reset: `atoll_demux` gives it up meanwhile.
module atoll_word_access
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The access, to a whole word or bytes of one
  output logic                   access_o,
  output logic                   access_we_o,
  output logic [   AddrBits-1:0] access_addr_o,
  output logic [           31:0] access_data_o,
  output logic [            3:0] access_be_o,
  // It is done in this cycle, with these data, or failed
  input  logic                   done_i,
  input  logic [           31:0] data_i,
  input  logic                   error_i,
  // The system bus
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)
  `ATOLL_ASSERT_INIT(LegalAddress, AddrBits >= $clog2(DataBytes) && AddrBits <= 32)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  typedef enum logic [1:0] {
    StIdle,
    StAccess,
    StAnswer
  } state_e;

  state_e state_d, state_q;
  logic we_d, we_q;
  logic [LaneBits-1:0] lane, lane_d, lane_q;
  logic [AddrBits-1:0] addr_d, addr_q;
  logic [31:0] data_d, data_q;
  logic [3:0] be_d, be_q;
  resp_e resp_d, resp_q;

  always_comb begin
    lane = '0;
    for (int unsigned i = 0; i < Lanes; i++) if (|be_i[4*i+:4]) lane = LaneBits'(i);
  end

  always_comb begin
    state_d = state_q;
    we_d    = we_q;
    lane_d  = lane_q;
    addr_d  = addr_q;
    data_d  = data_q;
    be_d    = be_q;
    resp_d  = resp_q;
    unique case (state_q)
      // Take a request; answer at once what is no access to one word.
      StIdle: begin
        we_d   = we_i;
        lane_d = lane;
        addr_d = addr_i + AddrBits'(4 * lane);
        data_d = wdata_i[32*lane+:32];
        be_d   = be_i[4*lane+:4];
        resp_d = RespSlave;
        if (valid_i) begin
          state_d = be_i == DataBytes'(be_i[4*lane+:4]) << (4 * lane) ? StAccess : StAnswer;
        end
      end
      // Await the port.
      StAccess: begin
        if (done_i) begin
          state_d = StAnswer;
          data_d  = we_q || error_i ? '0 : data_i;
          resp_d  = error_i ? RespSlave : RespOkay;
        end
      end
      // Pass its answer on.
      StAnswer: state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      we_q    <= 1'b0;
      lane_q  <= '0;
      addr_q  <= '0;
      data_q  <= '0;
      be_q    <= '0;
      resp_q  <= RespOkay;
    end else begin
      state_q <= state_d;
      we_q    <= we_d;
      lane_q  <= lane_d;
      addr_q  <= addr_d;
      data_q  <= data_d;
      be_q    <= be_d;
      resp_q  <= resp_d;
    end
  end

  assign ready_o  = state_q == StIdle;
  assign rvalid_o = state_q == StAnswer;
  assign rdata_o  = (8 * DataBytes)'(data_q) << (32 * lane_q);
  assign resp_o   = resp_q;

  assign access_o      = state_q == StAccess;
  assign access_we_o   = we_q;
  assign access_addr_o = addr_q;
  assign access_data_o = data_q;
  assign access_be_o   = be_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, access_o})
  `ATOLL_ASSERT_HELD(AccessHolds,
      access_o && !done_i, access_o, {access_we_o, access_addr_o, access_data_o, access_be_o})
  `ATOLL_ASSERT_NEXT(EveryAccessIsAnswered, access_o && done_i, rvalid_o)

endmodule
