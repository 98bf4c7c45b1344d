`include "atoll_assert.svh"

// What the firewalls kept back, for the host: status registers and an interrupt (docs/platform.md).
//
// Takes whole 32-bit words at the offsets of its registers; anything else changes nothing and is
// answered with an error.
module atoll_guard
  import atoll_bus_pkg::*;
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
  // Of each firewall: a request was kept back, its first byte, whether it was a write
  input  logic [       NumMasters-1:0] violated_i,
  input  logic [NumMasters-1:0][31:0]  violation_addr_i,
  input  logic [       NumMasters-1:0] violation_we_i,
  // Makes a firewall forget, for one cycle
  output logic [       NumMasters-1:0] clear_o,
  // High while an enabled firewall has kept a request back
  output logic                         irq_o
);

  localparam int unsigned Lanes      = DataBytes / 4;
  localparam int unsigned LaneBits   = $clog2(Lanes);
  localparam int unsigned MasterBits = NumMasters > 1 ? $clog2(NumMasters) : 1;

  // Firewall i has two words from FIRST + 8 * i on: address, then 1 for a write.
  typedef enum logic [10:0] {
    STATUS     = 11'h000,
    IRQ_ENABLE = 11'h004,
    FIRST      = 11'h100
  } register_e;

  logic [LaneBits-1:0] lane, lane_q;
  logic [10:0] offset, place;
  logic [MasterBits-1:0] master;
  logic whole, listed, good, rvalid_q, good_q;
  logic [31:0] read, value_q;
  logic [NumMasters-1:0] chosen, enable_q;

  always_comb begin
    lane = '0;
    for (int unsigned i = 0; i < Lanes; i++) if (be_i[4*i]) lane = LaneBits'(i);
  end

  assign whole  = be_i == DataBytes'(4'hf) << (4 * lane);
  assign offset = addr_i + 11'(4 * lane);
  assign chosen = wdata_i[32*lane+:NumMasters];
  assign place = offset - FIRST;
  assign listed = offset >= FIRST && 32'(place) < 8 * NumMasters;
  assign master = MasterBits'(place >> 3);
  assign good   = whole && (offset == STATUS || offset == IRQ_ENABLE || (listed && !we_i));

  always_comb begin
    read = '0;
    if (offset == STATUS) read = 32'(violated_i);
    else if (offset == IRQ_ENABLE) read = 32'(enable_q);
    else if (listed && place[2]) read = 32'(violation_we_i[master]);
    else if (listed) read = violation_addr_i[master];
  end

  assign clear_o  = valid_i && we_i && good && offset == STATUS ? chosen : '0;
  assign irq_o    = |(violated_i & enable_q);
  assign ready_o  = 1'b1;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = (8 * DataBytes)'(value_q) << (32 * lane_q);
  assign resp_o   = good_q ? RespOkay : RespSlave;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
      good_q   <= 1'b0;
      lane_q   <= '0;
      value_q  <= '0;
      enable_q <= '0;
    end else begin
      rvalid_q <= valid_i;
      good_q   <= good;
      lane_q   <= lane;
      value_q  <= good && !we_i ? read : '0;
      if (valid_i && we_i && good && offset == IRQ_ENABLE) enable_q <= chosen;
    end
  end

  `ATOLL_ASSERT(OnlyForgetsWhatIsWritten, clear_o != '0 |-> valid_i && we_i)
  `ATOLL_ASSERT(OnlyEnabled, irq_o |-> enable_q != '0)

endmodule
