// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// What the firewalls kept back and the bus failed, for the host: status registers, an interrupt, and
// the watchdog's registers (docs/platform.md).
//
// Takes whole 32-bit words at the offsets of its registers; anything else changes nothing and is
// answered with an error.
module atoll_guard
  import atoll_bus_pkg::*;
  import atoll_protocol_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes  = 8,
  // Firewalls, at most 32; firewall i is that of the device with ordinal i.
  parameter int unsigned NumMasters = 1
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  // Request; `addr_i` counts from the first register
  input  logic                         valid_i,
  output logic                         ready_o,
  input  logic                         we_i,
  input  logic [                 10:0] addr_i,
  input  logic [      8*DataBytes-1:0] wdata_i,
  input  logic [        DataBytes-1:0] be_i,
  // Answer, one cycle later
  output logic                         rvalid_o,
  output logic [      8*DataBytes-1:0] rdata_o,
  output resp_e                        resp_o,
  // Of each firewall: a request was kept back or failed, its first byte, whether it was a write, and
  // whether the bus failed it
  input  logic [       NumMasters-1:0] violated_i,
  input  logic [NumMasters-1:0][31:0]  violation_addr_i,
  input  logic [       NumMasters-1:0] violation_we_i,
  input  logic [       NumMasters-1:0] violation_bus_i,
  // Makes a firewall forget, for one cycle
  output logic [       NumMasters-1:0] clear_o,
  // High while an enabled firewall has kept a request back
  output logic                         irq_o,
  // Of the watchdog: its period in cycles, 0 is off; begin a period anew, for one cycle; it restarted
  // the chip; forget that, for one cycle
  output logic [                 31:0] period_o,
  output logic                         kick_o,
  input  logic                         restarted_i,
  output logic                         forget_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)
  `ATOLL_ASSERT_INIT(LegalMasters, NumMasters >= 1 && NumMasters <= 32)

  localparam int unsigned Lanes      = DataBytes / 4;
  localparam int unsigned LaneBits   = $clog2(Lanes);
  localparam int unsigned MasterBits = NumMasters > 1 ? $clog2(NumMasters) : 1;

  logic [LaneBits-1:0] lane, lane_q;
  logic [10:0] offset, place;
  logic [MasterBits-1:0] master;
  logic whole, listed, known, good, write, rvalid_q, good_q;
  logic [31:0] read, value, value_q, period_q;
  logic [NumMasters-1:0] chosen, enable_q;

  // Nothing is worked out without a request, which saves the simulator time.
  always_comb begin
    lane   = '0;
    whole  = 1'b0;
    offset = '0;
    value  = '0;
    place  = '0;
    listed = 1'b0;
    known  = 1'b0;
    if (valid_i) begin
      for (int unsigned i = 0; i < Lanes; i++) if (be_i[4*i]) lane = LaneBits'(i);
      whole  = be_i == DataBytes'(4'hf) << (4 * lane);
      offset = addr_i + 11'(4 * lane);
      value  = wdata_i[32*lane+:32];
      // Firewall i has two words from GuardFirst + 8 * i on: address, then what it was.
      place  = offset - GuardFirst;
      listed = offset >= GuardFirst && 32'(place) < 8 * NumMasters;
      known  = offset inside {GuardStatus, GuardIrqEnable, GuardPeriod, GuardRestarted};
    end
  end

  assign chosen = NumMasters'(value);
  assign master = MasterBits'(place >> 3);
  assign good   = whole && (known || (offset == GuardKick && we_i) || (listed && !we_i));
  assign write  = we_i && good;

  always_comb begin
    read = '0;
    if (valid_i) begin
      if (offset == GuardStatus) read = 32'(violated_i);
      else if (offset == GuardIrqEnable) read = 32'(enable_q);
      else if (offset == GuardPeriod) read = period_q;
      else if (offset == GuardRestarted) read = 32'(restarted_i);
      else if (listed && place[2]) read = 32'({violation_bus_i[master], violation_we_i[master]});
      else if (listed) read = violation_addr_i[master];
    end
  end

  assign clear_o  = write && offset == GuardStatus ? chosen : '0;
  assign kick_o   = write && (offset == GuardKick || offset == GuardPeriod);
  assign forget_o = write && offset == GuardRestarted && value[0];
  assign period_o = period_q;
  assign irq_o    = |(violated_i & enable_q);
  assign ready_o  = 1'b1;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = rvalid_q ? (8 * DataBytes)'(value_q) << (32 * lane_q) : '0;
  assign resp_o   = good_q ? RespOkay : RespSlave;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      good_q   <= 1'b0;
      lane_q   <= '0;
      value_q  <= '0;
      enable_q <= '0;
      period_q <= '0;
    end else begin
      rvalid_q <= valid_i;
      if (valid_i) begin
        good_q  <= good;
        lane_q  <= lane;
        value_q <= good && !we_i ? read : '0;
      end
      if (write && offset == GuardIrqEnable) enable_q <= chosen;
      if (write && offset == GuardPeriod) period_q <= value;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, clear_o, irq_o, kick_o, forget_o})
  `ATOLL_ASSERT_IF(OnlyForgetsWhatIsWritten, clear_o != '0, valid_i && we_i)
  `ATOLL_ASSERT_IF(OnlyEnabled, irq_o, enable_q != '0)

endmodule
