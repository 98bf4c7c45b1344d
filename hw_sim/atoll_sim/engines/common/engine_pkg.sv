// SPDX-License-Identifier: Apache-2.0
// Types of an accelerator that runs lists of descriptors.
package engine_pkg;

  // Bytes of a descriptor in memory; it begins at a multiple of them.
  localparam int unsigned DescriptorBytes = 64;

  // Codes of the ERROR register.
  typedef enum logic [3:0] {
    ErrNone        = 4'd0,
    ErrReadSlave   = 4'd1,
    ErrReadDecode  = 4'd2,
    ErrWriteSlave  = 4'd3,
    ErrWriteDecode = 4'd4,
    ErrBadOpcode   = 4'd5,
    ErrBadField    = 4'd6,
    ErrMisaligned  = 4'd7,
    ErrAborted     = 4'd8,
    ErrBadCheck    = 4'd9
  } error_e;

  // What went wrong and where.
  typedef struct packed {
    logic        valid;
    error_e      error;
    logic [31:0] address;
  } fault_t;

  // The list to go on with, and how many descriptors it has.
  typedef struct packed {
    logic        valid;
    logic [31:0] address;
    logic [15:0] count;
  } link_t;

  // A list to run, or to stop, for one cycle each; address and count are stable while it runs.
  typedef struct packed {
    logic        start;
    logic        stop;
    logic [31:0] address;
    logic [31:0] count;
  } list_t;

  // What keeps a run from going on in a cycle: of what it computes with, at most one is missing.
  typedef struct packed {
    logic read;     // input
    logic write;    // a result is not taken
    logic weights;  // weights or parameters
  } waits_t;

  // How the list stands, as the registers report it.
  typedef struct packed {
    logic        busy;
    logic        done;
    fault_t      fault;
    logic [31:0] completed;
    logic [31:0] cycles;
    logic [31:0] stalls;
    logic [31:0] wait_read;
    logic [31:0] wait_write;
    logic [31:0] wait_weights;
  } status_t;

  // What the requester drives of an AXI4-Lite control port, and what answers.
  typedef struct packed {
    logic [11:0] awaddr;
    logic        awvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        wvalid;
    logic        bready;
    logic [11:0] araddr;
    logic        arvalid;
    logic        rready;
  } axil_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic [1:0]  bresp;
    logic        bvalid;
    logic        arready;
    logic [31:0] rdata;
    logic [1:0]  rresp;
    logic        rvalid;
  } axil_rsp_t;

  // What a master drives of AXI4 read channels, and what answers, without the data.
  typedef struct packed {
    logic [31:0] araddr;
    logic [7:0]  arlen;
    logic [2:0]  arsize;
    logic [1:0]  arburst;
    logic        arvalid;
    logic        rready;
  } read_req_t;

  typedef struct packed {
    logic       arready;
    logic [1:0] rresp;
    logic       rlast;
    logic       rvalid;
  } read_rsp_t;

  // The same of write channels, without data and strobes.
  typedef struct packed {
    logic [31:0] awaddr;
    logic [7:0]  awlen;
    logic [2:0]  awsize;
    logic [1:0]  awburst;
    logic        awvalid;
    logic        wlast;
    logic        wvalid;
    logic        bready;
  } write_req_t;

  typedef struct packed {
    logic       awready;
    logic       wready;
    logic [1:0] bresp;
    logic       bvalid;
  } write_rsp_t;

  // Code of an AXI response that is not OKAY; `decode` is what DECERR means on this channel.
  function automatic error_e response_error(logic [1:0] response, error_e slave, error_e decode);
    return response == 2'b11 ? decode : slave;
  endfunction

endpackage
