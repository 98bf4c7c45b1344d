// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Writes the bytes of each pixel over AXI4: single beats with strobes, at any alignment.
//
// Pixels of a block are a constant stride apart.
module reef_writer
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned Requantisers = 8,
  parameter int unsigned DataBytes = 8,
  // Writes under way, a power of two.
  parameter int unsigned Writes = 8,
  localparam int unsigned Groups = OutputLanes / Requantisers,
  localparam int unsigned GroupBits = Groups > 1 ? $clog2(Groups) : 1
) (
  // Clock and asynchronous reset
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Issue nothing new; what is on the bus stays
  input  logic                     halt_i,
  // Forget what is not on the bus yet; only while halted
  input  logic                     flush_i,
  // The blocks of all banks; each is stable while a pixel of it is to be written
  input  block_t [           3:0]  blocks_i,
  // Bytes of the pixels, in the order of groups of lanes
  input  logic                     bytes_valid_i,
  output logic                     bytes_ready_o,
  input  logic   [Requantisers-1:0][7:0] bytes_i,
  input  logic   [  GroupBits-1:0] bytes_group_i,
  input  tag_t                     bytes_tag_i,
  // Beats from elsewhere, only while there is no pixel
  input  logic                     beat_valid_i,
  output logic                     beat_ready_o,
  input  logic [32-$clog2(DataBytes)-1:0] beat_index_i,
  input  logic   [DataBytes*8-1:0] beat_data_i,
  input  logic   [  DataBytes-1:0] beat_strobe_i,
  // The last pixel of a set is taken
  output logic                     closed_o,
  // An error answer in this cycle
  output fault_t                   fault_o,
  // Nothing to write and nothing outstanding; `bus_idle_o` is about the bus alone
  output logic                     idle_o,
  output logic                     bus_idle_o,
  // AXI4 write channels
  output write_req_t               write_req_o,
  input  write_rsp_t               write_rsp_i,
  output logic   [DataBytes*8-1:0] wdata_o,
  output logic   [  DataBytes-1:0] wstrb_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})
  `ATOLL_ASSERT_INIT(LegalWrites, $onehot(Writes) && Writes >= 2)

  localparam int unsigned BeatBits = $clog2(DataBytes);
  localparam int unsigned IndexBits = 32 - BeatBits;

  // The pixel being collected
  logic [3:0] last_lane;
  logic [31:0] first;
  logic [1:0] opens_q;
  logic [31:0] address;
  logic [1:0][31:0] next_q;
  logic [Groups-1:0][Requantisers*8-1:0] bytes_q, bytes;
  logic [15:0] enables;
  logic collected;

  // The pixel being written: the beat to issue next in the low half, one more above it.
  logic [IndexBits-1:0] index_q;
  logic [DataBytes*16-1:0] data_q;
  logic [DataBytes*2-1:0] strobe_q;
  logic pending, second, ready, issue, free;

  assign pending = strobe_q[DataBytes-1:0] != 0;
  assign second = strobe_q[DataBytes*2-1:DataBytes] != 0;
  assign issue = pending && ready;
  assign free = !pending || (issue && !second);
  assign bytes_ready_o = !bytes_tag_i.last || free;
  assign collected = bytes_valid_i && bytes_tag_i.last && free;
  assign closed_o = collected && bytes_tag_i.closes && (!bytes_tag_i.pair || bytes_tag_i.bank[0]);
  assign last_lane = blocks_i[bytes_tag_i.bank].last_lane;
  assign first = blocks_i[bytes_tag_i.bank].address;
  assign address = opens_q[bytes_tag_i.bank[0]] ? first : next_q[bytes_tag_i.bank[0]];

  always_comb begin
    bytes = bytes_q;
    bytes[bytes_group_i] = bytes_i;
    enables = 16'hffff >> (4'd15 - last_lane);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) opens_q <= '1;
    else if (flush_i) opens_q <= '1;
    else if (collected) opens_q[bytes_tag_i.bank[0]] <= bytes_tag_i.closes;
  end

  always_ff @(posedge clk_i) begin
    if (bytes_valid_i && !bytes_tag_i.last) bytes_q[bytes_group_i] <= bytes_i;
    if (collected) next_q[bytes_tag_i.bank[0]] <= address + 32'(blocks_i[bytes_tag_i.bank].stride);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strobe_q <= '0;
    end else if (flush_i) begin
      strobe_q <= '0;
    end else if (collected) begin
      strobe_q <= (DataBytes * 2)'(enables) << address[BeatBits-1:0];
    end else if (issue) begin
      strobe_q <= strobe_q >> DataBytes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (collected) begin
      index_q <= address[31:BeatBits];
      data_q  <= (DataBytes * 16)'(bytes) << {address[BeatBits-1:0], 3'b0};
    end else if (issue) begin
      index_q <= index_q + IndexBits'(1);
      data_q  <= data_q >> (DataBytes * 8);
    end
  end

  assign idle_o = bus_idle_o && !pending;
  assign beat_ready_o = ready;

  engine_write_port #(
    .DataBytes(DataBytes),
    .Writes   (Writes)
  ) u_port (
    .clk_i,
    .rst_ni,
    .halt_i,
    .valid_i (pending || beat_valid_i),
    .ready_o (ready),
    .index_i (pending ? index_q : beat_index_i),
    .data_i  (pending ? data_q[DataBytes*8-1:0] : beat_data_i),
    .strobe_i(pending ? strobe_q[DataBytes-1:0] : beat_strobe_i),
    .fault_o,
    .idle_o  (bus_idle_o),
    .write_req_o,
    .write_rsp_i,
    .wdata_o,
    .wstrb_o
  );

  `ATOLL_ASSERT_KNOWN(KnownControl, {bytes_ready_o, closed_o, idle_o, bus_idle_o})
  `ATOLL_ASSERT_IF(OnlyFlushesWhenHalted, flush_i, halt_i)
  `ATOLL_ASSERT(OneSourceOfBeats, !(pending && beat_valid_i))

  logic unused;
  assign unused = ^{blocks_i, bytes_tag_i};

endmodule
