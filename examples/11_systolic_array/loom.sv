// SPDX-License-Identifier: Apache-2.0
// loom: an output-stationary systolic array of 8x8 cells with a bank of weights of its own.
//
// It multiplies an image of blocks of 8 channels, [DEPTH][POSITIONS][8], by weights and writes the
// result in blocks of 8 channels as well, [BLOCKS][POSITIONS][8].
module loom (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        irq_o,
  // Registers
  input  logic        s_obi_req_i,
  output logic        s_obi_gnt_o,
  input  logic [11:0] s_obi_addr_i,
  input  logic        s_obi_we_i,
  input  logic [ 3:0] s_obi_be_i,
  input  logic [31:0] s_obi_wdata_i,
  output logic        s_obi_rvalid_o,
  output logic [31:0] s_obi_rdata_o,
  output logic        s_obi_err_o,
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

  import loom_pkg::*;

  localparam logic [31:0] Id = 32'h4C4F_4F4D;

  job_t job_q;
  ending_e ending, ending_q;
  logic busy, ended, done_q, irq_q;
  logic start, abort, known, write;
  logic [31:0] value;

  // The jobs' registers are written while it is idle, whole words at a time.
  always_comb begin
    known = 1'b0;
    value = '0;
    unique case (s_obi_addr_i)
      12'h000: begin
        known = !s_obi_we_i;
        value = Id;
      end
      12'h004: known = s_obi_we_i && !(busy && s_obi_wdata_i[0]);
      12'h008: begin
        known = !s_obi_we_i;
        value = {
          27'b0,
          ending_q == EndRefused,
          ending_q == EndStopped,
          ending_q == EndFailed,
          done_q,
          busy
        };
      end
      12'h00C: begin
        known = 1'b1;
        value = {31'b0, irq_q};
      end
      12'h010, 12'h014, 12'h018, 12'h01C, 12'h020, 12'h024, 12'h028, 12'h02C, 12'h030, 12'h034:
      known = s_obi_we_i && !busy && &s_obi_be_i;
      default: known = 1'b0;
    endcase
  end

  assign write = s_obi_req_i && s_obi_we_i && known;
  assign start = write && s_obi_addr_i == 12'h004 && s_obi_wdata_i[0] && !s_obi_wdata_i[1];
  assign abort = write && s_obi_addr_i == 12'h004 && s_obi_wdata_i[1];
  assign s_obi_gnt_o = 1'b1;
  assign irq_o = irq_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s_obi_rvalid_o <= 1'b0;
      s_obi_rdata_o  <= '0;
      s_obi_err_o    <= 1'b0;
    end else begin
      s_obi_rvalid_o <= s_obi_req_i;
      s_obi_rdata_o  <= known ? value : '0;
      s_obi_err_o    <= !known;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q <= '0;
    end else if (write) begin
      unique case (s_obi_addr_i)
        12'h010: job_q.image <= s_obi_wdata_i;
        12'h014: job_q.weights <= s_obi_wdata_i;
        12'h018: job_q.channels <= s_obi_wdata_i;
        12'h01C: job_q.result <= s_obi_wdata_i;
        12'h020: job_q.positions <= s_obi_wdata_i[15:0];
        12'h024: job_q.depth <= s_obi_wdata_i[7:0];
        12'h028: job_q.blocks <= s_obi_wdata_i[15:0];
        12'h02C: job_q.zero_point <= s_obi_wdata_i[7:0];
        12'h030: job_q.low <= s_obi_wdata_i[7:0];
        12'h034: job_q.high <= s_obi_wdata_i[7:0];
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ending_q <= EndWell;
      done_q   <= 1'b0;
      irq_q    <= 1'b0;
    end else if (start) begin
      ending_q <= EndWell;
      done_q   <= 1'b0;
      irq_q    <= 1'b0;
    end else if (ended) begin
      ending_q <= ending;
      done_q   <= 1'b1;
      irq_q    <= 1'b1;
    end else if (write && s_obi_addr_i == 12'h00C && s_obi_wdata_i[0]) begin
      irq_q <= 1'b0;
    end
  end

  loom_engine u_engine (
    .clk_i,
    .rst_ni,
    .start_i (start),
    .abort_i (abort),
    .job_i   (job_q),
    .busy_o  (busy),
    .ended_o (ended),
    .ending_o(ending),
    .m_obi_req_o,
    .m_obi_gnt_i,
    .m_obi_addr_o,
    .m_obi_we_o,
    .m_obi_be_o,
    .m_obi_wdata_o,
    .m_obi_rvalid_i,
    .m_obi_rdata_i,
    .m_obi_err_i
  );

endmodule
