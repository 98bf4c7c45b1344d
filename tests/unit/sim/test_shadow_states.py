# SPDX-License-Identifier: Apache-2.0
"""States in the shadow memory: written before the first run, then left alone but by operators.

The buffers are those of ``shadow_bench.py``; `score` is a state here.
"""

from dataclasses import replace
from types import ModuleType
from typing import Any

from atoll_sim.protocol.records import AccessKind

WRITE = AccessKind.WRITE
ASIDE = 1024
"""Where `late` is in its pool, unless it lies over the state."""


def bench_of(shadow: ModuleType, *, over: bool = False) -> Any:
    """Return a bench of `score` (a state) -> out, then weights -> late, both on the host."""
    state = shadow.span("score")
    late = replace(state, buffer="late", address=state.address + (0 if over else ASIDE))
    held = shadow.contract(late=late)
    other = replace(held.phases[4], number=5, operator="op_5", reads=(), writes=(late,))
    lives = tuple(
        replace(each, first=None, last=None) if each.span.buffer == "score" else each
        for each in held.lifetimes
    )
    alone = replace(held, inputs=(), copies=(), states=(state,), lifetimes=lives)
    return shadow.Bench(replace(alone, phases={4: held.phases[4], 5: other}))


def run(bench: Any, shadow: ModuleType) -> None:
    bench.start()
    bench.operator(4)
    bench.operator(5)
    bench.event(shadow.RUN_ENDED)


def test_a_state_outlives_runs(shadow: ModuleType) -> None:
    bench = bench_of(shadow)
    bench.write(shadow.CPU, "score")
    for _ in range(3):
        run(bench, shadow)
    assert bench.found() == ()


def test_a_state_that_was_never_reset(shadow: ModuleType) -> None:
    bench = bench_of(shadow)
    bench.start()
    bench.operator(4)
    found = bench.only("read before write")
    assert (found.buffer, found.operator) == ("score", "op_4")


def test_a_state_that_was_reset_in_part(shadow: ModuleType) -> None:
    bench = bench_of(shadow)
    bench.write(shadow.CPU, "score", 0, 40)
    bench.start()
    bench.operator(4)
    assert bench.only("read before write").where == "score+0x28"


def test_a_result_over_a_state(shadow: ModuleType) -> None:
    bench = bench_of(shadow, over=True)
    bench.write(shadow.CPU, "score")
    run(bench, shadow)
    found = bench.only("overlap clobber")
    assert (found.buffer, found.operator) == ("score", "op_5")


def test_a_state_that_something_else_wrote_between_runs(shadow: ModuleType) -> None:
    bench = bench_of(shadow)
    bench.write(shadow.CPU, "score")
    run(bench, shadow)
    bench.at(shadow.DMA, WRITE, bench.spans["score"].address, 8)
    assert {each.buffer for each in bench.found()} == {"score"}
