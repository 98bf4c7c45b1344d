// SPDX-License-Identifier: Apache-2.0

// A value that a proof leaves open: in each cycle it is any.
(* blackbox *)
module atoll_free #(
  parameter int unsigned Width = 1
) (
  output logic [Width-1:0] value_o
);
endmodule
