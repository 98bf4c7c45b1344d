`include "atoll_assert.svh"

// Lets two readers share the read channels of one AXI4 master.
//
// Reader 0 comes first: reader 1 requests a burst only when it has nothing to request or no space.
// One address at most is on the bus, so that none is left over when the readers are halted. Answers
// come in the order of the requests, all with one ID.
module engine_read_merge #(
  // Bursts under way, a power of two.
  parameter int unsigned Bursts = 16
) (
  // Clock and asynchronous reset
  input  logic                        clk_i,
  input  logic                        rst_ni,
  // The readers: could request a burst, may do so
  input  logic [1:0]                  want_i,
  output logic [1:0]                  grant_o,
  // Their ports, names as at an AXI slave
  input  logic [1:0][           31:0] s_axi_araddr_i,
  input  logic [1:0][            7:0] s_axi_arlen_i,
  input  logic [1:0][            2:0] s_axi_arsize_i,
  input  logic [1:0][            1:0] s_axi_arburst_i,
  input  logic [1:0]                  s_axi_arvalid_i,
  output logic [1:0]                  s_axi_arready_o,
  output logic [1:0]                  s_axi_rvalid_o,
  input  logic [1:0]                  s_axi_rready_i,
  // AXI4 read channels; data, answer and the last beat's mark go to both readers alike
  output logic      [           31:0] m_axi_araddr_o,
  output logic      [            7:0] m_axi_arlen_o,
  output logic      [            2:0] m_axi_arsize_o,
  output logic      [            1:0] m_axi_arburst_o,
  output logic                        m_axi_arvalid_o,
  input  logic                        m_axi_arready_i,
  input  logic                        m_axi_rlast_i,
  input  logic                        m_axi_rvalid_i,
  output logic                        m_axi_rready_o
);

  `ATOLL_ASSERT_INIT(LegalBursts, $onehot(Bursts) && Bursts >= 2)

  logic shown, next, free, owner_valid, owner, full;

  // The address on the bus is that of this reader.
  assign shown           = s_axi_arvalid_i[1];
  assign m_axi_arvalid_o = |s_axi_arvalid_i;
  assign m_axi_araddr_o  = s_axi_araddr_i[shown];
  assign m_axi_arlen_o   = s_axi_arlen_i[shown];
  assign m_axi_arsize_o  = s_axi_arsize_i[shown];
  assign m_axi_arburst_o = s_axi_arburst_i[shown];
  assign s_axi_arready_o = {2{m_axi_arready_i}};

  // The next one is granted when that one is taken.
  assign free = (!m_axi_arvalid_o || m_axi_arready_i) && !full;
  assign next = !want_i[0];
  always_comb begin
    grant_o       = '0;
    grant_o[next] = free;
  end

  atoll_fifo #(
    .Width(1),
    .Depth(Bursts)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (|(want_i & grant_o)),
    .data_i (next),
    .pop_i  (m_axi_rvalid_i && m_axi_rready_o && m_axi_rlast_i),
    .valid_o(owner_valid),
    .data_o (owner),
    .full_o (full)
  );

  always_comb begin
    s_axi_rvalid_o        = '0;
    s_axi_rvalid_o[owner] = m_axi_rvalid_i && owner_valid;
  end
  assign m_axi_rready_o = owner_valid && s_axi_rready_i[owner];

  `ATOLL_ASSERT_KNOWN(KnownControl,
      {grant_o, s_axi_arready_o, s_axi_rvalid_o, m_axi_arvalid_o, m_axi_rready_o})
  `ATOLL_ASSERT(OneAddress, $onehot0(s_axi_arvalid_i))
  `ATOLL_ASSERT(AddressIsHeld, m_axi_arvalid_o && !m_axi_arready_i |=>
                m_axi_arvalid_o && $stable({m_axi_araddr_o, m_axi_arlen_o}))

endmodule
