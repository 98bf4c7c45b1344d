// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_axi.svh"

// reef, an int8 tensor accelerator; docs/reef.md is its contract.
//
// What is computed passes one in-order path: runs of bytes are requested (`reef_commands`), read
// (`engine_readers`), and cut into steps (`reef_aligner`). They meet the weights in `reef_array`;
// finished pixels are scaled in `reef_requantize` and written by `reef_writer`. Parameters and
// weights come through a reader of their own, ahead of the pixels that need them (`reef_loader`).
module reef
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // Products per output lane and cycle: 4, 8 or 16.
  parameter int unsigned InputLanes  = 8,
  // Output channels computed at once: 4, 8 or 16.
  parameter int unsigned OutputLanes = 8,
  // Output channels scaled to int8 in a cycle: 1, 2, 4, 8 or 16, of which `OutputLanes` are used.
  parameter int unsigned Requantisers = 16,
  // Rows of weights on chip: a power of two, 16 to 1024.
  parameter int unsigned WeightRows  = 128,
  // Columns of the widest image that depthwise is computed by lines: 16 to 256, 0 for none.
  parameter int unsigned LineColumns = 64,
  // 1: computes ADD and MUL, and moves rows; 2: SOFTMAX too; 0: none of these, and is smaller.
  parameter int unsigned Vector      = 1,
  // Bytes of a beat: 8 or 16, at least the lanes.
  parameter int unsigned DataBytes   = 8
) (
  // Control port, data master and interrupt, see docs/accelerators.md
  `ATOLL_ENGINE_PORTS(DataBytes, _i, _o)
);

  `ATOLL_ASSERT_INIT(LegalVector, Vector inside {0, 1, 2})
  `ATOLL_ASSERT_INIT(LegalColumns, LineColumns inside {0, 16, 32, 64, 128, 256})

  localparam int unsigned Scalers = Requantisers < OutputLanes ? Requantisers : OutputLanes;
  localparam int unsigned GroupBits = OutputLanes > Scalers ? $clog2(OutputLanes / Scalers) : 1;

  // The ports as structs
  `ATOLL_ENGINE_STRUCTS

  // List and faults; of two in one cycle, that of the read counts
  logic ended, halt, flush;
  list_t list;
  logic [31:0] constants_address, constants_bytes;
  status_t status;
  fault_t read_fault, write_fault;

  // Runs go to the reader and to the datapath alike.
  run_t run;
  logic run_valid, reader_ready, datapath_ready;

  // Data
  logic beat_valid, beat_pop, descriptor_load, bytes_valid, bytes_ready, idle, closed;
  logic [DataBytes*8-1:0] beat_data, constants_data, vector_data;
  logic [15:0] load_beat;
  logic [Scalers-1:0][7:0] bytes;
  logic [GroupBits-1:0] bytes_group;
  tag_t bytes_tag;
  logic vector_closed, vector_valid, vector_ready, reader_idle, writer_idle, writer_bus_idle;
  waits_t waits;

  // Operator, its parameters and weights, and beats over elements
  block_t [3:0] blocks;
  lines_t lines;
  vector_t vector;
  constants_t constants;
  logic [31-$clog2(DataBytes):0] vector_index;
  logic [DataBytes-1:0] vector_strobe;
  logic constants_run_valid, constants_run_ready, constants_valid, constants_pop;

  // Between lists and accesses to registers everything sleeps.
  logic clk, awake, in_use;

  engine_clock u_clock (
    .clk_i,
    .rst_ni,
    .work_i (in_use || status.busy || ended),
    .clk_o  (clk),
    .awake_o(awake)
  );

  engine_registers #(
    .Params({8'd2, 8'(DataBytes), 8'(OutputLanes), 8'(InputLanes)}),
    .WeightRows(WeightRows | LineColumns << 16 | Vector << 28)
  ) u_registers (
    .clk_i     (clk),
    .rst_ni,
    .axil_req_i(axil_req),
    .axil_rsp_o(axil_rsp),
    .in_use_o  (in_use),
    .list_o    (list),
    .status_i  (status),
    .ended_i   (ended),
    .irq_o
  );

  reef_commands #(
    .InputLanes(InputLanes), .OutputLanes(OutputLanes), .WeightRows(WeightRows),
    .LineColumns(LineColumns), .Vector(Vector), .DataBytes(DataBytes)
  ) u_commands (
    .clk_i          (clk),
    .rst_ni,
    .list_i         (list),
    .status_o       (status),
    .ended_o        (ended),
    .bus_fault_i    (read_fault.valid ? read_fault : write_fault),
    .bus_idle_i     (reader_idle && writer_bus_idle),
    .halt_o         (halt),
    .flush_o        (flush),
    .run_valid_o    (run_valid),
    .run_ready_i    (reader_ready && datapath_ready),
    .run_o          (run),
    .load_i         (descriptor_load),
    .beat_i         (load_beat),
    .data_i         (beat_data),
    .constants_valid_o  (constants_run_valid),
    .constants_ready_i  (constants_run_ready),
    .constants_address_o(constants_address),
    .constants_bytes_o  (constants_bytes),
    .beat_valid_i   (constants_valid),
    .beat_pop_o     (constants_pop),
    .constants_o    (constants),
    .closed_i       (closed),
    .writer_idle_i  (writer_idle),
    .waits_i        (waits),
    .idle_i         (idle),
    .blocks_o       (blocks),
    .lines_o        (lines),
    .vector_o       (vector),
    .vector_closed_i(vector_closed)
  );

  engine_readers #(
    .DataBytes(DataBytes)
  ) u_readers (
    .clk_i          (clk),
    .rst_ni,
    .halt_i         (halt),
    .flush_i        (flush),
    .run_valid_i    ({constants_run_valid, run_valid && datapath_ready}),
    .run_ready_o    ({constants_run_ready, reader_ready}),
    .run_address_i  ({constants_address, run.address}),
    .run_bytes_i    ({constants_bytes, run.bytes}),
    .beat_valid_o   ({constants_valid, beat_valid}),
    .beat_data_o    ({constants_data, beat_data}),
    .beat_pop_i     ({constants_pop, beat_pop}),
    .fault_o        (read_fault),
    .idle_o         (reader_idle),
    .read_req_o     (read_req),
    .read_rsp_i     (read_rsp),
    .rdata_i        (m_axi_rdata_i)
  );

  reef_datapath #(
    .InputLanes(InputLanes), .OutputLanes(OutputLanes), .Requantisers(Scalers),
    .WeightRows(WeightRows), .LineColumns(LineColumns), .Vector(Vector), .DataBytes(DataBytes)
  ) u_datapath (
    .clk_i            (clk),
    .rst_ni,
    .flush_i          (flush),
    .blocks_i         (blocks),
    .lines_i          (lines),
    .run_valid_i      (run_valid && reader_ready),
    .run_ready_o      (datapath_ready),
    .run_i            (run),
    .beat_valid_i     (beat_valid),
    .beat_data_i      (beat_data),
    .beat_pop_o       (beat_pop),
    .constants_i      (constants),
    .constants_data_i (constants_data),
    .descriptor_load_o(descriptor_load),
    .load_beat_o      (load_beat),
    .bytes_valid_o    (bytes_valid),
    .bytes_ready_i    (bytes_ready),
    .bytes_o          (bytes),
    .bytes_group_o    (bytes_group),
    .bytes_tag_o      (bytes_tag),
    .vector_i         (vector),
    .beat_valid_o     (vector_valid),
    .beat_ready_i     (vector_ready),
    .beat_index_o     (vector_index),
    .beat_data_o      (vector_data),
    .beat_strobe_o    (vector_strobe),
    .vector_closed_o  (vector_closed),
    .waits_o          (waits),
    .idle_o           (idle)
  );

  reef_writer #(.OutputLanes(OutputLanes), .Requantisers(Scalers), .DataBytes(DataBytes)) u_writer (
    .clk_i        (clk),
    .rst_ni,
    .halt_i       (halt),
    .flush_i      (flush),
    .blocks_i     (blocks),
    .bytes_valid_i(bytes_valid),
    .bytes_ready_o(bytes_ready),
    .bytes_i      (bytes),
    .bytes_group_i(bytes_group),
    .bytes_tag_i  (bytes_tag),
    .beat_valid_i (vector_valid),
    .beat_ready_o (vector_ready),
    .beat_index_i (vector_index),
    .beat_data_i  (vector_data),
    .beat_strobe_i(vector_strobe),
    .closed_o     (closed),
    .fault_o      (write_fault),
    .idle_o       (writer_idle),
    .bus_idle_o   (writer_bus_idle),
    .write_req_o  (write_req),
    .write_rsp_i  (write_rsp),
    .wdata_o      (m_axi_wdata_o),
    .wstrb_o      (m_axi_wstrb_o)
  );

  `ATOLL_ASSERT_IF(RestsAsleep,
      !awake, reader_idle && writer_idle && idle && !run_valid && !bytes_valid && !halt && !flush)

endmodule
