// SPDX-License-Identifier: Apache-2.0

// Whatever may stand at a port of the bus: it accepts and answers when it likes, with what it likes,
// but nothing that it was not asked, and it owes 255 answers at most.
module atoll_any_slave
  import atoll_bus_pkg::*;
#(
  // Bytes of a beat.
  parameter int unsigned DataBytes = 8
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  output logic                   rvalid_o,
  output logic [8*DataBytes-1:0] rdata_o,
  output logic [            1:0] resp_o
);

  logic accepts, answers;
  logic [7:0] owed_q;

  atoll_free u_accepts (.value_o(accepts));
  atoll_free u_answers (.value_o(answers));
  atoll_free #(.Width(8 * DataBytes)) u_data (.value_o(rdata_o));
  atoll_free #(.Width(2)) u_response (.value_o(resp_o));

  assign ready_o  = accepts && owed_q != '1;
  assign rvalid_o = answers && owed_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= '0;
    else owed_q <= owed_q + 8'(valid_i && ready_o) - 8'(rvalid_o);
  end

endmodule
