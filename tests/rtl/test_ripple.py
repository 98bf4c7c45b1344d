# SPDX-License-Identifier: Apache-2.0
"""The DMA engine in RTL with a memory: copies, lists and faults."""

import pytest
from tests.benches.ripple_sources import RIPPLE_BENCH, RIPPLE_TOP
from tests.benches.runner import run_bench
from tests.effort import in_gate

pytestmark = pytest.mark.rtl

NARROW = {"DataBytes": 8, "Latency": 1}
WIDE = {"DataBytes": 16, "Latency": 6}
NARROWEST = {"DataBytes": 4, "Latency": 2}
WIDEST = {"DataBytes": 64, "Latency": 2}
AT_ONCE = {"DataBytes": 8, "Latency": 1, "Turns": 0}


@pytest.mark.parametrize(
    ("bench", "parameters"),
    in_gate(
        [
            ("ripple_copies", NARROW),
            ("ripple_copies", AT_ONCE),
            ("ripple_lists", WIDE),
            pytest.param("ripple_lists", AT_ONCE, marks=pytest.mark.slow),
            pytest.param("ripple_copies", WIDEST, marks=pytest.mark.slow),
            pytest.param("ripple_lists", WIDEST, marks=pytest.mark.slow),
            pytest.param("ripple_copies", NARROWEST, marks=pytest.mark.slow),
            pytest.param("ripple_lists", NARROWEST, marks=pytest.mark.slow),
            pytest.param("ripple_copies", {"DataBytes": 32, "Latency": 1}, marks=pytest.mark.slow),
            pytest.param("ripple_copies", WIDE, marks=pytest.mark.slow),
            pytest.param("ripple_lists", NARROW, marks=pytest.mark.slow),
        ],
        1,
        2,
    ),
)
def test_p6_the_engine_copies_and_stops_at_faults(bench: str, parameters: dict[str, int]) -> None:
    run_bench(bench, "ripple_system_bench", RIPPLE_BENCH, parameters, generated=RIPPLE_TOP)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("parameters", [NARROW, WIDE])
def test_p6_many_random_copies(parameters: dict[str, int], seed: int) -> None:
    run_bench(
        "ripple_copies",
        "ripple_system_bench",
        RIPPLE_BENCH,
        parameters,
        seed,
        options={"Lists": 200},
        generated=RIPPLE_TOP,
    )
