// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Translates the addresses of one bus master that sees some memories, or blocks of registers, elsewhere than
// the bus has them. A memory stands for both here.
//
// Combinational. Inside a view, the address counts from the memory's origin. A memory of which there
// is a view is not seen where the bus has it, unless the view is an alias: such a request has no place
// on the bus, and keeps its address. All else is where the bus has it.
module atoll_view
  import atoll_bus_pkg::*;
#(
  // Number of memories of which the master has a view
  parameter int unsigned       NumViews = 1,
  // Those that are aliases: the master sees the memory where the bus has it, too
  parameter bit [NumViews-1:0] Aliases  = '0
) (
  // For the assertions alone
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Where the master sees each of them, and where the bus has it; constant out of reset
  input  window_t [NumViews-1:0] views_i,
  input  window_t [NumViews-1:0] memories_i,
  // Address of a request, as the master sees it
  input  logic                   valid_i,
  input  logic    [        31:0] addr_i,
  // The same on the bus
  output logic    [        31:0] addr_o,
  // The request has a place on the bus
  output logic                   mapped_o
);

  `ATOLL_ASSERT_INIT(SomeView, NumViews >= 1)

  logic [NumViews-1:0] seen, hidden;

  always_comb begin
    addr_o = addr_i;
    for (int unsigned i = 0; i < NumViews; i++) begin
      seen[i]   = addr_i >= views_i[i].first && addr_i <= views_i[i].last;
      hidden[i] = !Aliases[i] && addr_i >= memories_i[i].first && addr_i <= memories_i[i].last;
      if (seen[i]) addr_o = addr_i - views_i[i].first + memories_i[i].first;
    end
  end

  assign mapped_o = |seen || !(|hidden);

  `ATOLL_ASSERT_IF(OneView, valid_i, $onehot0(seen))
  for (genvar i = 0; i < NumViews; i++) begin : g_view
    `ATOLL_ASSERT_IF(InMemory,
        valid_i && seen[i], addr_o >= memories_i[i].first && addr_o <= memories_i[i].last)
    `ATOLL_ASSERT_IF(SameSize,
        valid_i, views_i[i].last - views_i[i].first == memories_i[i].last - memories_i[i].first)
  end

endmodule
