"""M6: constants in RAM are written by the host before the first run, and by nobody later."""

from pathlib import Path

import pytest

from atoll.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.placement import check_placement
from atoll_sim.simulation import AccessKind, Phase, SimResult, Stop, Touched
from atoll_sim.turns import turn_of

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def pinned() -> Compiled:
    chip = load_soc(EXAMPLES / "04_pinned_pools" / "chip.yaml")
    return compile_file(chip, EXAMPLES / "01_digits" / "digits_int8.tflite")


def phase(sample: int | None, *spans: range, master: str = "cpu") -> Phase:
    touched = Touched(
        master=master,
        kind=AccessKind.WRITE,
        accesses=len(spans),
        transferred=sum(map(len, spans)),
        spans=spans,
    )
    return Phase(sample=sample, operators=(), begin=0, end=1, touched=(touched,))


def result(*phases: Phase) -> SimResult:
    return SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(0, -5, 0, 0),
        outputs=({"a": b"0"}, {"b": b"1"}, {"a": b"2"}, {"b": b"3"}),
        layers=({}, {}, {}, {}),
        phases=phases,
        blocked=(),
        blocked_total=0,
        stacks={},
        text="",
        trapped=None,
        cycles=1,
        wall_seconds=1.0,
    )


def test_m6_the_host_fills_a_pool_before_the_first_run_only(pinned: Compiled) -> None:
    origin = pinned.soc.pool("fast_weights").region.origin
    used = pinned.plan.use["fast_weights"].used
    filled = range(origin, origin + used)
    assert check_placement(pinned, result(phase(None, filled), phase(0))) == ()
    for late in (
        result(phase(None), phase(0, range(origin, origin + 4))),
        result(phase(None), phase(0), phase(None, range(origin, origin + 4))),
    ):
        (violation,) = check_placement(pinned, late)
        assert (violation.rule, violation.device) == ("out-of-plan write", "cpu")
        assert violation.pool == "fast_weights"


def test_m6_filling_stays_inside_the_pool(pinned: Compiled) -> None:
    origin = pinned.soc.pool("fast_weights").region.origin
    shared = pinned.soc.pool("shared").region.origin
    (violation,) = check_placement(pinned, result(phase(None, range(shared, shared + 4))))
    assert violation.address == shared
    slow = pinned.soc.pool("weights").region.origin
    assert check_placement(pinned, result(phase(None, range(slow, slow + 4)))), "flash is no RAM"
    by_npu = result(phase(None, range(origin, origin + 4), master="npu"))
    assert check_placement(pinned, by_npu), "only the host fills"


def test_m7_u2_each_model_is_judged_by_its_own_turns() -> None:
    phases = (phase(None), phase(0), phase(1), phase(None), phase(2), phase(3))
    second = turn_of(result(*phases), 1, 2)
    assert second.results == (-5, 0)
    assert second.outputs == ({"b": b"1"}, {"b": b"3"})
    assert [each.sample for each in second.phases] == [None, 0, None, 1]
