// SPDX-License-Identifier: Apache-2.0
// What holds at every adapter from the bus to the registers of a device, with one access at a time. Part of
// specifications; the wires of the device's protocol are reduced to what they mean.
module register_access
  import atoll_bus_pkg::*;
#(
  parameter int unsigned AddrBits = 12
) (
  input logic                clk_i,
  input logic                rst_ni,
  // The bus
  input logic                valid_i,
  input logic                ready_i,
  input logic                we_i,
  input logic [AddrBits-1:0] addr_i,
  input logic [        63:0] wdata_i,
  input logic [         7:0] be_i,
  input logic                rvalid_i,
  input logic [        63:0] rdata_i,
  input resp_e               resp_i,
  // The device is shown an address and a direction
  input logic                asks_i,
  input logic                port_we_i,
  input logic [AddrBits-1:0] port_addr_i,
  // It is shown data to write
  input logic                writes_i,
  input logic [        31:0] port_data_i,
  input logic [         3:0] port_be_i,
  // It answers, and what the bus must be told then
  input logic                done_i,
  input logic [        31:0] answer_data_i,
  input resp_e               answer_resp_i,
  // An access is to be made, or was made in part
  output logic               due_o
);

  logic pending_q, done_q, we_q;
  logic [AddrBits-1:0] addr_q;
  logic [1:0][31:0] wdata_q;
  logic [1:0][3:0] be_q;
  logic [31:0] data_q;
  resp_e resp_q;
  // The access is to one word, and to which
  logic single, word;

  assign single = be_q[0] == '0 || be_q[1] == '0;
  assign word   = be_q[1] != '0;
  assign due_o  = pending_q && single && !done_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pending_q <= 1'b0;
      done_q    <= 1'b0;
    end else begin
      pending_q <= (valid_i && ready_i) || (pending_q && !rvalid_i);
      done_q    <= done_i;
      if (valid_i && ready_i) begin
        we_q    <= we_i;
        addr_q  <= addr_i;
        wdata_q <= wdata_i;
        be_q    <= be_i;
      end
      if (done_i) begin
        data_q <= answer_data_i;
        resp_q <= answer_resp_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // The device is asked only for a request that it has not answered: none is lost, made up or doubled.
      only_pending : assert (!(asks_i || writes_i || done_i) || (pending_q && !done_q));
      // A request that spans two words never reaches the device.
      one_word : assert (!(asks_i || writes_i) || single);
      // The device sees the address of the word, and the direction of the request.
      right_address : assert (!asks_i
          || (port_we_i == we_q && port_addr_i == addr_q + {word, 2'b00}));
      // It sees the word's data and strobes, in a write.
      right_data : assert (!writes_i
          || (we_q && port_data_i == wdata_q[word] && port_be_i == be_q[word]));
      // The bus is answered in the cycle after the device's answer, or after a request of two words.
      answered : assert (rvalid_i == (pending_q && (done_q || !single)));
      // What the device answered is passed on, in the lane of the word.
      right_answer : assert (!(rvalid_i && single)
          || (resp_i == resp_q && rdata_i == (word ? {data_q, 32'b0} : {32'b0, data_q})));
      // A request of two words is answered with an error.
      two_words_fail : assert (!(rvalid_i && !single) || resp_i == RespSlave);
      // A request is taken whenever none is under way, and only then.
      one_at_a_time : assert (ready_i == !pending_q);
    end
  end

endmodule
