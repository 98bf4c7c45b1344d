// SPDX-License-Identifier: Apache-2.0
// Specification of a master's view: two memories that it sees elsewhere, the second one as an alias.
module proof_view
  import atoll_bus_pkg::*;
(
  input logic          clk_i,
  input window_t [1:0] views_i,
  input window_t [1:0] memories_i,
  input logic          valid_i,
  input logic [31:0]   addr_i
);

  logic rst_n = 1'b0;
  logic mapped;
  logic [31:0] addr;

  atoll_view #(
    .NumViews(2),
    .Aliases (2'b10)
  ) u_dut (
    .clk_i,
    .rst_ni    (rst_n),
    .views_i,
    .memories_i,
    .valid_i,
    .addr_i,
    .addr_o    (addr),
    .mapped_o  (mapped)
  );

  logic [1:0] seen, there;

  for (genvar i = 0; i < 2; i++) begin : gen_view
    assign seen[i]  = views_i[i].first <= addr_i && addr_i <= views_i[i].last;
    assign there[i] = memories_i[i].first <= addr_i && addr_i <= memories_i[i].last;
  end

  always_ff @(posedge clk_i) begin
    rst_n <= 1'b1;
    if (rst_n && valid_i) begin
      // Views do not overlap.
      // Asserted: atoll_view.OneView
      one_view : assume (seen != 2'b11);
      // A view is as large as its memory.
      // Asserted: atoll_view.SameSize
      same_size : assume (
          views_i[0].last - views_i[0].first == memories_i[0].last - memories_i[0].first
          && views_i[1].last - views_i[1].first == memories_i[1].last - memories_i[1].first);
      // A memory that is seen does not wrap around the end of the addresses.
      // Asserted: atoll_view.InMemory
      no_wrap : assume ((!seen[0] || memories_i[0].first <= memories_i[0].last)
          && (!seen[1] || memories_i[1].first <= memories_i[1].last));

      // An address in a view is as far from the memory's first byte as it is from the view's.
      same_offset : assert ((!seen[0] || addr + views_i[0].first == addr_i + memories_i[0].first)
          && (!seen[1] || addr + views_i[1].first == addr_i + memories_i[1].first));
      // It lies in the memory.
      in_memory : assert (
          (!seen[0] || (memories_i[0].first <= addr && addr <= memories_i[0].last))
          && (!seen[1] || (memories_i[1].first <= addr && addr <= memories_i[1].last)));
      // An address in no view is not translated.
      others_stay : assert (seen != '0 || addr == addr_i);
      // A memory with a view that is no alias is not seen where the bus has it.
      hidden : assert (!(there[0] && seen == '0) || !mapped);
      // All else has a place on the bus.
      mapped_else : assert ((there[0] && seen == '0) || mapped);
    end
  end

endmodule
