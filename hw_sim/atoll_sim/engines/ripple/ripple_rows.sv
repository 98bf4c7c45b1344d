// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Names the source rows of a copy, plane by plane, one read after the other, ahead of their data.
module ripple_rows
  import ripple_pkg::*;
(
  // Clock and asynchronous reset
  input  logic               clk_i,
  input  logic               rst_ni,
  // Give up
  input  logic               flush_i,
  // Begin the copy of a descriptor, which is stable until the next one
  input  logic               start_i,
  input  descriptor_t        descriptor_i,
  // A row to read; held until accepted
  output logic               run_valid_o,
  input  logic               run_ready_i,
  output logic        [31:0] run_address_o,
  output logic        [31:0] run_bytes_o
);

  // Rows of the current plane and planes behind it; where the row and the plane begin.
  logic [15:0] left_q, planes_q;
  logic [31:0] address_q, plane_q, next_plane;
  logic unused;

  assign unused = ^{descriptor_i.reserved_9, descriptor_i.destination_plane,
                    descriptor_i.destination_pitch, descriptor_i.destination, descriptor_i.check,
                    descriptor_i.version, descriptor_i.opcode};

  assign next_plane = plane_q + descriptor_i.source_plane;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q    <= '0;
      planes_q  <= '0;
      address_q <= '0;
      plane_q   <= '0;
    end else if (flush_i) begin
      left_q   <= '0;
      planes_q <= '0;
    end else if (start_i) begin
      left_q    <= descriptor_i.rows;
      planes_q  <= descriptor_i.more_planes;
      address_q <= descriptor_i.source;
      plane_q   <= descriptor_i.source;
    end else if (run_valid_o && run_ready_i) begin
      if (left_q == 16'd1 && planes_q != 0) begin
        left_q    <= descriptor_i.rows;
        planes_q  <= planes_q - 16'd1;
        address_q <= next_plane;
        plane_q   <= next_plane;
      end else begin
        left_q    <= left_q - 16'd1;
        address_q <= address_q + descriptor_i.source_pitch;
      end
    end
  end

  assign run_valid_o   = left_q != 0;
  assign run_address_o = address_q;
  assign run_bytes_o   = descriptor_i.row_bytes;

  `ATOLL_ASSERT_KNOWN(KnownControl, run_valid_o)
  `ATOLL_ASSERT_IF(OnlyStartsWhenDone, start_i, left_q == 0)
  `ATOLL_ASSERT_HELD(RowIsHeld, run_valid_o && !run_ready_i && !flush_i, run_valid_o, run_address_o)

endmodule
