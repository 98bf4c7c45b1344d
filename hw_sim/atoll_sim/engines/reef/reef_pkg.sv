// Types of reef, the accelerator; docs/reef.md is its contract.
package reef_pkg;

  typedef enum logic [7:0] {
    OpConv2d          = 8'd1,
    OpDepthwiseConv2d = 8'd2,
    OpFullyConnected  = 8'd3
  } opcode_e;

  // One command as it lies in memory: word 15 comes first here, word 0 last.
  typedef struct packed {
    logic [31:0] kernel_row_bytes;
    logic [31:0] weight_block_bytes;
    logic [31:0] row_pitch;
    logic [13:0] reserved_12;
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

  // Products of descriptor fields, in bytes modulo 2^32.
  typedef struct packed {
    logic [31:0] row_bytes; // input width times the input channels
    logic [31:0] pad_top;   // padding at the top times the row pitch
    logic [31:0] pad_left;  // padding at the left times the input channels
    logic [31:0] stride_y;  // stride down times the row pitch
    logic [31:0] stride_x;  // stride across times the input channels
  } geometry_t;

  // What datapath and writer need to know of a block of output channels. There are two banks of
  // it, so that a block is loaded while the one before is computed.
  typedef struct packed {
    logic [7:0]       input_zero;
    logic [7:0]       output_zero;
    logic [7:0]       minimum;
    logic [7:0]       maximum;
    logic [15:0][3:0] lane_byte;  // depthwise: which of the step's bytes each lane uses
    logic [3:0]       last_lane;  // that has an output channel
    logic [31:0]      address;    // of the first pixel's first byte
    logic [15:0]      stride;     // bytes from one output pixel to the next
  } block_t;

  // A depthwise operator that is computed by lines, see `reef_lines`.
  typedef struct packed {
    logic        start;          // begins in this cycle
    logic        on;             // is at work
    logic        bank;           // of its first block
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

  // What travels with the data of a pixel.
  typedef struct packed {
    logic bank;    // of its block
    logic first;   // begins an output pixel
    logic last;    // ends an output pixel
    logic closes;  // belongs to the block's last pixel
  } tag_t;

  typedef enum logic [1:0] {
    KindDescriptor,
    KindParameters,
    KindWeights,
    KindInput
  } kind_e;

  // A run of bytes to read, and what they are for. Of a table or of weights, only the tag's bank
  // matters.
  typedef struct packed {
    kind_e       kind;
    logic [31:0] address;
    logic [31:0] bytes;    // 0: no read, one step without any contribution
    logic [3:0]  phase;    // input lane of the first byte
    logic [13:0] unit;     // weights of the first step: a row of them, or a depthwise tap;
                           // of weights, the row that they begin in
    logic        depthwise;
    tag_t        tag;
  } run_t;

endpackage
