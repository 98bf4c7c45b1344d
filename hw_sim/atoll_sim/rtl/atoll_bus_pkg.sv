// SPDX-License-Identifier: Apache-2.0
// Types of the system bus.
//
// A master holds a request until the bus is ready for it. Every request gets one answer, a
// cycle later or more, in the order of the requests; a master cannot delay an answer.
// Addresses are multiples of `DataBytes`; `be` tells which bytes of the beat take part.
package atoll_bus_pkg;

  // How an access went; the encoding is AXI's.
  typedef enum logic [1:0] {
    RespOkay   = 2'b00,
    RespSlave  = 2'b10,
    RespDecode = 2'b11
  } resp_e;

  // A span of byte addresses; `last` belongs to it. None is inside if `last` is below `first`.
  typedef struct packed {
    logic [31:0] first;
    logic [31:0] last;
  } window_t;

endpackage
