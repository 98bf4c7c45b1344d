// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Unrolls AXI INCR bursts into beats, without a gap between bursts.
module atoll_axi_burst #(
  // Bytes of the data port, a power of two.
  parameter int unsigned AxiBytes = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // AXI address channel
  input  logic [        31:0] addr_i,
  input  logic [         7:0] len_i,
  input  logic [         2:0] size_i,
  input  logic [         1:0] burst_i,
  input  logic                valid_i,
  output logic                ready_o,
  // Another burst may begin
  input  logic                allow_i,
  // A beat is there
  output logic                beat_valid_o,
  // Address of the beat, a multiple of `AxiBytes`
  output logic [        31:0] beat_addr_o,
  // Bytes that the beat covers
  output logic [AxiBytes-1:0] beat_bytes_o,
  // Last beat of its burst
  output logic                beat_last_o,
  // The beat is used up
  input  logic                taken_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(AxiBytes) && AxiBytes >= 2 && AxiBytes <= 128)

  localparam int unsigned OffsetBits = $clog2(AxiBytes);

  logic active_q;
  logic [31:0] addr_q, next;
  logic [7:0] left_q;
  logic [2:0] size_q;
  logic [OffsetBits-1:0] first, last;

  assign beat_valid_o = active_q;
  assign beat_addr_o  = {addr_q[31:OffsetBits], OffsetBits'(0)};
  assign beat_last_o  = left_q == '0;
  assign ready_o      = allow_i && (!active_q || (taken_i && beat_last_o));

  // Nothing is worked out between bursts, which saves the simulator time.
  always_comb begin
    first        = '0;
    last         = '0;
    next         = '0;
    beat_bytes_o = '0;
    if (active_q) begin
      first        = addr_q[OffsetBits-1:0];
      last         = first | OffsetBits'((8'd1 << size_q) - 8'd1);
      next         = ((addr_q >> size_q) + 32'd1) << size_q;
      beat_bytes_o = ({AxiBytes{1'b1}} << first) & ({AxiBytes{1'b1}} >> ~last);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      addr_q   <= '0;
      left_q   <= '0;
      size_q   <= '0;
    end else if (valid_i && ready_o) begin
      active_q <= 1'b1;
      addr_q   <= addr_i;
      left_q   <= len_i;
      size_q   <= size_i;
    end else if (taken_i) begin
      active_q <= !beat_last_o;
      addr_q   <= next;
      left_q   <= left_q - 8'd1;
    end
  end

  // What the accelerator must keep (docs/platform.md).
  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, beat_valid_o})
  `ATOLL_ASSERT_IF(OnlyIncrementingBursts, valid_i, burst_i == 2'b01)
  `ATOLL_ASSERT_IF(NeverWiderThanThePort, valid_i, size_i <= 3'(OffsetBits))
  `ATOLL_ASSERT_IF(NeverAcross4KiB,
      valid_i,
      (32'(addr_i[11:0]) >> size_i << size_i) + ((32'(len_i) + 32'd1) << size_i) <= 32'd4096)
  `ATOLL_ASSERT_IF(OnlyValidBeatsAreTaken, taken_i, active_q)

endmodule
