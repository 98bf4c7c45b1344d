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

  `ATOLL_ASSERT_INIT(LegalMasters, NumMasters >= 1 && NumMasters <= 32)

  localparam int unsigned MasterBits = NumMasters > 1 ? $clog2(NumMasters) : 1;

  logic [11:0] word;
  logic [10:0] offset, place;
  logic [MasterBits-1:0] master;
  logic reads, writes, listed, known, granted, write, unused;
  logic [31:0] read, value, period_q;
  logic [NumMasters-1:0] chosen, enable_q;

  atoll_word_port #(
    .DataBytes(DataBytes)
  ) u_port (
    .clk_i,
    .rst_ni,
    .addr_i   ({1'b0, addr_i}),
    .valid_i, .ready_o, .we_i, .wdata_i, .be_i, .rvalid_o, .rdata_o, .resp_o,
    .read_o   (reads),
    .write_o  (writes),
    .offset_o (word),
    .value_o  (value),
    .granted_i(granted),
    .value_i  (read)
  );

  // Firewall i has two words from GuardFirst + 8 * i on: address, then what it was.
  assign offset  = word[10:0];
  assign place   = offset - GuardFirst;
  assign listed  = offset >= GuardFirst && 32'(place) < 8 * NumMasters;
  assign known   = offset inside {GuardStatus, GuardIrqEnable, GuardPeriod, GuardRestarted};
  assign chosen  = NumMasters'(value);
  assign master  = MasterBits'(place >> 3);
  assign granted = known || (offset == GuardKick && we_i) || (listed && !we_i);
  assign write   = writes && granted;
  assign unused  = ^{word[11], reads};

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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      enable_q <= '0;
      period_q <= '0;
    end else begin
      if (write && offset == GuardIrqEnable) enable_q <= chosen;
      if (write && offset == GuardPeriod) period_q <= value;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, clear_o, irq_o, kick_o, forget_o})
  `ATOLL_ASSERT_IF(OnlyForgetsWhatIsWritten, clear_o != '0, valid_i && we_i)
  `ATOLL_ASSERT_IF(OnlyEnabled, irq_o, enable_q != '0)

endmodule
