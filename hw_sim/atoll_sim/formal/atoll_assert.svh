// SPDX-License-Identifier: Apache-2.0
// Assertions shared by all modules, for proofs: it stands for the file of this name of simulations, so that
// what a simulation looks at is proven for all runs.
`ifndef ATOLL_ASSERT_SVH
`define ATOLL_ASSERT_SVH

`define ATOLL_ASSERT_AT(__name, __clk, __rst_n, __holds) \
  always_ff @(posedge __clk) if (__rst_n) __name : assert (__holds);

`define ATOLL_ASSERT_IF_AT(__name, __clk, __rst_n, __when, __holds) \
  always_ff @(posedge __clk) if (__rst_n) __name : assert (!(__when) || (__holds));

`define ATOLL_ASSERT_NEXT_AT(__name, __clk, __rst_n, __when, __holds) \
  if (1) begin : gen_``__name \
    logic after_q; \
    always_ff @(posedge __clk or negedge __rst_n) begin \
      if (!__rst_n) after_q <= 1'b0; \
      else after_q <= __when; \
    end \
    always_ff @(posedge __clk) if (__rst_n) __name : assert (!after_q || (__holds)); \
  end

`define ATOLL_ASSERT_HELD_AT(__name, __clk, __rst_n, __when, __holds, __payload) \
  if (1) begin : gen_``__name \
    logic after_q; \
    logic [$bits(__payload)-1:0] payload_q; \
    always_ff @(posedge __clk) payload_q <= __payload; \
    always_ff @(posedge __clk or negedge __rst_n) begin \
      if (!__rst_n) after_q <= 1'b0; \
      else after_q <= __when; \
    end \
    always_ff @(posedge __clk) \
      if (__rst_n) __name : assert (!after_q || ((__holds) && payload_q == __payload)); \
  end

`define ATOLL_ASSERT(__name, __holds) `ATOLL_ASSERT_AT(__name, clk_i, rst_ni, __holds)
`define ATOLL_ASSERT_IF(__name, __when, __holds) \
  `ATOLL_ASSERT_IF_AT(__name, clk_i, rst_ni, __when, __holds)
`define ATOLL_ASSERT_NEXT(__name, __when, __holds) \
  `ATOLL_ASSERT_NEXT_AT(__name, clk_i, rst_ni, __when, __holds)
`define ATOLL_ASSERT_HELD(__name, __when, __holds, __payload) \
  `ATOLL_ASSERT_HELD_AT(__name, clk_i, rst_ni, __when, __holds, __payload)

// A proof knows no X.
`define ATOLL_ASSERT_KNOWN_AT(__name, __clk, __rst_n, __outputs)
`define ATOLL_ASSERT_KNOWN(__name, __outputs)

`define ATOLL_ASSERT_INIT(__name, __condition) \
  if (!(__condition)) begin : gen_``__name \
    $error(`"__name: __condition must hold`"); \
  end

`endif
