// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the bus to the APB4 control port of an accelerator, one access at a time.
//
// An access stays within one 32-bit word; a wider one is answered with an error and not carried
// on. `pslverr` becomes a slave error.
module atoll_bus_to_apb
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // APB4, names as at an APB requester; each transfer has a setup cycle before its access cycles
  output logic                   m_apb_psel_o,
  output logic                   m_apb_penable_o,
  output logic [   AddrBits-1:0] m_apb_paddr_o,
  output logic                   m_apb_pwrite_o,
  output logic [           31:0] m_apb_pwdata_o,
  output logic [            3:0] m_apb_pstrb_o,
  input  logic                   m_apb_pready_i,
  input  logic [           31:0] m_apb_prdata_i,
  input  logic                   m_apb_pslverr_i,
  // The system bus
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits)
);

  logic access, we, done, enable_q;
  logic [3:0] be;

  atoll_word_access #(
    .DataBytes(DataBytes),
    .AddrBits (AddrBits)
  ) u_access (
    .clk_i,
    .rst_ni,
    .valid_i, .ready_o, .we_i, .addr_i, .wdata_i, .be_i, .rvalid_o, .rdata_o, .resp_o,
    .access_o     (access),
    .access_we_o  (we),
    .access_addr_o(m_apb_paddr_o),
    .access_data_o(m_apb_pwdata_o),
    .access_be_o  (be),
    .done_i       (done),
    .data_i       (m_apb_prdata_i),
    .error_i      (m_apb_pslverr_i)
  );

  assign m_apb_psel_o    = access;
  assign m_apb_penable_o = enable_q;
  assign m_apb_pwrite_o  = we;
  assign m_apb_pstrb_o   = we ? be : '0;
  assign done            = enable_q && m_apb_pready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enable_q <= 1'b0;
    else enable_q <= access && !done;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {m_apb_psel_o, m_apb_penable_o})
  `ATOLL_ASSERT_NEXT(SetupComesFirst, !m_apb_psel_o, !m_apb_penable_o)
  `ATOLL_ASSERT_NEXT(OneSetupCycle, m_apb_psel_o && !m_apb_penable_o, m_apb_penable_o)
  `ATOLL_ASSERT_IF(OnlyWhileSelected, m_apb_penable_o, m_apb_psel_o)
  `ATOLL_ASSERT_HELD(TransferHolds,
      m_apb_psel_o && !done, m_apb_psel_o && m_apb_penable_o,
      {m_apb_paddr_o, m_apb_pwrite_o, m_apb_pwdata_o, m_apb_pstrb_o})
  `ATOLL_ASSERT_IF(ReadsStrobeNothing, m_apb_psel_o && !m_apb_pwrite_o, m_apb_pstrb_o == '0)

endmodule
