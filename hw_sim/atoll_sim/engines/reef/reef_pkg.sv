// SPDX-License-Identifier: Apache-2.0
// Types of reef, the accelerator; docs/reef.md is its contract.
package reef_pkg;

  typedef enum logic [7:0] {
    OpConv2d          = 8'd1,
    OpDepthwiseConv2d = 8'd2,
    OpFullyConnected  = 8'd3,
    OpAdd             = 8'd4,
    OpMul             = 8'd5,
    OpLink            = 8'd6,
    OpMove            = 8'd7,
    OpSoftmax         = 8'd8
  } opcode_e;

  // One command as it lies in memory: word 15 comes first here, word 0 last.
  typedef struct packed {
    logic [31:0] kernel_row_bytes;
    logic [31:0] weight_block_bytes;
    logic [31:0] row_pitch;
    logic [10:0] reserved_12;
    logic        once;
    logic        greatest;
    logic        joined;
    logic        lines;
    logic        uniform;
    logic [15:0] depth_multiplier;
    logic [7:0]  activation_max;
    logic [7:0]  activation_min;
    logic [7:0]  output_zero;
    logic [7:0]  input_zero;
    logic [15:0] pad_left;
    logic [15:0] pad_top;
    logic [15:0] stride_x;
    logic [15:0] stride_y;
    logic [15:0] kernel_width;
    logic [15:0] kernel_height;
    logic [15:0] output_width;
    logic [15:0] output_height;
    logic [15:0] output_channels;
    logic [15:0] input_channels;
    logic [15:0] input_width;
    logic [15:0] input_height;
    logic [31:0] parameters_address;
    logic [31:0] weights_address;
    logic [31:0] output_address;
    logic [31:0] input_address;
    logic [15:0] check;
    logic [7:0]  version;
    logic [7:0]  opcode;
  } descriptor_t;

  // The same bytes as a command over elements.
  typedef struct packed {
    logic [127:0] reserved_12;
    logic [7:0]   activation_max;
    logic [7:0]   activation_min;
    logic [14:0]  reserved_11;
    logic         once;
    logic [7:0]   reserved_10;
    logic [7:0]   output_zero;
    logic [7:0]   second_zero;
    logic [7:0]   first_zero;
    logic [7:0]   reserved_9;
    logic [7:0]   result_shift;
    logic [7:0]   second_shift;
    logic [7:0]   first_shift;
    logic [31:0]  result_multiplier;
    logic [31:0]  second_multiplier;
    logic [31:0]  first_multiplier;
    logic [31:0]  elements;
    logic [31:0]  second_address_again;
    logic [31:0]  second_address;
    logic [31:0]  output_address;
    logic [31:0]  first_address;
    logic [15:0]  check;
    logic [7:0]   version;
    logic [7:0]   opcode;
  } elements_t;

  // The same bytes as a command that moves rows. Counts and steps begin with the innermost.
  typedef struct packed {
    logic [63:0]      reserved_14;
    logic [2:0][31:0] output_steps;
    logic [2:0][31:0] source_steps;
    logic [7:0]       value;
    logic [5:0]       reserved_7;
    logic             filled;
    logic             mapped;
    logic [2:0][15:0] counts;
    logic [31:0]      row_bytes;
    logic [31:0]      table_address_again;
    logic [31:0]      table_address;
    logic [31:0]      output_address;
    logic [31:0]      source_address;
    logic [15:0]      check;
    logic [7:0]       version;
    logic [7:0]       opcode;
  } moves_t;

  // A command that moves rows has only fields in their ranges.
  function automatic logic moves_fit(moves_t command);
    logic unused;
    unused = ^command;
    return command.reserved_14 == 0 && command.reserved_7 == 0 && command.row_bytes != 0
        && command.counts[0] != 0 && command.counts[1] != 0 && command.counts[2] != 0
        && command.table_address_again == command.table_address
        && (command.mapped || command.table_address == command.source_address)
        && (command.filled ? !command.mapped && command.source_steps == 0
                             && command.source_address == command.output_address
                           : command.value == 0);
  endfunction

  // A command that makes shares of rows has some of the same fields: rows, and values of each.
  function automatic logic softmax_fits(moves_t command);
    logic unused;
    unused = ^command;
    return command.reserved_14 == 0 && command.output_steps == 0 && command.source_steps == 0
        && command.value == 0 && command.reserved_7 == 0 && !command.filled && !command.mapped
        && command.counts[0] != 0 && command.counts[1] == 0 && command.counts[2] == 0
        && command.row_bytes != 0 && command.row_bytes <= 32'd4095
        && command.table_address_again == command.table_address;
  endfunction

  // A command over elements, or one that moves rows; of instances with all units, also one that
  // makes shares of rows
  function automatic logic is_vector(logic [7:0] opcode, logic [1:0] vector);
    return (vector != 0 && (opcode == OpAdd || opcode == OpMul || opcode == OpMove))
        || (vector > 2'd1 && opcode == OpSoftmax);
  endfunction

  // A command that ends its list and goes on with another one.
  typedef struct packed {
    logic [415:0] reserved_3;
    logic [15:0]  reserved_2;
    logic [15:0]  count;
    logic [31:0]  address;
    logic [15:0]  check;
    logic [7:0]   version;
    logic [7:0]   opcode;
  } link_command_t;

  // A link has only fields in their ranges.
  function automatic logic link_fits(link_command_t command);
    logic unused;
    unused = ^command;
    return command.reserved_3 == 0 && command.reserved_2 == 0 && command.count != 0;
  endfunction

  // An operand of an addition is scaled by at most 1 / 2; of a product there is nothing to scale.
  function automatic logic operand_fits(logic add, logic [31:0] multiplier, logic [7:0] shift);
    if (!add) return multiplier == 0 && shift == 0;
    return !multiplier[31] && (shift == 0 || shift >= 8'd225);
  endfunction

  // A command over elements has only fields in their ranges.
  function automatic logic elements_fit(elements_t command);
    logic unused;
    unused = ^command;
    return command.reserved_12 == 0 && command.reserved_11 == 0 && command.reserved_10 == 0
        && command.reserved_9 == 0 && command.elements != 0
        && !(command.once && command.opcode == OpAdd)
        && command.second_address_again == command.second_address
        && signed'(command.activation_min) <= signed'(command.activation_max)
        && operand_fits(command.opcode == OpAdd, command.first_multiplier, command.first_shift)
        && operand_fits(command.opcode == OpAdd, command.second_multiplier, command.second_shift)
        && (command.result_shift <= 8'd30 || command.result_shift >= 8'd225);
  endfunction

  // Doubles and divides by 2^32, to nearest, halves up, or else down; only the product of the two
  // most negative numbers does not fit.
  function automatic logic [31:0] rounded_high_half(logic [63:0] product, logic nearest);
    if (product == 64'h4000_0000_0000_0000) return 32'h7fff_ffff;
    return 32'((product + {33'd0, nearest, 30'd0}) >> 31);
  endfunction

  // Divides by a power of two, to nearest, halves away from zero, or else up.
  function automatic logic signed [32:0] rounded_shift(logic signed [31:0] value,
                                                       logic [4:0] places, logic away);
    logic [31:0] mask, threshold;
    logic round_up;
    mask      = (32'd1 << places) - 32'd1;
    threshold = (mask >> 1) + 32'(value[31] && away);
    round_up  = (value & mask) > threshold;
    return 33'(value >>> places) + 33'(round_up);
  endfunction

  // Products of descriptor fields, in bytes modulo 2^32.
  typedef struct packed {
    logic [31:0] row_bytes; // input width times the input channels
    logic [31:0] pad_top;   // padding at the top times the row pitch
    logic [31:0] pad_left;  // padding at the left times the input channels
    logic [31:0] stride_y;  // stride down times the row pitch
    logic [31:0] stride_x;  // stride across times the input channels
  } geometry_t;

  // What datapath and writer need to know of a block of output channels. There are four banks of
  // it, for two sets of one or two blocks, see `reef_loader`.
  typedef struct packed {
    logic [7:0]       input_zero;
    logic [7:0]       output_zero;
    logic [7:0]       minimum;
    logic [7:0]       maximum;
    logic             greatest;   // depthwise: sums are the greatest product instead
    logic             once;       // sums are rounded once
    logic [15:0][3:0] lane_byte;  // depthwise: which of the step's bytes each lane uses
    logic [3:0]       last_lane;  // that has an output channel
    logic [13:0]      row;        // of weights that it begins in
    logic [31:0]      address;    // of the first pixel's first byte
    logic [15:0]      stride;     // bytes from one output pixel to the next
  } block_t;

  // A depthwise operator that is computed by lines, see `reef_lines`.
  typedef struct packed {
    logic        start;          // begins in this cycle
    logic        on;             // is at work
    logic        set;            // its first one
    logic [7:0]  zero;           // of the input
    logic [15:0] height;         // of the input
    logic [15:0] width;
    logic [15:0] output_height;
    logic [15:0] output_width;
    logic [2:0]  kernel_height;  // at most 4
    logic [3:0]  kernel_width;   // at most 8
    logic [15:0] stride_y;
    logic [15:0] stride_x;
    logic [1:0]  pad_top;
    logic [2:0]  pad_left;
  } lines_t;

  // A command over elements or rows, see `reef_vector`.
  typedef struct packed {
    logic      start;    // begins in this cycle
    logic      on;       // is at work
    elements_t command;
  } vector_t;

  // A beat of a parameter table or of weights that come ahead of pixels.
  typedef struct packed {
    logic        parameters;
    logic        weights;
    logic [1:0]  bank;
    logic [13:0] row;        // of weights that the run begins in
    logic [15:0] beat;       // its number in the run
  } constants_t;

  // What travels with the data of a pixel.
  typedef struct packed {
    logic [1:0] bank;    // of its block: the set, and which block of it
    logic       pair;    // for the second block of the set too, after the first
    logic       first;   // begins an output pixel
    logic       last;    // ends an output pixel
    logic       closes;  // belongs to the block's last pixel
  } tag_t;

  typedef enum logic [1:0] {
    KindDescriptor,
    KindWeights,
    KindInput,
    KindTable
  } kind_e;

  // A run of bytes to read, and what they are for. Weights come this way only if they do not stay
  // on chip.
  typedef struct packed {
    kind_e       kind;
    logic [31:0] address;
    logic [31:0] bytes;    // 0: no read, one step without any contribution
    logic [3:0]  phase;    // input lane of the first byte
    logic [13:0] unit;     // weights of the first step: a row of them, or a depthwise tap; joined,
                           // the byte of the kernel that it begins at; of a move that fills, the
                           // bytes of the step
    logic        depthwise;
    logic        joined;   // with other rows of the kernel
    tag_t        tag;
  } run_t;

endpackage
