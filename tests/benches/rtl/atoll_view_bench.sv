// SPDX-License-Identifier: Apache-2.0
// `atoll_view` with two views, one of which lies where the bus has the other memory.
module atoll_view_bench
  import atoll_bus_pkg::*;
(
  // Clock and reset
  input  logic        clk_i,
  input  logic        rst_ni,
  // A request of the master, and its place on the bus
  input  logic        valid_i,
  input  logic [31:0] addr_i,
  output logic [31:0] addr_o,
  output logic        mapped_o
);

  localparam window_t ROM = '{first: 32'h0000_0000, last: 32'h000f_ffff};
  localparam window_t RAM = '{first: 32'h2000_0000, last: 32'h2003_ffff};
  localparam window_t RomSeen = '{first: 32'h2002_0000, last: 32'h2011_ffff};
  localparam window_t RamSeen = '{first: 32'hfffc_0000, last: 32'hffff_ffff};

  atoll_view #(
    .NumViews(2)
  ) u_view (
    .clk_i,
    .rst_ni,
    .views_i   ({RamSeen, RomSeen}),
    .memories_i({RAM, ROM}),
    .valid_i,
    .addr_i,
    .addr_o,
    .mapped_o
  );

endmodule
