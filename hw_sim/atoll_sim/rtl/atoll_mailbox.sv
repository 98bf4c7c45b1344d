// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// The registers through which the host has another core run one step at a time (docs/platform.md).
//
// Host and core see them through a port each, in the same cycle if they like. A write to COMMAND
// raises the core's line until the core writes RESULT, which raises the host's until CLEAR or the
// next COMMAND. An access that makes no sense to its side at that time changes nothing and is
// answered with an error. If the core stays in reset until its host has loaded it, a 1 in RELEASE
// ends that.
module atoll_mailbox
  import atoll_bus_pkg::*;
  import atoll_protocol_pkg::*;
#(
  // Bytes of a beat, at least 8.
  parameter int unsigned DataBytes = 8,
  // The core stays in reset until the host writes 1 to RELEASE; else there is no such register.
  parameter bit          Holds     = 1'b0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // The host's request; the address counts from the first register
  input  logic                   host_valid_i,
  output logic                   host_ready_o,
  input  logic                   host_we_i,
  input  logic [           11:0] host_addr_i,
  input  logic [8*DataBytes-1:0] host_wdata_i,
  input  logic [  DataBytes-1:0] host_be_i,
  // Its answer, one cycle later
  output logic                   host_rvalid_o,
  output logic [8*DataBytes-1:0] host_rdata_o,
  output resp_e                  host_resp_o,
  // The core's request, likewise
  input  logic                   core_valid_i,
  output logic                   core_ready_o,
  input  logic                   core_we_i,
  input  logic [           11:0] core_addr_i,
  input  logic [8*DataBytes-1:0] core_wdata_i,
  input  logic [  DataBytes-1:0] core_be_i,
  // Its answer, one cycle later
  output logic                   core_rvalid_o,
  output logic [8*DataBytes-1:0] core_rdata_o,
  output resp_e                  core_resp_o,
  // Level interrupt at the host: there is a result
  output logic                   host_irq_o,
  // Level interrupt at the core: there is a step to run
  output logic                   core_irq_o,
  // The core may run
  output logic                   core_run_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 8)

  logic host_read, host_write, host_granted, core_read, core_write, core_granted;
  logic [11:0] host_offset, core_offset;
  logic [31:0] host_value, host_found, core_value, core_found, status;
  logic ring, answer, clear, release_core, run_d, run_q, busy_d, busy_q, done_d, done_q;

`ifndef SYNTHESIS
  // As in atoll_reset_sync
  initial run_q = 1'b1;
`endif
  logic [31:0] command_d, command_q, result_d, result_q;

  atoll_word_port #(
    .DataBytes(DataBytes)
  ) u_host (
    .clk_i,
    .rst_ni,
    .valid_i  (host_valid_i),
    .ready_o  (host_ready_o),
    .we_i     (host_we_i),
    .addr_i   (host_addr_i),
    .wdata_i  (host_wdata_i),
    .be_i     (host_be_i),
    .rvalid_o (host_rvalid_o),
    .rdata_o  (host_rdata_o),
    .resp_o   (host_resp_o),
    .read_o   (host_read),
    .write_o  (host_write),
    .offset_o (host_offset),
    .value_o  (host_value),
    .granted_i(host_granted),
    .value_i  (host_found)
  );

  atoll_word_port #(
    .DataBytes(DataBytes)
  ) u_core (
    .clk_i,
    .rst_ni,
    .valid_i  (core_valid_i),
    .ready_o  (core_ready_o),
    .we_i     (core_we_i),
    .addr_i   (core_addr_i),
    .wdata_i  (core_wdata_i),
    .be_i     (core_be_i),
    .rvalid_o (core_rvalid_o),
    .rdata_o  (core_rdata_o),
    .resp_o   (core_resp_o),
    .read_o   (core_read),
    .write_o  (core_write),
    .offset_o (core_offset),
    .value_o  (core_value),
    .granted_i(core_granted),
    .value_i  (core_found)
  );

  assign status = {30'b0, done_q, busy_q};

  always_comb begin
    host_found = '0;
    unique case (host_offset)
      MailboxId:      {host_granted, host_found} = {host_read, MailboxIdentity};
      MailboxCommand: host_granted = host_write && !busy_q;
      MailboxStatus:  {host_granted, host_found} = {host_read, status};
      MailboxResult:  {host_granted, host_found} = {host_read, result_q};
      MailboxClear:   host_granted = host_write;
      MailboxRelease: host_granted = host_write && Holds && host_value == 32'd1;
      default: host_granted = 1'b0;
    endcase
  end

  always_comb begin
    core_found = '0;
    unique case (core_offset)
      MailboxId:      {core_granted, core_found} = {core_read, MailboxIdentity};
      MailboxCommand: {core_granted, core_found} = {core_read, command_q};
      MailboxStatus:  {core_granted, core_found} = {core_read, status};
      MailboxResult:  core_granted = core_write && busy_q;
      default: core_granted = 1'b0;
    endcase
  end

  assign ring   = host_write && host_granted && host_offset == MailboxCommand;
  assign clear  = host_write && host_granted && host_offset == MailboxClear;
  assign release_core = host_write && host_granted && host_offset == MailboxRelease;
  assign answer = core_write && core_granted;

  always_comb begin
    busy_d    = busy_q;
    done_d    = done_q && !clear;
    run_d     = run_q || release_core;
    command_d = command_q;
    result_d  = result_q;
    if (ring) begin
      busy_d    = 1'b1;
      done_d    = 1'b0;
      command_d = host_value;
    end
    if (answer) begin
      busy_d   = 1'b0;
      done_d   = 1'b1;
      result_d = core_value;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q     <= !Holds;
      busy_q    <= 1'b0;
      done_q    <= 1'b0;
      command_q <= '0;
      result_q  <= '0;
    end else begin
      run_q     <= run_d;
      busy_q    <= busy_d;
      done_q    <= done_d;
      command_q <= command_d;
      result_q  <= result_d;
    end
  end

  assign core_irq_o = busy_q;
  assign host_irq_o = done_q;
  assign core_run_o = run_q;

  `ATOLL_ASSERT_KNOWN(KnownControl, {host_ready_o, host_rvalid_o, host_irq_o,
                      core_ready_o, core_rvalid_o, core_irq_o, core_run_o})
  `ATOLL_ASSERT(NeverBusyAndDone, !(busy_q && done_q))
  `ATOLL_ASSERT(NeverRingAndAnswer, !(ring && answer))
  `ATOLL_ASSERT_NEXT(OnlyTheHostRings, !busy_q && !(host_valid_i && host_we_i), !busy_q)
  `ATOLL_ASSERT_NEXT(OnlyTheCoreAnswers, !done_q && !(core_valid_i && core_we_i && busy_q), !done_q)
  `ATOLL_ASSERT_HELD(TheCommandHolds, busy_q, 1'b1, command_q)

endmodule
