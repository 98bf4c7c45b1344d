// SPDX-License-Identifier: Apache-2.0
`include "atoll_assert.svh"

// Grants one of several requests, in turn: who was served last is served next only if alone.
//
// The grant is given in the cycle of the request; `taken_i` says that it was used.
module atoll_arbiter #(
  // Number of requesters.
  parameter int unsigned NumPorts = 2
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [NumPorts-1:0] request_i,
  // One-hot, or 0 without a request
  output logic [NumPorts-1:0] grant_o,
  // The grant of this cycle is used up
  input  logic                taken_i
);

  `ATOLL_ASSERT_INIT(SomePort, NumPorts >= 1)

  if (NumPorts == 1) begin : gen_alone
    logic unused;

    assign grant_o = request_i;
    assign unused  = taken_i;
  end else begin : gen_turns
    // Requesters after the one served last.
    logic [NumPorts-1:0] after_q, first;

    always_comb begin
      first   = '0;
      grant_o = '0;
      if (request_i != '0) begin
        first   = |(request_i & after_q) ? request_i & after_q : request_i;
        grant_o = first & (~first + NumPorts'(1));
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) after_q <= '0;
      else if (taken_i) after_q <= ~(grant_o | (grant_o - NumPorts'(1)));
    end
  end

  `ATOLL_ASSERT_KNOWN(KnownControl, grant_o)
  `ATOLL_ASSERT_IF(OnlyRequestersAreServed, |grant_o, (grant_o & ~request_i) == '0)
  `ATOLL_ASSERT_IF(OneGrantIfAny, |request_i, $onehot(grant_o))

endmodule
