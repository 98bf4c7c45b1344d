# SPDX-License-Identifier: Apache-2.0
"""The assertions of the RTL fail when what they say does not hold, and only then."""

import pytest
from tests.benches.runner import BenchError, run_bench

pytestmark = pytest.mark.rtl

MODULE = """`include "atoll_assert.svh"
module counting (input logic clk_i, input logic rst_ni);
  logic [3:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 4'd1;
  end
  %s
endmodule
"""


@pytest.mark.parametrize(
    ("holds", "broken"),
    [
        ("`ATOLL_ASSERT(Sure, count_q < 14)", "`ATOLL_ASSERT(Sure, count_q < 3)"),
        (
            "`ATOLL_ASSERT_IF(Sure, count_q == 3, count_q[0])",
            "`ATOLL_ASSERT_IF(Sure, count_q == 3, !count_q[0])",
        ),
        (
            "`ATOLL_ASSERT_NEXT(Sure, count_q == 3, count_q == 4)",
            "`ATOLL_ASSERT_NEXT(Sure, count_q == 3, count_q == 3)",
        ),
        (
            "`ATOLL_ASSERT_HELD(Sure, count_q == 4, count_q == 5, count_q[3:1])",
            "`ATOLL_ASSERT_HELD(Sure, count_q == 4, count_q == 5, count_q[1:0])",
        ),
    ],
)
def test_an_assertion_fails_when_it_is_broken(holds: str, broken: str) -> None:
    run_bench("assertions", "counting", (), generated={"counting.sv": MODULE % holds})
    with pytest.raises(BenchError, match=r"status [^0]"):
        run_bench("assertions", "counting", (), generated={"counting.sv": MODULE % broken})
