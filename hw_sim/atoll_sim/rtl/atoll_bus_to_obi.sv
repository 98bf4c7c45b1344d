// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the bus to the OBI control port of an accelerator, one access at a time.
//
// An access stays within one 32-bit word; a wider one is answered with an error and not carried
// on. `err` becomes a slave error. The request falls when it is granted, and the answer is awaited.
module atoll_bus_to_obi
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // OBI 1 without identifiers, names as at a manager; answers are never held up (`rready` is 1)
  output logic                   m_obi_req_o,
  input  logic                   m_obi_gnt_i,
  output logic [   AddrBits-1:0] m_obi_addr_o,
  output logic                   m_obi_we_o,
  output logic [            3:0] m_obi_be_o,
  output logic [           31:0] m_obi_wdata_o,
  input  logic                   m_obi_rvalid_i,
  input  logic [           31:0] m_obi_rdata_i,
  input  logic                   m_obi_err_i,
  // The system bus
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits)
);

  logic access, we, done, granted_q;
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
    .access_addr_o(m_obi_addr_o),
    .access_data_o(m_obi_wdata_o),
    .access_be_o  (be),
    .done_i       (done),
    .data_i       (m_obi_rdata_i),
    .error_i      (m_obi_err_i)
  );

  assign m_obi_req_o = access && !granted_q;
  assign m_obi_we_o  = we;
  assign m_obi_be_o  = be;
  assign done        = granted_q && m_obi_rvalid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) granted_q <= 1'b0;
    else granted_q <= granted_q ? !done : m_obi_req_o && m_obi_gnt_i;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, m_obi_req_o)
  `ATOLL_ASSERT_HELD(RequestHolds,
      m_obi_req_o && !m_obi_gnt_i, m_obi_req_o,
      {m_obi_addr_o, m_obi_we_o, m_obi_be_o, m_obi_wdata_o})
  `ATOLL_ASSERT_NEXT(OneRequestPerAccess, m_obi_req_o && m_obi_gnt_i, !m_obi_req_o)
  // What the accelerator must keep (docs/platform.md).
  `ATOLL_ASSERT_IF(OnlyAwaitedAnswers, m_obi_rvalid_i, granted_q)

endmodule
