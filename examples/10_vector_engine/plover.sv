// SPDX-License-Identifier: Apache-2.0
// A vector engine: ADD, MUL, QUANTIZE and pooling of int8, exact as TensorFlow Lite for
// Microcontrollers has them. The host writes operands to the windows A and B, four bytes a word, and
// reads results from the window OUT; a window that is full or empty holds the bus.
module plover #(
  // Words that each window keeps, a power of two.
  parameter int unsigned Depth    = 8,
  // Channels that a pooling keeps.
  parameter int unsigned Channels = 256
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Registers
  input  logic        s_apb_psel_i,
  input  logic        s_apb_penable_i,
  input  logic [11:0] s_apb_paddr_i,
  input  logic        s_apb_pwrite_i,
  input  logic [31:0] s_apb_pwdata_i,
  input  logic [ 3:0] s_apb_pstrb_i,
  output logic        s_apb_pready_o,
  output logic [31:0] s_apb_prdata_o,
  output logic        s_apb_pslverr_o
);

  localparam logic [31:0] Id = 32'h504C_5631;

  typedef enum logic [2:0] {
    ModeAdd,
    ModeMul,
    ModeQuantize,
    ModeAverage,
    ModeMax,
    ModeAddAverage
  } mode_e;

  // Registers
  mode_e mode_q;
  logic [15:0] count_q, taps_q, row_q;
  logic signed [7:0] a_zero_q, b_zero_q, out_zero_q, low_q, high_q;
  logic [4:0] left_q;
  logic [30:0] a_multiplier_q, b_multiplier_q, out_multiplier_q;
  logic signed [5:0] a_shift_q, b_shift_q, out_shift_q;
  logic busy_q, done_q, error_q;

  logic start, abort, access, write, read;
  logic a_push, b_push, out_pop;
  logic a_full, b_full, out_empty;
  logic [31:0] out_word;

  // -- Bus ------------------------------------------------------------------------------------

  logic known, waits;

  assign access = s_apb_psel_i && s_apb_penable_i;
  assign write  = access && s_apb_pwrite_i && s_apb_pready_o && !s_apb_pslverr_o;
  assign read   = access && !s_apb_pwrite_i && s_apb_pready_o && !s_apb_pslverr_o;

  always_comb begin
    waits = 1'b0;
    known = 1'b0;
    s_apb_prdata_o = '0;
    unique case (s_apb_paddr_i)
      12'h000: begin
        known = !s_apb_pwrite_i;
        s_apb_prdata_o = Id;
      end
      12'h004: known = s_apb_pwrite_i;
      12'h008: begin
        known = !s_apb_pwrite_i;
        s_apb_prdata_o = {29'b0, error_q, done_q, busy_q};
      end
      12'h010, 12'h014, 12'h018, 12'h01C, 12'h020, 12'h024, 12'h028, 12'h02C, 12'h030, 12'h034,
      12'h038, 12'h03C, 12'h040, 12'h044, 12'h048, 12'h04C:
      known = s_apb_pwrite_i && !busy_q;
      12'h100: begin
        known = s_apb_pwrite_i && busy_q && &s_apb_pstrb_i;
        waits = a_full;
      end
      12'h104: begin
        known = s_apb_pwrite_i && busy_q && &s_apb_pstrb_i;
        waits = b_full;
      end
      12'h108: begin
        known = !s_apb_pwrite_i && (busy_q || !out_empty);
        waits = out_empty;
        s_apb_prdata_o = out_word;
      end
      default: ;
    endcase
  end

  assign s_apb_pready_o  = !(known && waits);
  assign s_apb_pslverr_o = !known;

  assign start           = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[0] && !busy_q;
  assign abort           = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[1];
  assign a_push          = write && s_apb_paddr_i == 12'h100;
  assign b_push          = write && s_apb_paddr_i == 12'h104;
  assign out_pop         = read && s_apb_paddr_i == 12'h108;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q <= ModeAdd;
      {count_q, taps_q, row_q} <= '0;
      {a_zero_q, b_zero_q, out_zero_q, low_q, high_q} <= '0;
      left_q <= '0;
      {a_multiplier_q, b_multiplier_q, out_multiplier_q} <= '0;
      {a_shift_q, b_shift_q, out_shift_q} <= '0;
    end else if (write) begin
      unique case (s_apb_paddr_i)
        12'h010: mode_q <= mode_e'(s_apb_pwdata_i[2:0]);
        12'h014: count_q <= s_apb_pwdata_i[15:0];
        12'h018: taps_q <= s_apb_pwdata_i[15:0];
        12'h01C: row_q <= s_apb_pwdata_i[15:0];
        12'h020: a_zero_q <= s_apb_pwdata_i[7:0];
        12'h024: b_zero_q <= s_apb_pwdata_i[7:0];
        12'h028: out_zero_q <= s_apb_pwdata_i[7:0];
        12'h02C: left_q <= s_apb_pwdata_i[4:0];
        12'h030: a_multiplier_q <= s_apb_pwdata_i[30:0];
        12'h034: a_shift_q <= s_apb_pwdata_i[5:0];
        12'h038: b_multiplier_q <= s_apb_pwdata_i[30:0];
        12'h03C: b_shift_q <= s_apb_pwdata_i[5:0];
        12'h040: out_multiplier_q <= s_apb_pwdata_i[30:0];
        12'h044: out_shift_q <= s_apb_pwdata_i[5:0];
        12'h048: low_q <= s_apb_pwdata_i[7:0];
        12'h04C: high_q <= s_apb_pwdata_i[7:0];
        default: ;
      endcase
    end
  end

  // -- Windows --------------------------------------------------------------------------------

  logic a_empty, b_empty, out_full, a_pop, b_pop, out_push;
  logic [31:0] a_word, b_word, made_q;

  plover_window #(
    .Depth(Depth)
  ) u_a (
    .clk_i,
    .rst_ni,
    .clear_i(start || abort),
    .push_i (a_push),
    .data_i (s_apb_pwdata_i),
    .full_o (a_full),
    .pop_i  (a_pop),
    .data_o (a_word),
    .empty_o(a_empty)
  );

  plover_window #(
    .Depth(Depth)
  ) u_b (
    .clk_i,
    .rst_ni,
    .clear_i(start || abort),
    .push_i (b_push),
    .data_i (s_apb_pwdata_i),
    .full_o (b_full),
    .pop_i  (b_pop),
    .data_o (b_word),
    .empty_o(b_empty)
  );

  plover_window #(
    .Depth(Depth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i(start || abort),
    .push_i (out_push),
    .data_i (made_q),
    .full_o (out_full),
    .pop_i  (out_pop),
    .data_o (out_word),
    .empty_o(out_empty)
  );

  // -- One element after another ----------------------------------------------------------------

  typedef enum logic [3:0] {
    StIdle,
    StTake,
    StScaleA,
    StRoundA,
    StScaleB,
    StRoundB,
    StScaleOut,
    StRoundOut,
    StGather,
    StDivide,
    StStore,
    StPush
  } state_e;

  state_e state_q;
  logic [1:0] lane_q, place_q;
  // Bytes of the result, of the row that is read, and taps of the window that are left
  logic [15:0] left_out_q, left_row_q, left_taps_q;
  logic [15:0] channel_q;
  logic pooling, two, last_byte;
  logic signed [7:0] a_byte, b_byte;
  logic signed [31:0] scaled_a_q, result_q;

  assign pooling = mode_q inside {ModeAverage, ModeMax, ModeAddAverage};
  assign two = mode_q inside {ModeAdd, ModeMul, ModeAddAverage};
  assign a_byte = a_word[8*lane_q+:8];
  assign b_byte = b_word[8*lane_q+:8];
  assign last_byte = lane_q == 2'd3 || left_row_q == 16'd1;

  // Fixed-point scaling, in two cycles: multiply; round twice
  logic signed [31:0] term, factor;
  logic signed [5:0] shift, shift_q;
  logic signed [63:0] product_q;
  logic signed [31:0] high, scaled;
  logic signed [31:0] shifted;

  always_comb begin
    unique case (state_q)
      StScaleA: begin
        term   = (32'(a_byte) - 32'(a_zero_q)) <<< left_q;
        factor = {1'b0, a_multiplier_q};
        shift  = a_shift_q;
      end
      StScaleB: begin
        term   = (32'(b_byte) - 32'(b_zero_q)) <<< left_q;
        factor = {1'b0, b_multiplier_q};
        shift  = b_shift_q;
      end
      default: begin
        factor = {1'b0, out_multiplier_q};
        shift  = out_shift_q;
        unique case (mode_q)
          ModeAdd, ModeAddAverage: term = scaled_a_q + result_q;
          ModeMul: term = (32'(a_byte) - 32'(a_zero_q)) * (32'(b_byte) - 32'(b_zero_q));
          default: term = 32'(a_byte) - 32'(a_zero_q);
        endcase
      end
    endcase
    shifted = shift > 0 ? term <<< shift[4:0] : term;
  end

  logic [4:0] right;
  logic [31:0] mask, rest, threshold;
  assign right     = shift_q < 0 ? 5'(-shift_q) : '0;
  assign high      = 32'((product_q + 64'sd1073741824) >>> 31);
  assign mask      = (32'd1 << right) - 32'd1;
  assign rest      = high & mask;
  assign threshold = (mask >> 1) + 32'(high[31]);
  assign scaled    = (high >>> right) + $signed(32'(rest > threshold));

  function automatic logic signed [7:0] clamped(input logic signed [31:0] value);
    if (value < 32'(low_q)) return low_q;
    if (value > 32'(high_q)) return high_q;
    return value[7:0];
  endfunction

  // Pooling: sums or maxima of each channel, then a division bit by bit
  logic signed [23:0] kept[Channels];
  logic signed [23:0] kept_q;
  logic [$clog2(Channels)-1:0] channel;
  logic first_tap;
  logic [31:0] rest_q;
  logic [8:0] quotient, quotient_q;
  logic [3:0] bit_q;
  logic [31:0] trial;

  assign channel = channel_q[$clog2(Channels)-1:0];
  assign first_tap = left_taps_q == taps_q;
  assign trial = 32'(taps_q) << bit_q;
  assign quotient = quotient_q | 9'(rest_q >= trial);

  // A tap is an operand as it came, or the sum of two
  logic signed [7:0] tap;
  assign tap = mode_q == ModeAddAverage ? clamped(result_q) : a_byte;

  logic signed [23:0] joined;
  always_comb begin
    if (first_tap) joined = 24'(tap);
    else if (mode_q == ModeMax) joined = kept_q > 24'(tap) ? kept_q : 24'(tap);
    else joined = kept_q + 24'(tap);
  end

  always_ff @(posedge clk_i) begin
    kept_q <= kept[channel];
    if (state_q == StGather) kept[channel] <= joined;
  end

  assign a_pop = (state_q == StGather || state_q == StStore && !pooling) && last_byte;
  assign b_pop = state_q == (pooling ? StGather : StStore) && two && last_byte;
  assign out_push = state_q == StPush && !out_full;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      {lane_q, place_q} <= '0;
      {left_out_q, left_row_q, left_taps_q, channel_q} <= '0;
      {scaled_a_q, result_q, product_q, shift_q, made_q} <= '0;
      {rest_q, quotient_q, bit_q} <= '0;
      {busy_q, done_q, error_q} <= '0;
    end else if (abort) begin
      state_q <= StIdle;
      {busy_q, done_q, error_q} <= 3'b001;
    end else begin
      unique case (state_q)
        StIdle:
        if (start) begin
          error_q <= mode_q > ModeAddAverage || count_q == '0 || (pooling && count_q > 16'(Channels));
          done_q  <= 1'b0;
          busy_q  <= 1'b1;
          state_q <= StTake;
          {lane_q, place_q, channel_q} <= '0;
          left_out_q  <= count_q;
          left_row_q  <= row_q;
          left_taps_q <= taps_q;
        end
        StTake: begin
          if (error_q) begin
            busy_q  <= 1'b0;
            state_q <= StIdle;
          end else if (!a_empty && !(two && b_empty)) begin
            unique case (mode_q)
              ModeAdd, ModeAddAverage: state_q <= StScaleA;
              ModeMul, ModeQuantize: state_q <= StScaleOut;
              default: state_q <= StGather;
            endcase
          end
        end
        StScaleA, StScaleB, StScaleOut: begin
          product_q <= 64'(shifted) * 64'(factor);
          shift_q   <= shift;
          unique case (state_q)
            StScaleA: state_q <= StRoundA;
            StScaleB: state_q <= StRoundB;
            default:  state_q <= StRoundOut;
          endcase
        end
        StRoundA: begin
          scaled_a_q <= scaled;
          state_q    <= StScaleB;
        end
        StRoundB: begin
          result_q <= scaled;
          state_q  <= StScaleOut;
        end
        StRoundOut: begin
          result_q <= scaled + 32'(out_zero_q);
          state_q  <= pooling ? StGather : StStore;
        end
        StGather: begin
          lane_q     <= last_byte ? '0 : lane_q + 2'd1;
          left_row_q <= left_row_q == 16'd1 ? row_q : left_row_q - 16'd1;
          if (channel_q + 16'd1 == count_q) begin
            channel_q   <= '0;
            left_taps_q <= left_taps_q - 16'd1;
          end else begin
            channel_q <= channel_q + 16'd1;
          end
          state_q <= left_taps_q == 16'd1 && channel_q + 16'd1 == count_q ? StDivide : StTake;
          bit_q   <= 4'hF;
        end
        StDivide: begin
          // The first cycle reads the channel, the second begins, then a bit of the quotient each
          if (bit_q == 4'hF) begin
            bit_q <= 4'hE;
          end else if (bit_q == 4'hE) begin
            rest_q     <= (kept_q < 0 ? -32'(kept_q) : 32'(kept_q)) + 32'(taps_q >> 1);
            quotient_q <= '0;
            bit_q      <= 4'h8;
            if (mode_q == ModeMax) begin
              result_q <= 32'(kept_q);
              state_q  <= StStore;
            end
          end else begin
            if (rest_q >= trial) begin
              rest_q            <= rest_q - trial;
              quotient_q[bit_q] <= 1'b1;
            end
            bit_q <= bit_q - 4'd1;
            if (bit_q == '0) begin
              result_q <= kept_q < 0 ? -32'(quotient) : 32'(quotient);
              state_q <= StStore;
            end
          end
        end
        StStore: begin
          made_q[8*place_q+:8] <= clamped(result_q);
          place_q              <= place_q + 2'd1;
          left_out_q           <= left_out_q - 16'd1;
          if (pooling) begin
            channel_q <= channel_q + 16'd1;
            bit_q     <= 4'hF;
          end else begin
            lane_q     <= last_byte ? '0 : lane_q + 2'd1;
            left_row_q <= left_row_q == 16'd1 ? row_q : left_row_q - 16'd1;
          end
          if (place_q == 2'd3 || left_out_q == 16'd1) state_q <= StPush;
          else state_q <= pooling ? StDivide : StTake;
        end
        StPush:
        if (!out_full) begin
          place_q <= '0;
          made_q  <= '0;
          if (left_out_q != '0) begin
            state_q <= pooling ? StDivide : StTake;
          end else begin
            state_q <= StIdle;
            busy_q  <= 1'b0;
            done_q  <= 1'b1;
          end
        end
        default: state_q <= StIdle;
      endcase
    end
  end

endmodule

// A FIFO of words.
/* verilator lint_off DECLFILENAME */  // The engine is one file.
module plover_window #(
  // Words, a power of two.
  parameter int unsigned Depth = 8
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Forget what is in it
  input  logic        clear_i,
  input  logic        push_i,
  input  logic [31:0] data_i,
  output logic        full_o,
  input  logic        pop_i,
  output logic [31:0] data_o,
  output logic        empty_o
);

  localparam int unsigned Bits = $clog2(Depth);

  logic [31:0] words[Depth];
  logic [Bits:0] begin_q, end_q;

  assign empty_o = begin_q == end_q;
  assign full_o  = begin_q[Bits] != end_q[Bits] && begin_q[Bits-1:0] == end_q[Bits-1:0];
  assign data_o  = words[begin_q[Bits-1:0]];

  always_ff @(posedge clk_i) begin
    if (push_i) words[end_q[Bits-1:0]] <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begin_q <= '0;
      end_q   <= '0;
    end else if (clear_i) begin
      begin_q <= '0;
      end_q   <= '0;
    end else begin
      if (push_i) end_q <= end_q + 1'b1;
      if (pop_i) begin_q <= begin_q + 1'b1;
    end
  end

endmodule
