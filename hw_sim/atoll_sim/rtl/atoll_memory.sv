// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// A memory of interleaved single-port banks with one port for each master that reaches it.
//
// Ports that ask different banks are served in the same cycle; those that ask the same bank, in
// turn.
module atoll_memory
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, a power of two.
  parameter int unsigned DataBytes   = 8,
  // Number of ports.
  parameter int unsigned NumPorts    = 1,
  // Bytes that it has room for, a multiple of `NumBanks` words.
  parameter int unsigned SizeBytes   = 4096,
  // Bytes that a bank moves per cycle, a power of two up to `DataBytes`.
  parameter int unsigned WordBytes   = 4,
  // Banks, a power of two; consecutive words lie in consecutive banks.
  parameter int unsigned NumBanks    = 1,
  // Cycles from an accepted access to its answer, at least 1.
  parameter int unsigned ReadLatency = 1,
  // A ram; otherwise a rom, which answers writes with an error.
  parameter bit          Writable    = 1'b1
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Address of the first byte, a multiple of `DataBytes`; constant out of reset
  input  logic [                31:0]           origin_i,
  // Requests, one per port
  input  logic [NumPorts-1:0]                   valid_i,
  output logic [NumPorts-1:0]                   ready_o,
  input  logic [NumPorts-1:0]                   we_i,
  input  logic [NumPorts-1:0][           31:0]  addr_i,
  input  logic [NumPorts-1:0][8*DataBytes-1:0]  wdata_i,
  input  logic [NumPorts-1:0][  DataBytes-1:0]  be_i,
  // Answers
  output logic [NumPorts-1:0]                   rvalid_o,
  output logic [NumPorts-1:0][8*DataBytes-1:0]  rdata_o,
  output logic [NumPorts-1:0][            1:0]  resp_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes))
  `ATOLL_ASSERT_INIT(SomePort, NumPorts >= 1)
  `ATOLL_ASSERT_INIT(LegalWord, $onehot(WordBytes) && WordBytes <= DataBytes)
  `ATOLL_ASSERT_INIT(LegalBanks, $onehot(NumBanks))
  `ATOLL_ASSERT_INIT(LegalLatency, ReadLatency >= 1)

  localparam int unsigned Rows    = SizeBytes / (WordBytes * NumBanks);
  localparam int unsigned RowBits = Rows > 1 ? $clog2(Rows) : 1;

  `ATOLL_ASSERT_INIT(WholeRows, Rows >= 1 && Rows * WordBytes * NumBanks == SizeBytes)

  logic [NumPorts-1:0][NumBanks-1:0] request, grant;
  logic [NumBanks-1:0][NumPorts-1:0] asking, served;
  logic [NumPorts-1:0][RowBits-1:0] row;
  logic [NumPorts-1:0][WordBytes-1:0] strobe;
  logic [NumPorts-1:0][8*WordBytes-1:0] wdata;
  logic [NumBanks-1:0][8*WordBytes-1:0] rdata;

  // All of it rests while it is asked for nothing.
  logic clk;
  logic [NumPorts-1:0] pending;

  atoll_rest_clock u_clock (
    .clk_i,
    .rst_ni,
    .busy_i(valid_i != '0 || pending != '0),
    .clk_o (clk)
  );

  for (genvar p = 0; p < NumPorts; p++) begin : gen_port
    resp_e resp;
    atoll_memory_port #(
      .DataBytes  (DataBytes),
      .WordBytes  (WordBytes),
      .NumBanks   (NumBanks),
      .RowBits    (RowBits),
      .ReadLatency(ReadLatency),
      .Writable   (Writable)
    ) u_port (
      .clk_i         (clk),
      .rst_ni,
      .origin_i,
      .valid_i       (valid_i[p]),
      .ready_o       (ready_o[p]),
      .we_i          (we_i[p]),
      .addr_i        (addr_i[p]),
      .wdata_i       (wdata_i[p]),
      .be_i          (be_i[p]),
      .rvalid_o      (rvalid_o[p]),
      .rdata_o       (rdata_o[p]),
      .resp_o        (resp),
      .pending_o     (pending[p]),
      .bank_request_o(request[p]),
      .bank_grant_i  (grant[p]),
      .bank_row_o    (row[p]),
      .bank_strobe_o (strobe[p]),
      .bank_wdata_o  (wdata[p]),
      .bank_rdata_i  (rdata)
    );
    assign resp_o[p] = resp;
  end

  // The ports that each bank is asked by, and the one that it serves; nothing is worked out without a
  // request, which saves the simulator time.
  always_comb begin
    asking = '0;
    if (request != '0) begin
      for (int unsigned b = 0; b < NumBanks; b++) begin
        for (int unsigned p = 0; p < NumPorts; p++) asking[b][p] = request[p][b];
      end
    end
  end
  always_comb begin
    grant = '0;
    if (served != '0) begin
      for (int unsigned b = 0; b < NumBanks; b++) begin
        for (int unsigned p = 0; p < NumPorts; p++) grant[p][b] = served[b][p];
      end
    end
  end

  for (genvar b = 0; b < NumBanks; b++) begin : gen_bank
    logic [RowBits-1:0] bank_row;
    logic [WordBytes-1:0] bank_strobe;
    logic [8*WordBytes-1:0] bank_wdata;
    logic [ReadLatency-1:0][8*WordBytes-1:0] delayed;

    atoll_arbiter #(
      .NumPorts(NumPorts)
    ) u_arbiter (
      .clk_i    (clk),
      .rst_ni,
      .request_i(asking[b]),
      .grant_o  (served[b]),
      .taken_i  (|asking[b])
    );

    always_comb begin
      bank_row    = '0;
      bank_strobe = '0;
      bank_wdata  = '0;
      if (served[b] != '0) begin
        for (int unsigned p = 0; p < NumPorts; p++) begin
          if (served[b][p]) begin
            bank_row    = row[p];
            bank_strobe = strobe[p];
            bank_wdata  = wdata[p];
          end
        end
      end
    end

    atoll_memory_bank #(
      .Rows    (Rows),
      .RowBytes(WordBytes)
    ) u_bank (
      .clk_i   (clk),
      .enable_i(|asking[b]),
      .row_i   (bank_row),
      .strobe_i(bank_strobe),
      .wdata_i (bank_wdata),
      .rdata_o (delayed[0])
    );

    for (genvar i = 1; i < ReadLatency; i++) begin : gen_delay
      always_ff @(posedge clk) delayed[i] <= delayed[i-1];
    end
    assign rdata[b] = delayed[ReadLatency-1];
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, rvalid_o)

endmodule
