// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// What belongs to one core alone: its timer, and the register in which it says that it stands still.
//
// The timer has the offsets of a core-local interruptor (CLINT): `mtimecmp` at 0x4000 + 8 * `Hart`,
// `mtime` at 0xBFF8, 64 bits each; the request is high while `mtime` is no less than `mtimecmp`. A write to
// 0xC000 says that the core stands still for good. Only whole words are written; all else reads 0.
module atoll_core_local #(
  // The number by which the chip knows the core.
  parameter int unsigned Hart = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Request, always taken
  input  logic        valid_i,
  input  logic        we_i,
  input  logic [15:0] addr_i,
  input  logic [31:0] wdata_i,
  input  logic [ 3:0] be_i,
  // Answer, one cycle later
  output logic        rvalid_o,
  output logic [31:0] rdata_o,
  // The time has come
  output logic        timer_o,
  // The core stands still for good
  output logic        halted_o
);

  `ATOLL_ASSERT_INIT(LegalHart, Hart < 4095)

  localparam logic [13:0] CompareLow  = 14'((32'h4000 + 8 * Hart) >> 2);
  localparam logic [13:0] CompareHigh = CompareLow + 14'd1;
  localparam logic [13:0] TimeLow     = 14'(16'hBFF8 >> 2);
  localparam logic [13:0] TimeHigh    = 14'(16'hBFFC >> 2);
  localparam logic [13:0] Halt        = 14'(16'hC000 >> 2);

  logic [63:0] time_q, compare_q;
  logic [13:0] word;
  logic write, unused_low_bits;

  assign word            = addr_i[15:2];
  assign write           = valid_i && we_i && be_i == 4'hf;
  assign unused_low_bits = ^addr_i[1:0];
  assign timer_o         = time_q >= compare_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      time_q    <= '0;
      compare_q <= '1;
      rvalid_o  <= 1'b0;
      rdata_o   <= '0;
      halted_o  <= 1'b0;
    end else begin
      time_q   <= time_q + 64'd1;
      rvalid_o <= valid_i;
      unique case (word)
        CompareLow:  rdata_o <= compare_q[31:0];
        CompareHigh: rdata_o <= compare_q[63:32];
        TimeLow:     rdata_o <= time_q[31:0];
        TimeHigh:    rdata_o <= time_q[63:32];
        default:     rdata_o <= '0;
      endcase
      if (write) begin
        unique case (word)
          CompareLow:  compare_q[31:0]  <= wdata_i;
          CompareHigh: compare_q[63:32] <= wdata_i;
          TimeLow:     time_q[31:0]     <= wdata_i;
          TimeHigh:    time_q[63:32]    <= wdata_i;
          Halt:        halted_o         <= 1'b1;
          default:     ;
        endcase
      end
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {rvalid_o, timer_o, halted_o})
  `ATOLL_ASSERT_NEXT(EveryAnswer, valid_i, rvalid_o)
  `ATOLL_ASSERT_NEXT(HaltsForGood, halted_o, halted_o)

endmodule
