// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// One master's entry to a memory: cuts beats into words, asks the banks, and joins the answers.
//
// A beat costs one bank access per word in which it has an enabled byte. Every answer comes
// `ReadLatency` cycles after the last of them, reads and writes alike.
module atoll_memory_port
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, a power of two.
  parameter int unsigned DataBytes   = 8,
  // Bytes that a bank moves per cycle, a power of two up to `DataBytes`.
  parameter int unsigned WordBytes   = 4,
  // Banks, a power of two; consecutive words lie in consecutive banks.
  parameter int unsigned NumBanks    = 1,
  // Bits of a row's number in a bank.
  parameter int unsigned RowBits     = 10,
  // Cycles from a bank's grant to its data, at least 1.
  parameter int unsigned ReadLatency = 1,
  // Writes are carried out; otherwise they change nothing and are answered with an error.
  parameter bit          Writable    = 1'b1
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  // Address of the memory's first byte, a multiple of `DataBytes`; constant out of reset
  input  logic  [           31:0]              origin_i,
  // Request of the master, within the memory
  input  logic                                 valid_i,
  output logic                                 ready_o,
  input  logic                                 we_i,
  input  logic  [           31:0]              addr_i,
  input  logic  [8*DataBytes-1:0]              wdata_i,
  input  logic  [  DataBytes-1:0]              be_i,
  // Answer to the master
  output logic                                 rvalid_o,
  output logic  [8*DataBytes-1:0]              rdata_o,
  output resp_e                                resp_o,
  // An answer is still to come, or comes
  output logic                                 pending_o,
  // Access to one bank, granted in the same cycle
  output logic  [   NumBanks-1:0]              bank_request_o,
  input  logic  [   NumBanks-1:0]              bank_grant_i,
  output logic  [    RowBits-1:0]              bank_row_o,
  output logic  [  WordBytes-1:0]              bank_strobe_o,
  output logic  [8*WordBytes-1:0]              bank_wdata_o,
  // Data of all banks, `ReadLatency` cycles after their grants
  input  logic  [   NumBanks-1:0][8*WordBytes-1:0] bank_rdata_i
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(LegalWord, $onehot(WordBytes) && WordBytes <= DataBytes)
  `ATOLL_ASSERT_INIT(LegalBanks, $onehot(NumBanks))
  `ATOLL_ASSERT_INIT(LegalRows, RowBits >= 1 && RowBits <= 32)
  `ATOLL_ASSERT_INIT(LegalLatency, ReadLatency >= 1)

  localparam int unsigned Steps     = DataBytes / WordBytes;
  localparam int unsigned StepBits  = Steps > 1 ? $clog2(Steps) : 1;
  localparam int unsigned BankBits  = NumBanks > 1 ? $clog2(NumBanks) : 1;
  localparam int unsigned WordShift = $clog2(WordBytes);
  localparam int unsigned BankShift = $clog2(NumBanks);

  typedef struct packed {
    logic                valid;
    logic                last;
    logic                err;
    logic [StepBits-1:0] step;
    logic [BankBits-1:0] bank;
  } answer_t;

  logic [Steps-1:0] left, done_q;
  logic [StepBits-1:0] step;
  logic [31:0] word;
  logic [BankBits-1:0] bank;
  logic skip, granted, last;
  answer_t [ReadLatency-1:0] answer_q;
  answer_t arriving;
  logic [Steps-1:0][8*WordBytes-1:0] joined_q, joined;

  // Nothing is worked out for a port that asks nothing, which saves the simulator time.
  always_comb begin
    left           = '0;
    step           = '0;
    skip           = 1'b0;
    word           = '0;
    bank           = '0;
    bank_request_o = '0;
    bank_row_o     = '0;
    bank_strobe_o  = '0;
    bank_wdata_o   = '0;
    if (valid_i) begin
      for (int unsigned i = Steps; i > 0; i--) begin
        left[i-1] = |be_i[(i-1)*WordBytes+:WordBytes] && !done_q[i-1];
        if (left[i-1]) step = StepBits'(i - 1);
      end
      skip = be_i == '0 || (we_i && !Writable);
      word = ((addr_i - origin_i) >> WordShift) + 32'(step);
      bank = NumBanks > 1 ? BankBits'(word) : '0;
      if (!skip) bank_request_o = NumBanks'(1) << bank;
      bank_row_o    = RowBits'(word >> BankShift);
      bank_strobe_o = we_i ? be_i[step*WordBytes+:WordBytes] : '0;
      bank_wdata_o  = wdata_i[8*step*WordBytes+:8*WordBytes];
    end
  end

  always_comb begin
    last    = 1'b0;
    granted = 1'b0;
    ready_o = 1'b0;
    if (valid_i) begin
      last    = (left & (left - Steps'(1))) == '0;
      granted = skip || bank_grant_i[bank];
      ready_o = granted && (skip || last);
    end
  end

  assign arriving = answer_q[ReadLatency-1];
  always_comb begin
    joined = joined_q;
    if (arriving.valid) joined[arriving.step] = bank_rdata_i[arriving.bank];
  end
  assign pending_o = answer_q != '0;
  assign rvalid_o = arriving.valid && arriving.last;
  assign rdata_o  = joined;
  assign resp_o   = arriving.err ? RespSlave : RespOkay;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q   <= '0;
      answer_q <= '0;
      joined_q <= '0;
    end else if (valid_i || pending_o) begin
      answer_q[0] <= '0;
      if (granted) begin
        done_q      <= ready_o ? '0 : done_q | (Steps'(1) << step);
        answer_q[0] <= '{
            valid: 1'b1,
            last: ready_o,
            err: we_i && !Writable,
            step: step,
            bank: bank
        };
      end
      for (int unsigned i = 1; i < ReadLatency; i++) answer_q[i] <= answer_q[i-1];
      if (arriving.valid) joined_q <= joined;
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {rvalid_o, bank_request_o})
  `ATOLL_ASSERT_IF(NeverWriteToRom, !Writable && |bank_request_o, bank_strobe_o == '0)
  `ATOLL_ASSERT_IF(OnlyWithinTheMemory, valid_i, addr_i >= origin_i)
  `ATOLL_ASSERT_IF(OnlyAlignedBeats, valid_i, addr_i % DataBytes == 0)

endmodule
