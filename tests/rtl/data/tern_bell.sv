// SPDX-License-Identifier: Apache-2.0
// The tern of examples/07_own_accelerator behind a doorbell: a queue of four commands, each of which
// tern runs as a list of one.
module tern_bell #(
  // Bytes of a beat: 4 to 64.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   s_apb_psel_i,
  input  logic                   s_apb_penable_i,
  input  logic [           11:0] s_apb_paddr_i,
  input  logic                   s_apb_pwrite_i,
  input  logic [           31:0] s_apb_pwdata_i,
  input  logic [            3:0] s_apb_pstrb_i,
  output logic                   s_apb_pready_o,
  output logic [           31:0] s_apb_prdata_o,
  output logic                   s_apb_pslverr_o,
  output logic [           31:0] m_axi_awaddr_o,
  output logic [            7:0] m_axi_awlen_o,
  output logic [            2:0] m_axi_awsize_o,
  output logic [            1:0] m_axi_awburst_o,
  output logic                   m_axi_awvalid_o,
  input  logic                   m_axi_awready_i,
  output logic [DataBytes*8-1:0] m_axi_wdata_o,
  output logic [  DataBytes-1:0] m_axi_wstrb_o,
  output logic                   m_axi_wlast_o,
  output logic                   m_axi_wvalid_o,
  input  logic                   m_axi_wready_i,
  input  logic [            1:0] m_axi_bresp_i,
  input  logic                   m_axi_bvalid_i,
  output logic                   m_axi_bready_o,
  output logic [           31:0] m_axi_araddr_o,
  output logic [            7:0] m_axi_arlen_o,
  output logic [            2:0] m_axi_arsize_o,
  output logic [            1:0] m_axi_arburst_o,
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  input  logic [DataBytes*8-1:0] m_axi_rdata_i,
  input  logic [            1:0] m_axi_rresp_i,
  input  logic                   m_axi_rlast_i,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  output logic                   irq_o
);

  localparam int unsigned Places = 4;

  // Registers
  logic access, write, known, rung, abort, clear;
  logic failed_q, enabled_q, raised_q, aborting_q;
  logic [31:0] error_q, fault_q, completed_q;

  // The queue: the first command stays in it until it has ended
  logic [31:0] queue_q[Places];
  logic [2:0] first_q, next_q, queued;
  logic busy, ended, ended_well, empties;

  assign queued = next_q - first_q;
  assign busy   = queued != '0;
  assign access = s_apb_psel_i && s_apb_penable_i;
  assign write  = access && s_apb_pwrite_i && known;
  assign rung   = write && s_apb_paddr_i == 12'h018 && !failed_q;
  assign clear  = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[2] && !busy;
  assign abort  = write && s_apb_paddr_i == 12'h004 && s_apb_pwdata_i[1];

  always_comb begin
    s_apb_prdata_o = '0;
    known = !s_apb_pwrite_i;
    unique case (s_apb_paddr_i)
      12'h000: s_apb_prdata_o = 32'h4245_4C4C;
      12'h004: known = s_apb_pwrite_i;
      12'h008: s_apb_prdata_o = {29'b0, failed_q && !busy, !failed_q && !busy, busy};
      12'h00C: s_apb_prdata_o = error_q;
      12'h010: s_apb_prdata_o = fault_q;
      12'h014: s_apb_prdata_o = Places;
      12'h018: known = s_apb_pwrite_i && queued != 3'(Places) && !aborting_q;
      12'h01C: s_apb_prdata_o = completed_q;
      12'h020: begin
        known = 1'b1;
        s_apb_prdata_o = {31'b0, enabled_q};
      end
      12'h024: begin
        known = 1'b1;
        s_apb_prdata_o = {31'b0, raised_q};
      end
      default: known = 1'b0;
    endcase
  end

  assign s_apb_pready_o  = 1'b1;
  assign s_apb_pslverr_o = !known;
  assign irq_o           = raised_q && enabled_q;

  // The list of one that tern runs
  typedef enum logic [3:0] {
    StIdle,
    StAddress,
    StCount,
    StEnable,
    StStart,
    StWait,
    StError,
    StFault,
    StCompleted,
    StClear,
    StAbort
  } state_e;

  state_e state_q, after;
  logic asked_q, inner_irq, answered, bvalid, rvalid, awready, wready, arready, aw_q, w_q;
  logic [11:0] address;
  logic [31:0] data, rdata;
  logic stores, unused_answers;
  logic [1:0] bresp, rresp;

  assign unused_answers = ^{bresp, rresp, s_apb_pstrb_i};

  always_comb begin
    address = '0;
    data    = '0;
    stores  = 1'b1;
    after   = StIdle;
    unique case (state_q)
      StAddress: begin
        {address, data} = {12'h01C, queue_q[first_q[1:0]]};
        after = StCount;
      end
      StCount: begin
        {address, data} = {12'h020, 32'd1};
        after = StEnable;
      end
      StEnable: begin
        {address, data} = {12'h028, 32'd1};
        after = StStart;
      end
      StStart: begin
        {address, data} = {12'h00C, 32'd1};
        after = StWait;
      end
      StAbort: begin
        {address, data} = {12'h00C, 32'd2};
        after = StWait;
      end
      StError: begin
        {address, stores} = {12'h014, 1'b0};
        after = StFault;
      end
      StFault: begin
        {address, stores} = {12'h018, 1'b0};
        after = StCompleted;
      end
      StCompleted: begin
        {address, stores} = {12'h024, 1'b0};
        after = StClear;
      end
      StClear: {address, data} = {12'h02C, 32'd1};
      default: ;
    endcase
  end

  logic asks;
  assign asks       = !(state_q inside {StIdle, StWait});
  assign answered   = asked_q && (stores ? bvalid : rvalid);
  assign ended      = state_q == StClear && answered;
  assign ended_well = error_q == '0;
  assign empties    = ended && (queued == 3'd1 || !ended_well);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      {asked_q, aw_q, w_q} <= '0;
      {first_q, next_q} <= '0;
      {failed_q, enabled_q, raised_q, aborting_q} <= '0;
      {error_q, fault_q, completed_q} <= '0;
    end else begin
      if (rung) next_q <= next_q + 3'd1;
      if (clear) {failed_q, error_q, fault_q} <= '0;
      if (write && s_apb_paddr_i == 12'h020) enabled_q <= s_apb_pwdata_i[0];
      if (write && s_apb_paddr_i == 12'h024 && s_apb_pwdata_i[0]) raised_q <= 1'b0;
      if (empties) raised_q <= 1'b1;
      if (abort && busy) aborting_q <= 1'b1;
      if (ended) begin
        first_q <= ended_well ? first_q + 3'd1 : next_q;
        if (ended_well) completed_q <= completed_q + 32'd1;
        else failed_q <= 1'b1;
        aborting_q <= 1'b0;
      end
      // One access after the other
      if (asks && !asked_q) begin
        asked_q <= 1'b1;
        {aw_q, w_q} <= {2{stores}};
      end
      if (awready) aw_q <= 1'b0;
      if (wready) w_q <= 1'b0;
      if (answered) begin
        asked_q <= 1'b0;
        state_q <= after;
        if (state_q == StError) error_q <= rdata;
        if (state_q == StFault) fault_q <= rdata;
      end else if (state_q == StIdle && busy) begin
        state_q <= StAddress;
      end else if (state_q == StWait) begin
        if (inner_irq) state_q <= StError;
        else if (aborting_q) state_q <= StAbort;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rung) queue_q[next_q[1:0]] <= s_apb_pwdata_i;
  end

  logic ar_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ar_q <= 1'b0;
    else if (asks && !asked_q && !stores) ar_q <= 1'b1;
    else if (arready) ar_q <= 1'b0;
  end

  tern #(
    .DataBytes(DataBytes)
  ) u_tern (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr_i (address),
    .s_axil_awvalid_i(aw_q),
    .s_axil_awready_o(awready),
    .s_axil_wdata_i  (data),
    .s_axil_wstrb_i  (4'hF),
    .s_axil_wvalid_i (w_q),
    .s_axil_wready_o (wready),
    .s_axil_bresp_o  (bresp),
    .s_axil_bvalid_o (bvalid),
    .s_axil_bready_i (1'b1),
    .s_axil_araddr_i (address),
    .s_axil_arvalid_i(ar_q),
    .s_axil_arready_o(arready),
    .s_axil_rdata_o  (rdata),
    .s_axil_rresp_o  (rresp),
    .s_axil_rvalid_o (rvalid),
    .s_axil_rready_i (1'b1),
    .m_axi_awaddr_o,
    .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o,
    .m_axi_awvalid_o,
    .m_axi_awready_i,
    .m_axi_wdata_o,
    .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_wvalid_o,
    .m_axi_wready_i,
    .m_axi_bresp_i,
    .m_axi_bvalid_i,
    .m_axi_bready_o,
    .m_axi_araddr_o,
    .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o,
    .m_axi_arvalid_o,
    .m_axi_arready_i,
    .m_axi_rdata_i,
    .m_axi_rresp_i,
    .m_axi_rlast_i,
    .m_axi_rvalid_i,
    .m_axi_rready_o,
    .irq_o           (inner_irq)
  );

endmodule
