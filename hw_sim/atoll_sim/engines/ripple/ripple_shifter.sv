// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Turns the beats that hold source rows into the beats that hold destination rows.
//
// A destination beat takes bytes of two neighbouring source beats: the one at hand and the one
// held. Where the source row begins later in its beat than the destination row does, the first
// source beat of a row is only held.
module ripple_shifter
  import ripple_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8,
  // Bits of the number of a beat.
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes)
) (
  // Clock and asynchronous reset
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Give up
  input  logic                          flush_i,
  // Begin the copy of a descriptor, which is stable until the next one
  input  logic                          start_i,
  input  descriptor_t                   descriptor_i,
  // Beats of the source rows, in order
  input  logic                          beat_valid_i,
  input  logic        [DataBytes*8-1:0] beat_data_i,
  output logic                          beat_pop_o,
  // Beats of the destination rows, in order
  output logic                          write_valid_o,
  input  logic                          write_ready_i,
  output logic        [  IndexBits-1:0] write_index_o,
  output logic        [DataBytes*8-1:0] write_data_o,
  output logic        [  DataBytes-1:0] write_strobe_o,
  // Waits for a beat of the source
  output logic                          starved_o,
  // Every row is written
  output logic                          idle_o
);

  `ATOLL_ASSERT_INIT(LegalBeat, $onehot(DataBytes) && DataBytes >= 4 && DataBytes <= 64)

  localparam int unsigned BeatBits = $clog2(DataBytes);

  // The rows from the current one on, and the planes behind its own; where row and plane begin
  logic [15:0] rows_q, planes_q;
  logic [31:0] source_q, destination_q, source_plane_q, destination_plane_q;
  logic [31:0] next_source, next_destination;
  // What is left of the current row, in beats; the first of each kind is yet to come.
  logic begun_q;
  logic [IndexBits:0] reads_q, reads, writes_q, writes;
  logic [IndexBits-1:0] index_q;
  logic [DataBytes*8-1:0] held_q;

  logic [BeatBits-1:0] from, to;
  logic [BeatBits:0] shift;
  logic later, prime, ready, write, last, row_done;
  logic unused;

  assign unused = ^{descriptor_i.reserved_9, descriptor_i.check, descriptor_i.version,
                    descriptor_i.opcode};

  assign next_source = source_plane_q + descriptor_i.source_plane;
  assign next_destination = destination_plane_q + descriptor_i.destination_plane;

  assign from = source_q[BeatBits-1:0];
  assign to = destination_q[BeatBits-1:0];
  assign later = from > to;
  assign shift = later ? {1'b0, from - to} : (BeatBits + 1)'(DataBytes) - {1'b0, to - from};

  // Beats that a row of bytes touches, from a place in its first one
  function automatic logic [IndexBits:0] beats(logic [BeatBits-1:0] place);
    return (IndexBits + 1)'(
        (33'(place) + 33'(descriptor_i.row_bytes) + 33'(DataBytes - 1)) >> BeatBits);
  endfunction

  assign reads  = begun_q ? reads_q : beats(from);
  assign writes = begun_q ? writes_q : beats(to);

  // The first beat of a row is held, or one beat is made; without source beats left, of what is
  // held alone.
  assign ready = reads == 0 || beat_valid_i;
  assign prime = !idle_o && !begun_q && later && beat_valid_i && !flush_i;
  assign write_valid_o = !idle_o && !(later && !begun_q) && ready && !flush_i;
  assign write = write_valid_o && write_ready_i;
  assign last = writes == (IndexBits + 1)'(1);
  assign row_done = write && last;
  assign beat_pop_o = prime || (write && reads != 0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q              <= '0;
      planes_q            <= '0;
      source_q            <= '0;
      destination_q       <= '0;
      source_plane_q      <= '0;
      destination_plane_q <= '0;
    end else if (flush_i) begin
      rows_q   <= '0;
      planes_q <= '0;
    end else if (start_i) begin
      rows_q              <= descriptor_i.rows;
      planes_q            <= descriptor_i.more_planes;
      source_q            <= descriptor_i.source;
      destination_q       <= descriptor_i.destination;
      source_plane_q      <= descriptor_i.source;
      destination_plane_q <= descriptor_i.destination;
    end else if (row_done && rows_q == 16'd1 && planes_q != 0) begin
      rows_q              <= descriptor_i.rows;
      planes_q            <= planes_q - 16'd1;
      source_q            <= next_source;
      destination_q       <= next_destination;
      source_plane_q      <= next_source;
      destination_plane_q <= next_destination;
    end else if (row_done) begin
      rows_q        <= rows_q - 16'd1;
      source_q      <= source_q + descriptor_i.source_pitch;
      destination_q <= destination_q + descriptor_i.destination_pitch;
    end
  end

  // `first_q`: no beat of the row was made yet.
  logic first, first_q;

  assign first = !begun_q || first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q  <= 1'b0;
      first_q  <= 1'b0;
      reads_q  <= '0;
      writes_q <= '0;
      index_q  <= '0;
    end else if (flush_i || row_done) begin
      begun_q <= 1'b0;
    end else if (prime || write) begin
      begun_q  <= 1'b1;
      first_q  <= prime;
      reads_q  <= reads - (IndexBits + 1)'(beat_pop_o);
      writes_q <= writes - (IndexBits + 1)'(write);
      index_q  <= write_index_o + IndexBits'(write);
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_pop_o) held_q <= beat_data_i;
  end

  // Bytes of the last beat that belong to the row: up to `ending`, which is 0 for a whole beat.
  logic [BeatBits-1:0] ending;
  logic [DataBytes-1:0] from_first, to_last;

  assign ending = to + descriptor_i.row_bytes[BeatBits-1:0];
  assign from_first = first ? {DataBytes{1'b1}} << to : '1;
  assign to_last = last && ending != 0 ? ~({DataBytes{1'b1}} << ending) : '1;

  assign write_index_o = begun_q ? index_q : destination_q[31:BeatBits];
  assign write_data_o = (DataBytes * 8)'({beat_data_i, held_q} >> {shift, 3'b0});
  assign write_strobe_o = from_first & to_last;
  assign idle_o = rows_q == 0;
  assign starved_o = !idle_o && !ready;

  `ATOLL_ASSERT_KNOWN(KnownControl, {beat_pop_o, write_valid_o, starved_o, idle_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenIdle, start_i, idle_o)
  `ATOLL_ASSERT_IF(OnlyPopsBeats, beat_pop_o, beat_valid_i)
  `ATOLL_ASSERT_IF(NeverWritesNothing, write_valid_o, write_strobe_o != 0)
  `ATOLL_ASSERT_HELD(BeatIsHeld,
      write_valid_o && !write_ready_i && !flush_i, write_valid_o || flush_i,
      {write_index_o, write_strobe_o})

endmodule
