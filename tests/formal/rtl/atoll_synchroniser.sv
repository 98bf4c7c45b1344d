// SPDX-License-Identifier: Apache-2.0
// What a synchroniser may do, for proofs: a bit that changed at the last edge of its own clock may be caught
// as it was before, once and whatever other bits are caught as, as a metastable register settles to either.
module atoll_synchroniser #(
  parameter int unsigned Width = 1
) (
  input  logic             src_clk_i,
  input  logic             src_rst_ni,
  input  logic [Width-1:0] level_i,
  input  logic             dst_clk_i,
  input  logic             dst_rst_ni,
  output logic [Width-1:0] level_o
);

  logic [Width-1:0] level_q, before_q, caught_q;
  // They differ if the source's clock had an edge since the other one's last
  logic src_q, dst_q;
  // Never driven: any value in each step
  logic [Width-1:0] late;

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) begin
      level_q  <= '0;
      before_q <= '0;
      src_q    <= 1'b0;
    end else begin
      level_q  <= level_i;
      before_q <= level_q;
      src_q    <= !dst_q;
    end
  end

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      caught_q <= '0;
      level_o  <= '0;
      dst_q    <= 1'b0;
    end else begin
      caught_q <= src_q != dst_q ? (level_q & ~late) | (before_q & late) : level_q;
      level_o  <= caught_q;
      dst_q    <= src_q;
    end
  end

endmodule
