// SPDX-License-Identifier: Apache-2.0
// Types of ripple, the DMA engine; docs/ripple.md is its contract.
package ripple_pkg;

  typedef enum logic [7:0] {
    OpCopy = 8'd1
  } opcode_e;

  // One command as it lies in memory: word 15 comes first here, word 0 last.
  typedef struct packed {
    logic [223:0] reserved_9;
    logic [31:0]  destination_plane;
    logic [31:0]  source_plane;
    logic [31:0]  destination_pitch;
    logic [31:0]  source_pitch;
    logic [15:0]  more_planes;
    logic [15:0]  rows;
    logic [31:0]  row_bytes;
    logic [31:0]  destination;
    logic [31:0]  source;
    logic [15:0]  check;
    logic [7:0]   version;
    logic [7:0]   opcode;
  } descriptor_t;

endpackage
