// SPDX-License-Identifier: Apache-2.0
// Ports on the system bus, see atoll_bus_pkg.
`ifndef ATOLL_BUS_SVH
`define ATOLL_BUS_SVH

// Of a master: its request, and the answer of the bus
`define ATOLL_BUS_MASTER_PORTS(DataBytes) \
  output logic                   valid_o, \
  input  logic                   ready_i, \
  output logic                   we_o, \
  output logic [           31:0] addr_o, \
  output logic [8*DataBytes-1:0] wdata_o, \
  output logic [  DataBytes-1:0] be_o, \
  input  logic                   rvalid_i, \
  input  logic [8*DataBytes-1:0] rdata_i, \
  input  resp_e                  resp_i

// Of registers: a request, whose `addr_i` counts from the first register, and their answer
`define ATOLL_BUS_REGISTER_PORTS(DataBytes, AddrBits) \
  input  logic                   valid_i, \
  output logic                   ready_o, \
  input  logic                   we_i, \
  input  logic [   AddrBits-1:0] addr_i, \
  input  logic [8*DataBytes-1:0] wdata_i, \
  input  logic [  DataBytes-1:0] be_i, \
  output logic                   rvalid_o, \
  output logic [8*DataBytes-1:0] rdata_o, \
  output resp_e                  resp_o

`endif
