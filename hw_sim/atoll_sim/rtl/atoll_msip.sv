// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The registers `msip` of a core-local interruptor, by which cores interrupt each other: a word for each
// hart, whose bit 0 is its software interrupt.
//
// Each core has a port, and all may write in the same cycle. If one raises an interrupt while another
// lowers it, it is raised: no interrupt is lost.
module atoll_msip
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Number of ports.
  parameter int unsigned NumPorts  = 2,
  // Number of harts, at most 1,024.
  parameter int unsigned NumHarts  = 2
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  // Requests; an address counts from the word of hart 0
  input  logic [NumPorts-1:0]                       valid_i,
  output logic [NumPorts-1:0]                       ready_o,
  input  logic [NumPorts-1:0]                       we_i,
  input  logic [NumPorts-1:0][           11:0]      addr_i,
  input  logic [NumPorts-1:0][8*DataBytes-1:0]      wdata_i,
  input  logic [NumPorts-1:0][  DataBytes-1:0]      be_i,
  // Answers, one cycle later
  output logic [NumPorts-1:0]                       rvalid_o,
  output logic [NumPorts-1:0][8*DataBytes-1:0]      rdata_o,
  output logic [NumPorts-1:0][            1:0]      resp_o,
  // The software interrupt of each hart
  output logic [NumHarts-1:0]                       irq_o
);

  `ATOLL_ASSERT_INIT(SomePort, NumPorts >= 1)
  `ATOLL_ASSERT_INIT(LegalHarts, NumHarts >= 1 && NumHarts <= 1024)

  localparam int unsigned HartBits = NumHarts > 1 ? $clog2(NumHarts) : 1;

  logic [NumPorts-1:0][NumHarts-1:0] raised, lowered;
  logic [NumHarts-1:0] pending_d, pending_q;

  for (genvar i = 0; i < NumPorts; i++) begin : gen_port
    logic read, write, known;
    logic [11:0] offset;
    logic [31:0] value;
    logic [HartBits-1:0] hart;
    resp_e resp;
    logic unused_value;

    atoll_word_port #(
      .DataBytes(DataBytes)
    ) u_port (
      .clk_i,
      .rst_ni,
      .read_o   (read),
      .write_o  (write),
      .offset_o (offset),
      .value_o  (value),
      .granted_i(known),
      .value_i  (32'(read && known && pending_q[hart])),
      .valid_i  (valid_i[i]),
      .ready_o  (ready_o[i]),
      .we_i     (we_i[i]),
      .addr_i   (addr_i[i]),
      .wdata_i  (wdata_i[i]),
      .be_i     (be_i[i]),
      .rvalid_o (rvalid_o[i]),
      .rdata_o  (rdata_o[i]),
      .resp_o   (resp)
    );

    assign resp_o[i]    = resp;
    assign known        = 32'(offset) < 4 * NumHarts;
    assign hart         = known ? HartBits'(offset >> 2) : '0;
    assign unused_value = ^value[31:1];

    always_comb begin
      raised[i]        = '0;
      lowered[i]       = '0;
      raised[i][hart]  = write && known && value[0];
      lowered[i][hart] = write && known && !value[0];
    end
  end

  always_comb begin
    pending_d = pending_q;
    for (int unsigned i = 0; i < NumPorts; i++) pending_d &= ~lowered[i];
    for (int unsigned i = 0; i < NumPorts; i++) pending_d |= raised[i];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pending_q <= '0;
    else         pending_q <= pending_d;
  end

  assign irq_o = pending_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, rvalid_o, irq_o})
  `ATOLL_ASSERT_NEXT(NothingRisesByItself, irq_o == '0 && (valid_i & we_i) == '0, irq_o == '0)
  `ATOLL_ASSERT_HELD(OnlyWritesChangeThem, (valid_i & we_i) == '0, 1'b1, irq_o)

endmodule
