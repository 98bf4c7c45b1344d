# SPDX-License-Identifier: Apache-2.0
"""M6: constants in RAM are written by the host before the first run, and by nobody later."""

from pathlib import Path

import pytest

from atoll.bsp.linker import copied_pools
from atoll.driver.pipeline import Compiled, compile_file
from atoll.protocol import TraceEvent
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import HostShadow
from atoll_sim.shadow.table import shadow_table
from atoll_sim.simulate.turns import turn_of
from atoll_sim.trace.findings import name_findings
from atoll_sim.trace.simulation import Finding, Phase, SimResult, Stop

EXAMPLES = Path(__file__).parents[3] / "examples"
_, _, READY, RUN_BEGUN, RUN_ENDED = TraceEvent


@pytest.fixture(scope="module")
def pinned() -> Compiled:
    chip = load_soc(EXAMPLES / "04_pinned_pools" / "chip.yaml")
    return compile_file(chip, EXAMPLES / "01_digits" / "digits_int8.tflite")


def found(
    compiled: Compiled, span: range, *, master: str = "cpu", after: tuple[int, ...] = ()
) -> tuple[Violation, ...]:
    """Return what is wrong with one write after some events."""
    table = shadow_table(compiled.soc, [compiled.contract])
    shadow = HostShadow()
    assert shadow.load(table.words)
    for event in after:
        shadow.trace(event)
    shadow.touch(table.masters.index(master), AccessKind.WRITE, span.start, len(span), beat=4)
    named = name_findings(shadow.findings()[0], table, compiled.soc)
    return tuple(each.violation for each in named)


def test_m6_the_host_fills_a_pool_before_the_first_run_only(pinned: Compiled) -> None:
    origin = pinned.soc.pool("fast_weights").region.origin
    filled = range(origin, origin + pinned.plan.use["fast_weights"].used)
    assert found(pinned, filled) == ()
    for events in ((READY,), (RUN_BEGUN,), (READY, RUN_BEGUN, RUN_ENDED)):
        first, *_ = found(pinned, filled, after=events)
        assert (first.rule, first.device) == ("write to read-only", "cpu")
        assert first.pool == "fast_weights"


def test_m6_filling_stays_inside_the_pool(pinned: Compiled) -> None:
    shared = pinned.soc.pool("shared").region.end - 4
    (violation,) = found(pinned, range(shared, shared + 4))
    assert violation.address == shared
    slow = pinned.soc.pool("weights").region.origin
    assert found(pinned, range(slow, slow + 4)), "flash is no RAM"
    origin = pinned.soc.pool("fast_weights").region.origin
    assert found(pinned, range(origin, origin + 4), master="npu"), "only the host fills"


def test_m6_a_start_up_that_fills_another_pool_is_noticed(
    pinned: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is planted where the start-up code takes the pools from."""

    def wrong(soc: ResolvedSoc) -> tuple[Pool, ...]:
        return tuple(pool for pool in soc.pools if soc.memory(pool.region.memory).kind == "ram")

    monkeypatch.setattr(copied_pools, "__code__", wrong.__code__)
    assert "shared" in {pool.name for pool in copied_pools(pinned.soc)}
    origin = pinned.soc.pool("shared").region.origin
    assert found(pinned, range(origin, origin + 4))


def test_m7_u2_each_model_is_judged_by_its_own_turns(pinned: Compiled) -> None:
    (violation,) = found(pinned, range(pinned.soc.pool("shared").region.end - 4, 2**29 + 2**18))
    models = (None, 0, 1, 1)
    samples = (None, 0, 1, None, 2, 3)
    result = SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(0, -5, 0, 0),
        outputs=({"a": b"0"}, {"b": b"1"}, {"a": b"2"}, {"b": b"3"}),
        layers=({}, {}, {}, {}),
        phases=tuple(
            Phase(sample=each, operators=(), begin=0, end=1, touched=()) for each in samples
        ),
        findings=tuple(Finding(violation=violation, model=model) for model in models),
        findings_total=4,
        stacks={},
        text="",
        trapped=None,
        cycles=1,
        wall_seconds=1.0,
    )
    second = turn_of(result, 1, 2)
    assert second.results == (-5, 0)
    assert second.outputs == ({"b": b"1"}, {"b": b"3"})
    assert [each.sample for each in second.phases] == [None, 0, None, 1]
    assert [each.model for each in second.findings] == [None, 1, 1]
    assert second.findings_total == 3
