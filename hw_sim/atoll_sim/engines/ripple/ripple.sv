// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"
`include "atoll_axi.svh"

// ripple, a DMA engine; docs/ripple.md is its contract.
//
// One reader serves descriptors and source rows in turn. Source beats become destination beats
// in `ripple_shifter`.
module ripple
  import engine_pkg::*;
  import ripple_pkg::*;
#(
  // Bytes of a beat: 8 or 16.
  parameter int unsigned DataBytes = 8,
  // Reads and writes take turns.
  parameter int unsigned Turns     = 1
) (
  // Control port, data master and interrupt, see docs/accelerators.md
  `ATOLL_ENGINE_PORTS(DataBytes, _i, _o)
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 4 && DataBytes <= 64)
  `ATOLL_ASSERT_INIT(LegalTurns, Turns <= 1)

  localparam logic [31:0] Id = 32'h4C50_4952;
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes);

  // The ports as structs
  `ATOLL_ENGINE_STRUCTS

  // List and faults; of two in one cycle, that of the read counts
  logic ended, halt, flush;
  list_t list;
  status_t status;
  fault_t fault, read_fault, write_fault;

  // Reads; descriptors and rows take turns.
  logic copy_start, starved, fetch_run_valid, row_run_valid, run_ready;
  logic [31:0] fetch_address, row_address, row_bytes;
  descriptor_t descriptor;
  logic beat_valid, fetch_pop, row_pop, reader_idle, reader_want;
  logic [DataBytes*8-1:0] beat_data;

  // Writes
  logic write_valid, write_ready, shifter_idle, port_idle;
  logic [IndexBits-1:0] write_index;
  logic [DataBytes*8-1:0] write_data;
  logic [DataBytes-1:0] write_strobe;

  assign fault = read_fault.valid ? read_fault : write_fault;

  // Whether a burst may be asked for, and a beat written. With turns, a memory is asked for all
  // that the reader's queue holds before another one is.
  logic may_read, may_write;

  assign may_read  = reader_want && (Turns == 0 || port_idle);
  assign may_write = Turns == 0 || reader_idle;

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
    .Id        (Id),
    .Params    ({8'd2, 8'(DataBytes), 16'd0}),
    .WeightRows(0),
    .Waits     (0)
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

  ripple_commands #(
    .DataBytes(DataBytes)
  ) u_commands (
    .clk_i(clk),
    .rst_ni,
    .list_i        (list),
    .status_o      (status),
    .ended_o       (ended),
    .bus_fault_i   (fault),
    .bus_idle_i    (reader_idle && port_idle),
    .halt_o        (halt),
    .flush_o       (flush),
    .run_valid_o   (fetch_run_valid),
    .run_ready_i   (run_ready),
    .run_address_o (fetch_address),
    .beat_valid_i  (beat_valid),
    .beat_data_i   (beat_data),
    .beat_pop_o    (fetch_pop),
    .copy_start_o  (copy_start),
    .copy_done_i   (shifter_idle && port_idle),
    .starved_i     (starved),
    .descriptor_o  (descriptor)
  );

  ripple_rows u_rows (
    .clk_i(clk),
    .rst_ni,
    .flush_i      (flush),
    .start_i      (copy_start),
    .descriptor_i (descriptor),
    .run_valid_o  (row_run_valid),
    .run_ready_i  (run_ready),
    .run_address_o(row_address),
    .run_bytes_o  (row_bytes)
  );

  engine_reader #(
    .DataBytes(DataBytes)
  ) u_reader (
    .clk_i(clk),
    .rst_ni,
    .halt_i       (halt),
    .flush_i      (flush),
    .run_valid_i  (fetch_run_valid || row_run_valid),
    .run_ready_o  (run_ready),
    .run_address_i(fetch_run_valid ? fetch_address : row_address),
    .run_bytes_i  (fetch_run_valid ? DescriptorBytes : row_bytes),
    .beat_valid_o (beat_valid),
    .beat_data_o  (beat_data),
    .beat_pop_i   (fetch_pop || row_pop),
    .fault_o      (read_fault),
    .idle_o       (reader_idle),
    .want_o       (reader_want),
    .grant_i      (may_read),
    .read_req_o   (read_req),
    .read_rsp_i   (read_rsp),
    .rdata_i      (m_axi_rdata_i)
  );

  ripple_shifter #(
    .DataBytes(DataBytes)
  ) u_shifter (
    .clk_i(clk),
    .rst_ni,
    .flush_i       (flush),
    .start_i       (copy_start),
    .descriptor_i  (descriptor),
    .beat_valid_i  (beat_valid),
    .beat_data_i   (beat_data),
    .beat_pop_o    (row_pop),
    .write_valid_o (write_valid),
    .write_ready_i (write_ready && may_write),
    .write_index_o (write_index),
    .write_data_o  (write_data),
    .write_strobe_o(write_strobe),
    .starved_o     (starved),
    .idle_o        (shifter_idle)
  );

  engine_write_port #(
    .DataBytes(DataBytes)
  ) u_port (
    .clk_i(clk),
    .rst_ni,
    .halt_i  (halt),
    .valid_i (write_valid && may_write),
    .ready_o (write_ready),
    .index_i (write_index),
    .data_i  (write_data),
    .strobe_i(write_strobe),
    .fault_o (write_fault),
    .idle_o  (port_idle),
    .write_req_o(write_req),
    .write_rsp_i(write_rsp),
    .wdata_o    (m_axi_wdata_o),
    .wstrb_o    (m_axi_wstrb_o)
  );

  `ATOLL_ASSERT(OnlyOneAsks, !(fetch_run_valid && row_run_valid))
  `ATOLL_ASSERT(OnlyOneReads, !(fetch_pop && row_pop))

  `ATOLL_ASSERT_IF(RestsAsleep,
      !awake,
      reader_idle && port_idle && shifter_idle && !fetch_run_valid && !row_run_valid && !halt && !flush)

endmodule
