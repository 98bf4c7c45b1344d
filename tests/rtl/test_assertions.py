# SPDX-License-Identifier: Apache-2.0
"""The assertions of the RTL fail when what they say does not hold, and only then."""

import pytest
from tests.benches.runner import BenchError, run_bench

pytestmark = pytest.mark.rtl

MODULE = """`include "atoll_assert.svh"
module counting (input logic clk_i, input logic rst_ni);
  logic [3:0] count_q;
  int broken;
  initial if ($value$plusargs("Broken=%d", broken) == 0) broken = 0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 4'd1;
  end
  `ATOLL_ASSERT(Below, count_q < (broken == 1 ? 3 : 14))
  `ATOLL_ASSERT_IF(If, count_q == 3, (broken == 2 ? !count_q[0] : count_q[0]))
  `ATOLL_ASSERT_NEXT(Next, count_q == 3, count_q == (broken == 3 ? 3 : 4))
  `ATOLL_ASSERT_HELD(Held, count_q == 4, count_q == 5,
                     (broken == 4 ? {1'b0, count_q[1:0]} : count_q[3:1]))
endmodule
"""


def run(broken: int) -> None:
    options = {"Broken": broken}
    run_bench("assertions", "counting", (), options=options, generated={"counting.sv": MODULE})


def test_assertions_that_hold_let_the_design_run() -> None:
    run(0)


@pytest.mark.parametrize("broken", [1, 2, 3, 4], ids=["always", "if", "next", "held"])
def test_an_assertion_fails_when_it_is_broken(broken: int) -> None:
    with pytest.raises(BenchError, match=r"status [^0]"):
        run(broken)
