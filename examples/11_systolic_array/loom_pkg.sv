// SPDX-License-Identifier: Apache-2.0
// What the parts of loom tell each other.
package loom_pkg;

  // Rows and columns of the array; channels of a block
  localparam int unsigned Lanes = 8;
  // Inputs of a weight matrix at most, in blocks
  localparam int unsigned Depth = 128;

  typedef struct packed {
    logic [31:0] image;
    logic [31:0] weights;
    logic [31:0] channels;
    logic [31:0] result;
    logic [15:0] positions;
    logic [7:0]  depth;
    logic [15:0] blocks;
    logic [7:0]  zero_point;
    logic [7:0]  low;
    logic [7:0]  high;
  } job_t;

  typedef enum logic [1:0] {
    EndWell,
    EndFailed,
    EndStopped,
    EndRefused
  } ending_e;

  // How the sums of a channel become bytes: the word of the table that comes last is on top.
  typedef struct packed {
    logic [31:0] unused;
    logic [31:0] shift;
    logic signed [31:0] multiplier;
    logic signed [31:0] bias;
  } channel_t;

endpackage
