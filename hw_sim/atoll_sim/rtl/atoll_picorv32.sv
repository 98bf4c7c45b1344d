// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_core.svh"

// A PicoRV32 core on the system bus, one access at a time.
//
// Loads enable exactly the bytes that the instruction asks for; fetches take whole words. The
// core has no bus-error input: a failed load reads 0, a failed store is lost.
module atoll_picorv32
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes    = 8,
  // Address of the first instruction.
  parameter logic [31:0] ResetAddress = '0,
  // Extension M: multiplication and division.
  parameter bit          HasM         = 1'b1,
  // Extension C: compressed instructions.
  parameter bit          HasC         = 1'b1,
  // Base E: 16 registers.
  parameter bit          HasE         = 1'b0
) (
  // Lines 0 to 2 of `irq_i` belong to the core itself; it stands still at an illegal instruction or address
  `ATOLL_CORE_PORTS(DataBytes)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)

  localparam int unsigned Lanes    = DataBytes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);

  logic mem_valid, mem_instr, mem_ready, look_ahead, issued_q;
  logic [31:0] mem_addr, mem_wdata;
  logic [3:0] mem_wstrb, ahead_strobe, bytes_q;
  logic [LaneBits-1:0] lane;
  logic ahead_read, ahead_write;
  logic unused_inputs;

  // The core names a load's bytes only one cycle ahead of the access.
  assign look_ahead = ahead_read || ahead_write;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bytes_q <= '0;
    else if (look_ahead) bytes_q <= ahead_strobe;
  end

  assign unused_inputs = ^{err_i, mem_addr[1:0]};

  assign lane      = mem_addr[2+:LaneBits];
  assign valid_o   = mem_valid && !issued_q;
  assign we_o      = mem_wstrb != '0;
  assign addr_o    = {mem_addr[31:2+LaneBits], (2 + LaneBits)'(0)};
  assign wdata_o   = {Lanes{mem_wdata}};
  assign be_o      = DataBytes'(mem_instr ? 4'hf : bytes_q) << (4 * lane);
  assign instr_o   = mem_instr;
  assign mem_ready = issued_q && rvalid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) issued_q <= 1'b0;
    else if (valid_o && ready_i) issued_q <= 1'b1;
    else if (rvalid_i) issued_q <= 1'b0;
  end

  picorv32 #(
    .ENABLE_REGS_16_31(!HasE),
    .BARREL_SHIFTER   (1'b1),
    .COMPRESSED_ISA   (HasC),
    .ENABLE_MUL       (1'b0),
    .ENABLE_FAST_MUL  (HasM),
    .ENABLE_DIV       (HasM),
    .ENABLE_IRQ       (1'b1),
    .LATCHED_IRQ      (32'h0000_0003),
    .PROGADDR_RESET   (ResetAddress),
    .PROGADDR_IRQ     (ResetAddress + 32'h10)
  ) u_core (
    .clk         (clk_i),
    .resetn      (rst_ni),
    .trap        (trap_o),
    .mem_valid   (mem_valid),
    .mem_instr   (mem_instr),
    .mem_ready   (mem_ready),
    .mem_addr    (mem_addr),
    .mem_wdata   (mem_wdata),
    .mem_wstrb   (mem_wstrb),
    .mem_rdata   (rdata_i[32*lane+:32]),
    .mem_la_read (ahead_read),
    .mem_la_write(ahead_write),
    .mem_la_addr (),
    .mem_la_wdata(),
    .mem_la_wstrb(ahead_strobe),
    .pcpi_valid  (),
    .pcpi_insn   (),
    .pcpi_rs1    (),
    .pcpi_rs2    (),
    .pcpi_wr     (1'b0),
    .pcpi_rd     ('0),
    .pcpi_wait   (1'b0),
    .pcpi_ready  (1'b0),
    .irq         (irq_i),
    .eoi         (),
    .trace_valid (),
    .trace_data  ()
  );

  `ATOLL_ASSERT_KNOWN(KnownControl, {valid_o, trap_o})
  `ATOLL_ASSERT_IF(WritesNameTheirBytes,
      valid_o && we_o, be_o == DataBytes'(mem_wstrb) << (4 * lane))
  `ATOLL_ASSERT_IF(NeverWithoutBytes, valid_o, be_o != '0)
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, rvalid_i, issued_q)

endmodule
