// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Packs bytes that lie one after the other in memory into beats, at any alignment.
module reef_packer #(
  // Bytes taken at once, a power of two, at most a beat.
  parameter int unsigned Bytes = 4,
  // Bytes of a beat, a power of two.
  parameter int unsigned DataBytes = 8,
  localparam int unsigned IndexBits = 32 - $clog2(DataBytes)
) (
  // Clock and asynchronous reset
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Forget all that is under way
  input  logic                   flush_i,
  // The next byte goes to this address; only while there is none. After the last one of a row, the
  // next row's address is taken by itself.
  input  logic                   start_i,
  input  logic [           31:0] address_i,
  // Bytes, of which `enables` says how many there are: all but in the last group of a row
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [    Bytes*8-1:0] bytes_i,
  input  logic [      Bytes-1:0] enables_i,
  input  logic                   last_i,
  // A beat to write: its address in beats, its bytes, and which of them count
  output logic                   beat_valid_o,
  input  logic                   beat_ready_i,
  output logic [  IndexBits-1:0] beat_index_o,
  output logic [DataBytes*8-1:0] beat_data_o,
  output logic [  DataBytes-1:0] beat_strobe_o,
  // The last beat of a row is taken
  output logic                   closed_o
);

  `ATOLL_ASSERT_INIT(LegalBytes, $onehot(Bytes) && $onehot(DataBytes) && Bytes <= DataBytes)

  localparam int unsigned BeatBits = $clog2(DataBytes);

  logic [BeatBits-1:0] position_q;
  logic [IndexBits-1:0] index_q;
  // What is held of the beat at hand, and that with the bytes that come, up to a beat further
  logic [DataBytes*8-1:0] data_q;
  logic [DataBytes-1:0] strobe_q;
  logic [1:0][DataBytes*8-1:0] data;
  logic [1:0][DataBytes-1:0] strobe;
  // Nothing comes, and what is held goes out
  logic tail_q;
  logic emits, take, beat;

  // Nothing is worked out while nothing comes, which saves the simulator time.
  always_comb begin
    data   = '0;
    strobe = '0;
    if (valid_i) begin
      data   = (DataBytes * 16)'(bytes_i) << {position_q, 3'b0};
      strobe = (DataBytes * 2)'(enables_i) << position_q;
      for (int unsigned i = 0; i < DataBytes; i++) begin
        if (strobe_q[i]) data[0][8*i+:8] = data_q[8*i+:8];
      end
      strobe[0] |= strobe_q;
    end
  end

  assign emits         = strobe[0][DataBytes-1] || last_i;
  assign beat_valid_o  = tail_q || (valid_i && emits);
  assign ready_o       = !tail_q && (!emits || beat_ready_i);
  assign take          = valid_i && ready_o;
  assign beat          = beat_valid_o && beat_ready_i;
  assign beat_index_o  = index_q;
  assign beat_data_o   = tail_q ? data_q : data[0];
  assign beat_strobe_o = tail_q ? strobe_q : strobe[0];
  assign closed_o      = tail_q ? beat : take && last_i && strobe[1] == 0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      strobe_q <= '0;
      tail_q   <= 1'b0;
    end else if (flush_i) begin
      strobe_q <= '0;
      tail_q   <= 1'b0;
    end else if (take) begin
      strobe_q <= emits ? strobe[1] : strobe[0];
      tail_q   <= last_i && strobe[1] != 0;
    end else if (beat) begin
      strobe_q <= '0;
      tail_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i || closed_o) {index_q, position_q} <= address_i;
    else begin
      if (beat) index_q <= index_q + IndexBits'(1);
      if (take) position_q <= position_q + BeatBits'(Bytes);
    end
    if (take) data_q <= emits ? data[1] : data[0];
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, {ready_o, beat_valid_o, closed_o})
  `ATOLL_ASSERT_IF(OnlyStartsWhenEmpty, start_i, strobe_q == '0 && !valid_i)
  `ATOLL_ASSERT_IF(OnlyTheLastIsShort, valid_i && !last_i, &enables_i)
  `ATOLL_ASSERT_HELD(BeatIsHeld,
      beat_valid_o && !beat_ready_i && !flush_i, beat_valid_o, {beat_index_o, beat_strobe_o})

endmodule
