// SPDX-License-Identifier: Apache-2.0
// Reads, multiplies and writes, tile by tile: 8 positions by 8 channels.
module loom_engine
  import loom_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // A job, stable while busy; how it ended, for one cycle
  input  logic        start_i,
  input  logic        abort_i,
  input  job_t        job_i,
  output logic        busy_o,
  output logic        ended_o,
  output ending_e     ending_o,
  // Memory
  output logic        m_obi_req_o,
  input  logic        m_obi_gnt_i,
  output logic [31:0] m_obi_addr_o,
  output logic        m_obi_we_o,
  output logic [ 7:0] m_obi_be_o,
  output logic [63:0] m_obi_wdata_o,
  input  logic        m_obi_rvalid_i,
  input  logic [63:0] m_obi_rdata_i,
  input  logic        m_obi_err_i
);

  // Blocks of the image that are read ahead
  localparam int unsigned Buffers = 4;
  // Cycles from the last input of the array until its sums are there
  localparam logic [4:0] Settle = 5'd18;
  // Beats of the table of 8 channels
  localparam logic [10:0] ChannelBeats = 11'd16;

  typedef enum logic [2:0] {
    StIdle,
    // Reads bias, multiplier and shift of 8 channels
    StChannels,
    // Reads their weights
    StWeights,
    // Reads the positions of a tile, block by block, and feeds the array
    StStream,
    // The array is at work
    StSettle,
    // Writes the tile
    StDrain
  } state_e;

  state_e state_q, state_d;
  logic stopped_q, failed_q;

  // What is left of the job
  logic [15:0] blocks_q, positions_q;
  logic [31:0] channels_at_q, weights_at_q, image_at_q, result_at_q, result_block_q;
  logic [31:0] pitch;
  logic [3:0] rows;
  logic refused, last_tile, last_block;

  assign pitch = {13'b0, job_i.positions, 3'b0};
  assign rows = positions_q >= 16'(Lanes) ? 4'(Lanes) : positions_q[3:0];
  assign last_tile = positions_q <= 16'(Lanes);
  assign last_block = blocks_q == 16'd1;
  assign refused = job_i.positions == 0 || job_i.blocks == 0 || job_i.depth == 0
                   || 32'(job_i.depth) > Depth;

  // -- Requests -------------------------------------------------------------------------------

  // Beats of the table, the weights or a block that are not asked for yet; blocks of a tile
  logic [10:0] beats_q;
  logic [31:0] address_q, block_at_q;
  logic [7:0] asked_q, received_q, fed_q;
  logic pending_q, wanted, reads, writes, granted, quiet, halted;
  logic [5:0] outstanding_q;

  logic row_valid, row_ready, bytes_valid;
  logic [3:0] rows_in_q, rows_out_q;
  logic [63:0] row_bytes;

  assign reads = beats_q != 0 && (state_q == StChannels || state_q == StWeights
                 || (state_q == StStream && 8'(asked_q - fed_q) < 8'(Buffers)));
  assign writes = state_q == StDrain && bytes_valid;
  assign wanted = (reads || writes) && outstanding_q != '1;
  assign m_obi_req_o = wanted && (pending_q || !(stopped_q || failed_q));
  assign granted = m_obi_req_o && m_obi_gnt_i;
  assign m_obi_we_o = writes;
  assign m_obi_addr_o = writes ? result_at_q + {25'b0, rows_out_q, 3'b0} : address_q;
  assign m_obi_be_o = '1;
  assign m_obi_wdata_o = row_bytes;
  assign quiet = outstanding_q == 0 && !m_obi_req_o;
  assign halted = (stopped_q || failed_q) && quiet && !pending_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q     <= 1'b0;
      outstanding_q <= '0;
    end else begin
      pending_q     <= m_obi_req_o && !m_obi_gnt_i;
      outstanding_q <= outstanding_q + 6'(granted) - 6'(m_obi_rvalid_i);
    end
  end

  // -- Order of the work ----------------------------------------------------------------------

  logic [4:0] settle_q;
  logic [10:0] answered_q;
  logic begin_channels, begin_weights, begin_tile, next_block, tile_done;
  logic all_answered, all_fed;

  assign all_answered = beats_q == 0 && quiet;
  assign all_fed = fed_q == job_i.depth;
  assign tile_done = state_q == StDrain && rows_out_q == rows && quiet;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: if (start_i && !refused) state_d = StChannels;
      StChannels: if (all_answered) state_d = StWeights;
      StWeights: if (all_answered) state_d = StStream;
      StStream: if (all_fed) state_d = StSettle;
      StSettle: if (settle_q == 0) state_d = StDrain;
      StDrain:
      if (tile_done) begin
        if (!last_tile) state_d = StStream;
        else if (!last_block) state_d = StChannels;
        else state_d = StIdle;
      end
      default: state_d = StIdle;
    endcase
    if ((stopped_q || failed_q) && state_q != StIdle) state_d = halted ? StIdle : state_q;
  end

  assign begin_channels = state_d == StChannels && state_q != StChannels;
  assign begin_weights = state_d == StWeights && state_q != StWeights;
  assign begin_tile = state_d == StStream && state_q != StStream;
  assign next_block = state_q == StStream && granted && beats_q == 11'd1
                      && 8'(asked_q + 8'd1) != job_i.depth;
  assign busy_o = state_q != StIdle;
  assign ended_o = (busy_o && state_d == StIdle) || (start_i && !busy_o && refused);
  assign ending_o = !busy_o ? EndRefused : failed_q ? EndFailed : stopped_q ? EndStopped : EndWell;

  // Positions of the tile at hand; of the next one once its rows are written
  logic [15:0] left;

  assign left = positions_q - 16'(Lanes);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StIdle;
      blocks_q       <= '0;
      positions_q    <= '0;
      channels_at_q  <= '0;
      weights_at_q   <= '0;
      image_at_q     <= '0;
      result_at_q    <= '0;
      result_block_q <= '0;
      settle_q       <= '0;
      stopped_q      <= 1'b0;
      failed_q       <= 1'b0;
    end else begin
      state_q   <= state_d;
      stopped_q <= busy_o && state_d != StIdle && (stopped_q || abort_i);
      failed_q  <= busy_o && state_d != StIdle && (failed_q || (m_obi_rvalid_i && m_obi_err_i));
      settle_q  <= state_q == StSettle ? settle_q - 5'd1 : Settle;
      if (state_q == StIdle) begin
        blocks_q       <= job_i.blocks;
        positions_q    <= job_i.positions;
        channels_at_q  <= job_i.channels;
        weights_at_q   <= job_i.weights;
        image_at_q     <= job_i.image;
        result_at_q    <= job_i.result;
        result_block_q <= job_i.result;
      end else if (tile_done && !last_tile) begin
        positions_q <= left;
        image_at_q  <= image_at_q + 32'(8 * Lanes);
        result_at_q <= result_at_q + 32'(8 * Lanes);
      end else if (tile_done) begin
        blocks_q       <= blocks_q - 16'd1;
        positions_q    <= job_i.positions;
        channels_at_q  <= channels_at_q + {18'b0, ChannelBeats, 3'b0};
        weights_at_q   <= weights_at_q + {18'b0, job_i.depth, 6'b0};
        image_at_q     <= job_i.image;
        result_at_q    <= result_block_q + pitch;
        result_block_q <= result_block_q + pitch;
      end
    end
  end

  // What to ask for: a table, weights, or the blocks of a tile one after the other
  logic [31:0] tile_at;
  logic [3:0] tile_rows;

  assign tile_at   = tile_done && !last_tile ? image_at_q + 32'(8 * Lanes) : image_at_q;
  assign tile_rows = !(tile_done && !last_tile) ? rows :
                     left >= 16'(Lanes) ? 4'(Lanes) : left[3:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beats_q    <= '0;
      address_q  <= '0;
      block_at_q <= '0;
      asked_q    <= '0;
    end else if (begin_channels) begin
      beats_q   <= ChannelBeats;
      address_q <= state_q == StIdle ? job_i.channels
                                     : channels_at_q + {18'b0, ChannelBeats, 3'b0};
    end else if (begin_weights) begin
      beats_q   <= {job_i.depth, 3'b0};
      address_q <= weights_at_q;
    end else if (begin_tile) begin
      beats_q    <= {7'b0, tile_rows};
      address_q  <= tile_at;
      block_at_q <= tile_at + pitch;
      asked_q    <= '0;
    end else if (next_block) begin
      beats_q    <= {7'b0, rows};
      address_q  <= block_at_q;
      block_at_q <= block_at_q + pitch;
      asked_q    <= asked_q + 8'd1;
    end else if (granted && !writes) begin
      beats_q   <= beats_q - 11'd1;
      address_q <= address_q + 32'(Lanes);
    end
  end

  // -- Answers --------------------------------------------------------------------------------

  channel_t [Lanes-1:0] channels_q;
  logic [63:0] bank[Depth * Lanes];
  logic [Buffers-1:0][Lanes-1:0][63:0] buffers_q;
  logic [2:0] row_q;
  logic taken, block_taken;

  assign taken = m_obi_rvalid_i && state_q inside {StChannels, StWeights, StStream};
  assign block_taken = taken && state_q == StStream && 4'(row_q) + 4'd1 == rows;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answered_q <= '0;
      row_q      <= '0;
      received_q <= '0;
    end else if (begin_channels || begin_weights || begin_tile) begin
      answered_q <= '0;
      row_q      <= '0;
      received_q <= '0;
    end else if (taken) begin
      answered_q <= answered_q + 11'd1;
      row_q      <= block_taken ? '0 : row_q + 3'd1;
      received_q <= received_q + 8'(block_taken);
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken && state_q == StChannels)
      channels_q[answered_q[3:1]][64*answered_q[0]+:64] <= m_obi_rdata_i;
    if (taken && state_q == StWeights) bank[answered_q[9:0]] <= m_obi_rdata_i;
    if (taken && state_q == StStream) buffers_q[received_q[1:0]][row_q] <= m_obi_rdata_i;
  end

  // -- Array ----------------------------------------------------------------------------------

  logic feeds, valid_q, first_q;
  logic [2:0] step_q;
  logic [Lanes-1:0][7:0] values_q;
  logic [63:0] weights_q;
  logic [Lanes-1:0][Lanes-1:0][31:0] sums;

  assign feeds = state_q == StStream && received_q != fed_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q  <= '0;
      fed_q   <= '0;
      valid_q <= 1'b0;
      first_q <= 1'b0;
    end else begin
      valid_q <= feeds;
      first_q <= feeds && fed_q == 0 && step_q == 0;
      if (begin_tile) begin
        step_q <= '0;
        fed_q  <= '0;
      end else if (feeds) begin
        step_q <= step_q + 3'd1;
        fed_q  <= fed_q + 8'(&step_q);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    weights_q <= bank[{fed_q[6:0], step_q}];
    for (int i = 0; i < int'(Lanes); i++) begin
      values_q[i] <= buffers_q[fed_q[1:0]][i][8*step_q+:8];
    end
  end

  loom_cells u_cells (
    .clk_i,
    .rst_ni,
    .valid_i  (valid_q),
    .first_i  (first_q),
    .values_i (values_q),
    .weights_i(weights_q),
    .sums_o   (sums)
  );

  // -- Results --------------------------------------------------------------------------------

  assign row_valid = state_q == StDrain && rows_in_q != rows;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_in_q  <= '0;
      rows_out_q <= '0;
    end else if (state_q != StDrain) begin
      rows_in_q  <= '0;
      rows_out_q <= '0;
    end else begin
      rows_in_q  <= rows_in_q + 4'(row_valid && row_ready);
      rows_out_q <= rows_out_q + 4'(granted);
    end
  end

  loom_scale u_scale (
    .clk_i,
    .rst_ni,
    .channels_i  (channels_q),
    .zero_point_i(job_i.zero_point),
    .low_i       (job_i.low),
    .high_i      (job_i.high),
    .valid_i     (row_valid),
    .ready_o     (row_ready),
    .sums_i      (sums[rows_in_q[2:0]]),
    .valid_o     (bytes_valid),
    .ready_i     (granted || state_q != StDrain),
    .bytes_o     (row_bytes)
  );

endmodule
