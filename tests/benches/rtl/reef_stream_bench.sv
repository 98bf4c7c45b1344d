// SPDX-License-Identifier: Apache-2.0
`include "atoll_axi.svh"

// engine_reader and reef_aligner together, under names that an independent AXI peer binds to.
module reef_stream_bench
  import engine_pkg::*;
  import reef_pkg::*;
#(
  // See docs/reef.md
  parameter int unsigned InputLanes = 8,
  parameter int unsigned OutputLanes = 8,
  parameter int unsigned DataBytes = 8,
  localparam int unsigned StepBytes = InputLanes > OutputLanes ? InputLanes : OutputLanes
) (
  // Clock and reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // A run to read, see run_t
  input  logic                   depthwise_i,
  input  logic                   run_valid_i,
  output logic                   run_ready_o,
  input  logic [            1:0] kind_i,
  input  logic [           31:0] address_i,
  input  logic [           31:0] bytes_i,
  input  logic [            3:0] phase_i,
  input  logic [           13:0] unit_i,
  input  logic                   first_i,
  input  logic                   last_i,
  // Beats that are not input
  output logic                   load_valid_o,
  output logic [            1:0] load_kind_o,
  output logic [           15:0] load_beat_o,
  output logic [DataBytes*8-1:0] load_data_o,
  // Steps
  output logic                   step_valid_o,
  input  logic                   step_ready_i,
  output logic [StepBytes*8-1:0] step_data_o,
  output logic [  StepBytes-1:0] step_mask_o,
  output logic [           13:0] step_unit_o,
  output logic                   step_depthwise_o,
  output logic                   step_first_o,
  output logic                   step_last_o,
  // Nothing is under way
  output logic                   idle_o,
  // AXI4 read channels, with transaction identifiers
  output logic                   m_axi_arid,
  input  logic                   m_axi_rid,
  `ATOLL_AXI_READ_PORTS(DataBytes,,)
);

  `ATOLL_AXI_READ_STRUCTS(,)

  run_t run;
  logic reader_ready, aligner_ready, beat_valid, beat_pop, starved, unweighted, reader_idle, aligner_idle;
  kind_e load_kind;
  fault_t fault;
  tag_t tag;
  logic reader_want, step_joined, unused;

  assign run = '{
      kind: kind_e'(kind_i),
      address: address_i,
      bytes: bytes_i,
      phase: phase_i,
      unit: unit_i,
      depthwise: depthwise_i,
      joined: 1'b0,
      tag: '{bank: 2'd0, pair: 1'b0, first: first_i, last: last_i, closes: 1'b0}
  };
  assign run_ready_o = reader_ready && aligner_ready;
  assign load_kind_o = load_kind;
  assign idle_o      = reader_idle && aligner_idle;
  assign m_axi_arid  = 1'b0;
  assign step_first_o = tag.first;
  assign step_last_o  = tag.last;
  assign unused      = ^{starved, unweighted, fault, m_axi_rid, tag, step_joined};

  engine_reader #(
    .DataBytes(DataBytes)
  ) u_reader (
    .clk_i,
    .rst_ni,
    .halt_i         (1'b0),
    .flush_i        (1'b0),
    .run_valid_i    (run_valid_i && aligner_ready),
    .run_ready_o    (reader_ready),
    .run_address_i  (run.address),
    .run_bytes_i    (run.bytes),
    .beat_valid_o   (beat_valid),
    .beat_data_o    (load_data_o),
    .beat_pop_i     (beat_pop),
    .fault_o        (fault),
    .idle_o         (reader_idle),
    .want_o         (reader_want),
    .grant_i        (reader_want),
    .read_req_o     (read_req),
    .read_rsp_i     (read_rsp),
    .rdata_i        (m_axi_rdata)
  );

  reef_aligner #(
    .InputLanes (InputLanes),
    .OutputLanes(OutputLanes),
    .DataBytes  (DataBytes)
  ) u_aligner (
    .clk_i,
    .rst_ni,
    .flush_i     (1'b0),
    .run_valid_i (run_valid_i && reader_ready),
    .run_ready_o (aligner_ready),
    .run_i       (run),
    .beat_valid_i(beat_valid),
    .beat_data_i (load_data_o),
    .beat_pop_o  (beat_pop),
    .load_valid_o,
    .load_kind_o (load_kind),
    .load_beat_o,
    .step_valid_o,
    .step_ready_i,
    .step_data_o,
    .step_mask_o,
    .step_unit_o,
    .step_depthwise_o,
    .step_joined_o(step_joined),
    .step_tag_o  (tag),
    .starved_o   (starved),
    .unweighted_o(unweighted),
    .idle_o      (aligner_idle)
  );

endmodule
