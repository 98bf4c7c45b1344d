// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Two readers, see `engine_reader`, that share the read channels of one AXI4 master.
//
// Reader 0 comes first: reader 1 requests a burst only when it has nothing to request or no space,
// and one at a time as long as beats of reader 0 are queued.
// One address at most is on the bus, so that none is left over when the readers are halted. Answers
// come in the order of the requests, all with one ID.
module engine_readers
  import engine_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Bursts under way, a power of two.
  parameter int unsigned Bursts = 16
) (
  // Clock and asynchronous reset
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // Issue nothing new; the address on the bus stays
  input  logic                       halt_i,
  // Forget runs and beats, and drop what still arrives; only while halted
  input  logic                       flush_i,
  // Runs to read; a run of 0 bytes reads nothing
  input  logic [1:0]                 run_valid_i,
  output logic [1:0]                 run_ready_o,
  input  logic [1:0][          31:0] run_address_i,
  input  logic [1:0][          31:0] run_bytes_i,
  // Heads of the queues of beats
  output logic [1:0]                 beat_valid_o,
  output logic [1:0][DataBytes*8-1:0] beat_data_o,
  input  logic [1:0]                 beat_pop_i,
  // An error answer in this cycle
  output fault_t                     fault_o,
  // Nothing is outstanding on the bus
  output logic                       idle_o,
  // AXI4 read channels
  output read_req_t                  read_req_o,
  input  read_rsp_t                  read_rsp_i,
  input  logic [    DataBytes*8-1:0] rdata_i
);

  `ATOLL_ASSERT_INIT(LegalBursts, $onehot(Bursts) && Bursts >= 2)

  read_req_t [1:0] reqs;
  read_rsp_t [1:0] rsps;
  logic [1:0] want, grant, rvalid, idle;
  fault_t [1:0] faults;
  logic shown, next, free, ends, owner_valid, owner, full;
  // Bursts under way of reader 1
  logic [$clog2(Bursts):0] second_q;

  for (genvar i = 0; i < 2; i++) begin : gen_reader
    engine_reader #(
      .DataBytes(DataBytes)
    ) u_reader (
      .clk_i,
      .rst_ni,
      .halt_i,
      .flush_i,
      .run_valid_i    (run_valid_i[i]),
      .run_ready_o    (run_ready_o[i]),
      .run_address_i  (run_address_i[i]),
      .run_bytes_i    (run_bytes_i[i]),
      .beat_valid_o   (beat_valid_o[i]),
      .beat_data_o    (beat_data_o[i]),
      .beat_pop_i     (beat_pop_i[i]),
      .fault_o        (faults[i]),
      .idle_o         (idle[i]),
      .want_o         (want[i]),
      .grant_i        (grant[i]),
      .read_req_o     (reqs[i]),
      .read_rsp_i     (rsps[i]),
      .rdata_i
    );

    always_comb begin
      rsps[i]        = read_rsp_i;
      rsps[i].rvalid = rvalid[i];
    end
  end

  assign fault_o = faults[0].valid ? faults[0] : faults[1];
  assign idle_o  = &idle;

  // The address on the bus is that of this reader.
  assign shown = reqs[1].arvalid;
  always_comb begin
    read_req_o        = reqs[shown];
    read_req_o.rready = owner_valid && reqs[owner].rready;
  end

  // The next one is granted when that one is taken.
  assign free = (!read_req_o.arvalid || read_rsp_i.arready) && !full;
  assign next = !want[0];
  always_comb begin
    grant       = '0;
    grant[next] = free && (!next || second_q == 0 || !beat_valid_o[0]);
  end

  assign ends = read_rsp_i.rvalid && read_req_o.rready && read_rsp_i.rlast;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) second_q <= '0;
    else
      second_q <= second_q + ($clog2(Bursts) + 1)'(want[1] && grant[1])
          - ($clog2(Bursts) + 1)'(ends && owner);
  end

  atoll_fifo #(
    .Width(1),
    .Depth(Bursts)
  ) u_owners (
    .clk_i,
    .rst_ni,
    .flush_i(1'b0),
    .push_i (|(want & grant)),
    .data_i (next),
    .pop_i  (ends),
    .valid_o(owner_valid),
    .data_o (owner),
    .full_o (full)
  );

  always_comb begin
    rvalid        = '0;
    rvalid[owner] = read_rsp_i.rvalid && owner_valid;
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {grant, rvalid, read_req_o.arvalid, read_req_o.rready})
  `ATOLL_ASSERT(OneAddress, $onehot0({reqs[1].arvalid, reqs[0].arvalid}))
  `ATOLL_ASSERT_HELD(AddressIsHeld,
      read_req_o.arvalid && !read_rsp_i.arready, read_req_o.arvalid, {read_req_o.araddr, read_req_o.arlen})

endmodule
