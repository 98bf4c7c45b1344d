`include "atoll_assert.svh"

// Turns one answer to a bus master into an error. Only for the bench of hardware faults: no chip has it.
module atoll_fault_port
  import atoll_bus_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  // The first read, or write, that is accepted from now on fails; low forgets
  input  logic       read_i,
  input  logic       write_i,
  // How it fails
  input  logic [1:0] how_i,
  // It has failed
  output logic       fired_o,
  // The master's accepted requests
  input  logic       accept_i,
  input  logic       we_i,
  // Answers of the bus, and what the master gets
  input  logic       rvalid_i,
  input  resp_e      resp_i,
  output resp_e      resp_o
);

  logic [7:0] outstanding_q, ahead_q;
  logic chosen_q, fired_q, choose, fail;

  assign choose  = accept_i && !chosen_q && !fired_q && (we_i ? write_i : read_i);
  assign fail    = chosen_q && rvalid_i && ahead_q == '0;
  assign resp_o  = fail ? resp_e'(how_i) : resp_i;
  assign fired_o = fired_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
      ahead_q       <= '0;
      chosen_q      <= 1'b0;
      fired_q       <= 1'b0;
    end else begin
      outstanding_q <= outstanding_q + 8'(accept_i) - 8'(rvalid_i);
      if (choose) ahead_q <= outstanding_q - 8'(rvalid_i);
      else if (rvalid_i) ahead_q <= ahead_q - 8'd1;
      chosen_q <= choose || (chosen_q && !fail);
      fired_q  <= (fired_q || fail) && (read_i || write_i);
    end
  end

  `ATOLL_ASSERT(OnlyOneFails, fail |=> !fail)
  `ATOLL_ASSERT(OnlyWhatWasAsked, fail |-> outstanding_q != '0)

endmodule
