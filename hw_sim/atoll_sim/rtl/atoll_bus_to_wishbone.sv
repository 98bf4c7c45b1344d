// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_bus.svh"

// Carries the bus to the Wishbone control port of an accelerator, one access at a time.
//
// An access stays within one 32-bit word; a wider one is answered with an error and not carried
// on. `err` becomes a slave error. What the port says between two cycles is not looked at: a classic
// slave may hold `ack` high.
module atoll_bus_to_wishbone
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // Bits of a register's address.
  parameter int unsigned AddrBits  = 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Wishbone B4, classic cycles, names as at a master; `adr` counts bytes
  output logic                   m_wb_cyc_o,
  output logic                   m_wb_stb_o,
  output logic                   m_wb_we_o,
  output logic [   AddrBits-1:0] m_wb_adr_o,
  output logic [            3:0] m_wb_sel_o,
  output logic [           31:0] m_wb_dat_w_o,
  input  logic [           31:0] m_wb_dat_r_i,
  input  logic                   m_wb_ack_i,
  input  logic                   m_wb_err_i,
  // The system bus
  `ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits)
);

  logic access, we, done;
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
    .access_addr_o(m_wb_adr_o),
    .access_data_o(m_wb_dat_w_o),
    .access_be_o  (be),
    .done_i       (done),
    .data_i       (m_wb_dat_r_i),
    .error_i      (m_wb_err_i)
  );

  assign m_wb_cyc_o = access;
  assign m_wb_stb_o = access;
  assign m_wb_we_o  = we;
  assign m_wb_sel_o = be;
  assign done       = m_wb_ack_i || m_wb_err_i;

  `ATOLL_ASSERT_KNOWN(KnownControl, {m_wb_cyc_o, m_wb_stb_o})
  `ATOLL_ASSERT_HELD(CycleHolds,
      m_wb_cyc_o && !done, m_wb_cyc_o && m_wb_stb_o,
      {m_wb_adr_o, m_wb_we_o, m_wb_sel_o, m_wb_dat_w_o})
  `ATOLL_ASSERT_NEXT(CycleEnds, m_wb_cyc_o && done, !m_wb_cyc_o)
  // What the accelerator must keep (docs/platform.md).
  `ATOLL_ASSERT_IF(OneAnswer, m_wb_stb_o, !(m_wb_ack_i && m_wb_err_i))

endmodule
