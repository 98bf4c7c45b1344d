// An accelerator to start from: it requantises int8, word by word, through a port of its own.
module widget (
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
  output logic        s_apb_pslverr_o,
  // Memory
  output logic        m_obi_req_o,
  input  logic        m_obi_gnt_i,
  output logic [31:0] m_obi_addr_o,
  output logic        m_obi_we_o,
  output logic [ 3:0] m_obi_be_o,
  output logic [31:0] m_obi_wdata_o,
  input  logic        m_obi_rvalid_i,
  input  logic [31:0] m_obi_rdata_i,
  input  logic        m_obi_err_i,
  // High from the end of an operator until it is taken
  output logic        irq_o
);

  localparam logic [31:0] Id = 32'h5749_4447;

  // -- Registers ------------------------------------------------------------------------------

  logic [31:0] source_q, target_q;
  logic [15:0] count_q;
  logic signed [7:0] source_zero_q, target_zero_q, low_q, high_q;
  logic [30:0] multiplier_q;
  logic signed [5:0] shift_q;
  logic busy_q, done_q, error_q;
  logic known, write, start, abort, clear;

  always_comb begin
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
      12'h010, 12'h014, 12'h018, 12'h01C, 12'h020, 12'h024, 12'h028, 12'h02C, 12'h030:
      known = s_apb_pwrite_i && !busy_q;
      default: ;
    endcase
    if (s_apb_pwrite_i && s_apb_pstrb_i != 4'hF) known = 1'b0;
  end

  assign s_apb_pready_o  = 1'b1;
  assign s_apb_pslverr_o = !known;
  assign write           = s_apb_psel_i && s_apb_penable_i && s_apb_pwrite_i && known;
  assign start           = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[0] && !busy_q;
  assign abort           = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[1];
  assign clear           = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[2];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {source_q, target_q, count_q} <= '0;
      {source_zero_q, target_zero_q, low_q, high_q} <= '0;
      {multiplier_q, shift_q} <= '0;
    end else if (write) begin
      unique case (s_apb_paddr_i)
        12'h010: source_q <= s_apb_pwdata_i;
        12'h014: target_q <= s_apb_pwdata_i;
        12'h018: count_q <= s_apb_pwdata_i[15:0];
        12'h01C: source_zero_q <= s_apb_pwdata_i[7:0];
        12'h020: target_zero_q <= s_apb_pwdata_i[7:0];
        12'h024: multiplier_q <= s_apb_pwdata_i[30:0];
        12'h028: shift_q <= s_apb_pwdata_i[5:0];
        12'h02C: low_q <= s_apb_pwdata_i[7:0];
        12'h030: high_q <= s_apb_pwdata_i[7:0];
        default: ;
      endcase
    end
  end

  // -- One word after another ---------------------------------------------------------------------

  typedef enum logic [2:0] {
    StIdle,
    StRead,
    StLoad,
    StMultiply,
    StRound,
    StWrite,
    StStore
  } state_e;

  state_e state_q;
  logic stop_q;
  logic [31:0] word_q;
  logic [15:0] offset_q;
  logic [1:0] lane_q, last;
  logic [15:0] left;

  // The last lane of this word; operators need not end with a whole one
  assign left = count_q - offset_q;
  assign last = left >= 16'd4 ? 2'd3 : 2'(left - 16'd1);

  logic signed [31:0] term, shifted, high, scaled, made;
  logic signed [63:0] product_q;
  logic [4:0] right;
  logic [31:0] mask, rest, threshold;

  assign term      = 32'($signed(word_q[8*lane_q+:8])) - 32'(source_zero_q);
  assign shifted   = shift_q > 0 ? term <<< shift_q[4:0] : term;
  assign right     = shift_q < 0 ? 5'(-shift_q) : '0;
  assign high      = 32'((product_q + 64'sd1073741824) >>> 31);
  assign mask      = (32'd1 << right) - 32'd1;
  assign rest      = high & mask;
  assign threshold = (mask >> 1) + 32'(high[31]);
  assign scaled    = (high >>> right) + $signed(32'(rest > threshold));
  assign made      = scaled + 32'(target_zero_q);

  assign m_obi_req_o   = state_q == StRead || state_q == StWrite;
  assign m_obi_we_o    = state_q == StWrite;
  assign m_obi_addr_o  = (state_q == StWrite ? target_q : source_q) + 32'(offset_q);
  assign m_obi_be_o    = 4'hF >> (2'd3 - last);
  assign m_obi_wdata_o = word_q;
  assign irq_o         = done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      {stop_q, word_q, offset_q, lane_q, product_q} <= '0;
      {busy_q, done_q, error_q} <= '0;
    end else begin
      if (clear) done_q <= 1'b0;
      if (abort && busy_q) stop_q <= 1'b1;
      unique case (state_q)
        StIdle:
        if (start) begin
          {busy_q, done_q, error_q, stop_q} <= 4'b1000;
          offset_q <= '0;
          state_q  <= StRead;
        end
        StRead: if (m_obi_gnt_i) state_q <= StLoad;
        StLoad:
        if (m_obi_rvalid_i) begin
          word_q  <= m_obi_rdata_i;
          lane_q  <= '0;
          error_q <= m_obi_err_i || stop_q;
          state_q <= StMultiply;
          if (m_obi_err_i || stop_q) begin
            {busy_q, done_q} <= 2'b01;
            state_q <= StIdle;
          end
        end
        StMultiply: begin
          product_q <= 64'(shifted) * 64'($signed({1'b0, multiplier_q}));
          state_q   <= StRound;
        end
        StRound: begin
          if (made < 32'(low_q)) word_q[8*lane_q+:8] <= low_q;
          else if (made > 32'(high_q)) word_q[8*lane_q+:8] <= high_q;
          else word_q[8*lane_q+:8] <= made[7:0];
          lane_q  <= lane_q + 2'd1;
          state_q <= lane_q == last ? StWrite : StMultiply;
        end
        StWrite: if (m_obi_gnt_i) state_q <= StStore;
        StStore:
        if (m_obi_rvalid_i) begin
          offset_q <= offset_q + 16'd4;
          state_q  <= StRead;
          if (m_obi_err_i || stop_q || left <= 16'd4) begin
            error_q <= m_obi_err_i || stop_q;
            {busy_q, done_q} <= 2'b01;
            state_q <= StIdle;
          end
        end
        default: state_q <= StIdle;
      endcase
    end
  end

endmodule
