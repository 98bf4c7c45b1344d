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
  parameter int unsigned DataBytes = 8,
  // Writes under way, a power of two.
  parameter int unsigned Writes = 8,
  localparam int unsigned LaneBits = $clog2(OutputLanes)
) (
  // Clock and asynchronous reset
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Issue nothing new; what is on the bus stays
  input  logic                     halt_i,
  // Forget what is not on the bus yet; only while halted
  input  logic                     flush_i,
  // Where the pixels go; taken at its start
  input  block_t                 block_i,
  // Bytes of the pixels, in lane order
  input  logic                     byte_valid_i,
  output logic                     byte_ready_o,
  input  logic   [            7:0] byte_i,
  input  logic   [   LaneBits-1:0] byte_lane_i,
  input  logic                     byte_last_i,
  // An error answer in this cycle
  output fault_t                   fault_o,
  // Nothing to write and nothing outstanding; `bus_idle_o` is about the bus alone
  output logic                     idle_o,
  output logic                     bus_idle_o,
  // AXI4 write channels
  output logic   [           31:0] m_axi_awaddr_o,
  output logic   [            7:0] m_axi_awlen_o,
  output logic   [            2:0] m_axi_awsize_o,
  output logic   [            1:0] m_axi_awburst_o,
  output logic                     m_axi_awvalid_o,
  input  logic                     m_axi_awready_i,
  output logic   [DataBytes*8-1:0] m_axi_wdata_o,
  output logic   [  DataBytes-1:0] m_axi_wstrb_o,
  output logic                     m_axi_wlast_o,
  output logic                     m_axi_wvalid_o,
  input  logic                     m_axi_wready_i,
  input  logic   [            1:0] m_axi_bresp_i,
  input  logic                     m_axi_bvalid_i,
  output logic                     m_axi_bready_o
);

  `ATOLL_ASSERT_INIT(LegalLanes, OutputLanes inside {4, 8, 16})
  `ATOLL_ASSERT_INIT(LegalBeat, DataBytes inside {8, 16})
  `ATOLL_ASSERT_INIT(LegalWrites, $onehot(Writes) && Writes >= 2)

  localparam int unsigned BeatBits = $clog2(DataBytes);
  localparam int unsigned IndexBits = 32 - BeatBits;

  // The pixel being collected
  logic [31:0] address_q;
  logic [OutputLanes*8-1:0] bytes_q, bytes;
  logic [OutputLanes-1:0] enables;
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
  assign byte_ready_o = !byte_last_i || free;
  assign collected = byte_valid_i && byte_last_i && free;

  always_comb begin
    bytes = bytes_q;
    bytes[byte_lane_i*8+:8] = byte_i;
    enables = {OutputLanes{1'b1}} >> (LaneBits'(OutputLanes - 1) - byte_lane_i);
  end

  always_ff @(posedge clk_i) begin
    if (byte_valid_i && !byte_last_i) bytes_q[byte_lane_i*8+:8] <= byte_i;
    if (block_i.start) address_q <= block_i.address;
    else if (collected) address_q <= address_q + 32'(block_i.stride);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strobe_q <= '0;
    end else if (flush_i) begin
      strobe_q <= '0;
    end else if (collected) begin
      strobe_q <= (DataBytes * 2)'(enables) << address_q[BeatBits-1:0];
    end else if (issue) begin
      strobe_q <= strobe_q >> DataBytes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (collected) begin
      index_q <= address_q[31:BeatBits];
      data_q  <= (DataBytes * 16)'(bytes) << {address_q[BeatBits-1:0], 3'b0};
    end else if (issue) begin
      index_q <= index_q + IndexBits'(1);
      data_q  <= data_q >> (DataBytes * 8);
    end
  end

  assign idle_o = bus_idle_o && !pending;

  engine_write_port #(
    .DataBytes(DataBytes),
    .Writes   (Writes)
  ) u_port (
    .clk_i,
    .rst_ni,
    .halt_i,
    .valid_i (pending),
    .ready_o (ready),
    .index_i (index_q),
    .data_i  (data_q[DataBytes*8-1:0]),
    .strobe_i(strobe_q[DataBytes-1:0]),
    .fault_o,
    .idle_o  (bus_idle_o),
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o
  );

  `ATOLL_ASSERT_KNOWN(KnownControl, {byte_ready_o, idle_o, bus_idle_o})
  `ATOLL_ASSERT(OnlyFlushesWhenHalted, flush_i |-> halt_i)

endmodule
