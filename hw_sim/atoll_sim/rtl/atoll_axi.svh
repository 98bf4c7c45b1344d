// SPDX-License-Identifier: Apache-2.0
// AXI ports signal by signal, as tools and docs/accelerators.md know them, and what joins them to the
// structs of engine_pkg. Names of inputs end with I, those of outputs with O; either may be empty.
`ifndef ATOLL_AXI_SVH
`define ATOLL_AXI_SVH

// AXI4-Lite control port
`define ATOLL_AXIL_PORTS(I, O) \
  input  logic [11:0] s_axil_awaddr``I, \
  input  logic        s_axil_awvalid``I, \
  output logic        s_axil_awready``O, \
  input  logic [31:0] s_axil_wdata``I, \
  input  logic [ 3:0] s_axil_wstrb``I, \
  input  logic        s_axil_wvalid``I, \
  output logic        s_axil_wready``O, \
  output logic [ 1:0] s_axil_bresp``O, \
  output logic        s_axil_bvalid``O, \
  input  logic        s_axil_bready``I, \
  input  logic [11:0] s_axil_araddr``I, \
  input  logic        s_axil_arvalid``I, \
  output logic        s_axil_arready``O, \
  output logic [31:0] s_axil_rdata``O, \
  output logic [ 1:0] s_axil_rresp``O, \
  output logic        s_axil_rvalid``O, \
  input  logic        s_axil_rready``I

// Write channels of an AXI4 data master, INCR bursts of whole beats
`define ATOLL_AXI_WRITE_PORTS(DataBytes, I, O) \
  output logic [           31:0] m_axi_awaddr``O, \
  output logic [            7:0] m_axi_awlen``O, \
  output logic [            2:0] m_axi_awsize``O, \
  output logic [            1:0] m_axi_awburst``O, \
  output logic                   m_axi_awvalid``O, \
  input  logic                   m_axi_awready``I, \
  output logic [DataBytes*8-1:0] m_axi_wdata``O, \
  output logic [  DataBytes-1:0] m_axi_wstrb``O, \
  output logic                   m_axi_wlast``O, \
  output logic                   m_axi_wvalid``O, \
  input  logic                   m_axi_wready``I, \
  input  logic [            1:0] m_axi_bresp``I, \
  input  logic                   m_axi_bvalid``I, \
  output logic                   m_axi_bready``O

// Its read channels
`define ATOLL_AXI_READ_PORTS(DataBytes, I, O) \
  output logic [           31:0] m_axi_araddr``O, \
  output logic [            7:0] m_axi_arlen``O, \
  output logic [            2:0] m_axi_arsize``O, \
  output logic [            1:0] m_axi_arburst``O, \
  output logic                   m_axi_arvalid``O, \
  input  logic                   m_axi_arready``I, \
  input  logic [DataBytes*8-1:0] m_axi_rdata``I, \
  input  logic [            1:0] m_axi_rresp``I, \
  input  logic                   m_axi_rlast``I, \
  input  logic                   m_axi_rvalid``I, \
  output logic                   m_axi_rready``O

// All ports of an engine: clock and asynchronous reset, control, data, level interrupt
`define ATOLL_ENGINE_PORTS(DataBytes, I, O) \
  input  logic clk_i, \
  input  logic rst_ni, \
  `ATOLL_AXIL_PORTS(I, O), \
  `ATOLL_AXI_WRITE_PORTS(DataBytes, I, O), \
  `ATOLL_AXI_READ_PORTS(DataBytes, I, O), \
  output logic irq_o

// The structs of these ports: `axil_req` and `axil_rsp`, `write_req` and `write_rsp`, `read_req` and
// `read_rsp`. Data of the master, whose width depends on it, stay signals.
`define ATOLL_AXIL_STRUCTS(I, O) \
  engine_pkg::axil_req_t axil_req; \
  engine_pkg::axil_rsp_t axil_rsp; \
  assign axil_req = '{ \
      awaddr: s_axil_awaddr``I, \
      awvalid: s_axil_awvalid``I, \
      wdata: s_axil_wdata``I, \
      wstrb: s_axil_wstrb``I, \
      wvalid: s_axil_wvalid``I, \
      bready: s_axil_bready``I, \
      araddr: s_axil_araddr``I, \
      arvalid: s_axil_arvalid``I, \
      rready: s_axil_rready``I \
  }; \
  assign s_axil_awready``O = axil_rsp.awready; \
  assign s_axil_wready``O = axil_rsp.wready; \
  assign s_axil_bresp``O = axil_rsp.bresp; \
  assign s_axil_bvalid``O = axil_rsp.bvalid; \
  assign s_axil_arready``O = axil_rsp.arready; \
  assign s_axil_rdata``O = axil_rsp.rdata; \
  assign s_axil_rresp``O = axil_rsp.rresp; \
  assign s_axil_rvalid``O = axil_rsp.rvalid;

`define ATOLL_AXI_WRITE_STRUCTS(I, O) \
  engine_pkg::write_req_t write_req; \
  engine_pkg::write_rsp_t write_rsp; \
  assign m_axi_awaddr``O = write_req.awaddr; \
  assign m_axi_awlen``O = write_req.awlen; \
  assign m_axi_awsize``O = write_req.awsize; \
  assign m_axi_awburst``O = write_req.awburst; \
  assign m_axi_awvalid``O = write_req.awvalid; \
  assign m_axi_wlast``O = write_req.wlast; \
  assign m_axi_wvalid``O = write_req.wvalid; \
  assign m_axi_bready``O = write_req.bready; \
  assign write_rsp = '{ \
      awready: m_axi_awready``I, \
      wready: m_axi_wready``I, \
      bresp: m_axi_bresp``I, \
      bvalid: m_axi_bvalid``I \
  };

`define ATOLL_AXI_READ_STRUCTS(I, O) \
  engine_pkg::read_req_t read_req; \
  engine_pkg::read_rsp_t read_rsp; \
  assign m_axi_araddr``O = read_req.araddr; \
  assign m_axi_arlen``O = read_req.arlen; \
  assign m_axi_arsize``O = read_req.arsize; \
  assign m_axi_arburst``O = read_req.arburst; \
  assign m_axi_arvalid``O = read_req.arvalid; \
  assign m_axi_rready``O = read_req.rready; \
  assign read_rsp = '{ \
      arready: m_axi_arready``I, \
      rresp: m_axi_rresp``I, \
      rlast: m_axi_rlast``I, \
      rvalid: m_axi_rvalid``I \
  };

// All of them for the ports of an engine
`define ATOLL_ENGINE_STRUCTS \
  `ATOLL_AXIL_STRUCTS(_i, _o) \
  `ATOLL_AXI_WRITE_STRUCTS(_i, _o) \
  `ATOLL_AXI_READ_STRUCTS(_i, _o)

`endif
