# SPDX-License-Identifier: Apache-2.0
"""Operators go unasked to any core that is surely faster by the cost model."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.requests import load_requests

import atoll.driver.usual
from atoll.driver.compiled import Compiled, expected_length
from atoll.driver.pipeline import compile_file
from atoll.driver.task import BuildOptions
from atoll.place.faster_cores import has_unlike_cores
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
UNLIKE = str(Path(__file__).parents[2] / "data" / "unlike.yaml")
CLOCKS = ("5 MHz", "40 MHz", "50 MHz", "60 MHz", "200 MHz", "600 MHz")
CORES = ("picorv32", "ibex", "cv32e40p")
UNMEASURED = {
    name: (f"devices.{name}.core=riscv", f"devices.{name}.isa=rv32im") for name in ("cpu", "quick")
}
SLOW_CODE = (
    "memories.slow={origin: 0x800_0000, size: 1 MiB, kind: rom, read_latency: 60}",
    "devices.cpu.code={memory: slow, size: 64 KiB}",
)
REACHES = ("rw", "ro", "none")


def compiled(*overrides: str) -> Compiled:
    return compile_file(load_soc(UNLIKE, overrides), DIGITS)


def devices(made: Compiled) -> set[str]:
    """Return where the operators run, whatever was made a view."""
    kept = {op.name for op in made.graph.operators}
    return {each.device for each in made.decisions if each.operator in kept}


def against(made: Compiled, device: str) -> list[str]:
    rejected = (dict(each.rejected) for each in made.decisions)
    return [each[device] for each in rejected if device in each]


def test_the_faster_core_takes_all_that_it_reaches() -> None:
    made = compiled()
    assert devices(made) == {"quick"}
    assert len(against(made, "cpu")) == 9
    assert all(each.endswith(" more") for each in against(made, "cpu"))
    assert all(each.startswith("no copy brings '") for each in against(made, "far"))


@pytest.mark.parametrize("clock", ["20 MHz", "25 MHz"])
def test_the_host_keeps_what_no_core_makes_faster(clock: str) -> None:
    made = compiled(f"devices.quick.clock={clock}")
    assert devices(made) == {"cpu"}
    assert all(each.endswith(" more") for each in against(made, "quick"))


def test_what_takes_less_than_the_mailbox_stays() -> None:
    """SOFTMAX takes 2,082 cycles here and 1,299 there, and asking takes 900."""
    made = compiled("devices.quick.clock=100 MHz")
    softmax = next(each for each in made.decisions if each.operator == "softmax_9")
    assert softmax.device == "cpu"
    assert dict(softmax.rejected)["quick"].endswith(" 117 more")
    assert "quick" in devices(made)


def test_what_it_does_not_reach_stays() -> None:
    made = compiled("pools.shared.reach.quick=none")
    assert devices(made) == {"cpu"}
    assert set(against(made, "quick")) == {"writes no workspace pool"}
    made = compiled("pools.shared.reach.quick=none", "pools.lonely.reach.quick=rw")
    assert devices(made) == {"cpu"}
    assert all(each.startswith("no copy brings '") for each in against(made, "quick"))


def test_a_core_that_may_be_faster_than_its_estimate_keeps_its_operators() -> None:
    """It is less than ten times as fast: a core may be so much faster than counted."""
    made = compiled(*UNMEASURED["cpu"])
    assert devices(made) == {"cpu"}
    unless = "fewer, but not if riscv, which nobody measured, is 10 times faster than that"
    assert all(each.endswith(unless) for each in against(made, "quick"))


def test_more_than_that_factor_is_enough() -> None:
    assert devices(compiled(*UNMEASURED["cpu"], *SLOW_CODE)) == {"quick"}


def test_cores_of_one_kind_are_wrong_by_one_factor() -> None:
    assert "quick" in devices(compiled(*UNMEASURED["cpu"], *UNMEASURED["quick"], *SLOW_CODE))


def test_a_core_that_would_be_faster_only_if_measured_so_takes_nothing() -> None:
    made = compiled(*UNMEASURED["quick"], "devices.quick.clock=25 MHz")
    assert devices(made) == {"cpu"}
    first, *_ = against(made, "quick")
    assert first.endswith(
        "more; fewer if riscv, which nobody measured, is 10 times faster than that"
    )


def test_a_wish_for_the_host_holds() -> None:
    asked = load_requests(None, on_device=["*=cpu"])
    soc = load_soc(UNLIKE, ())
    assert devices(compile_file(soc, DIGITS, BuildOptions(requests=asked))) == {"cpu"}


def test_chips_with_cores_of_one_kind_are_compiled_once() -> None:
    assert [has_unlike_cores(load_soc(chip, ())) for chip in ("lagoon", "quad", "pulp")] == [
        *(False, False, True)
    ]


@given(
    clocks=st.tuples(*[st.sampled_from(CLOCKS)] * 3),
    cores=st.tuples(*[st.sampled_from(CORES)] * 3),
    reach=st.tuples(*[st.sampled_from(REACHES)] * 3),
)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.slow
def test_no_plan_is_slower_for_it(
    clocks: tuple[str, ...], cores: tuple[str, ...], reach: tuple[str, ...]
) -> None:
    names = ("cpu", "quick", "far")
    overrides = [f"devices.{name}.clock={clock}" for name, clock in zip(names, clocks, strict=True)]
    overrides += [f"devices.{name}.core={core}" for name, core in zip(names, cores, strict=True)]
    pairs = [("shared", "quick"), ("shared", "far"), ("lonely", "quick")]
    overrides += [
        f"pools.{pool}.reach.{name}={access}"
        for (pool, name), access in zip(pairs, reach, strict=True)
    ]
    found = compiled(*overrides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atoll.driver.usual, "has_unlike_cores", lambda soc: False)
        usual = compiled(*overrides)
    assert devices(usual) == {"cpu"}
    assert expected_length(found) <= expected_length(usual)


def test_robust_stays_where_the_high_end_is_known() -> None:
    """By estimate `quick` is faster; how far that may be off at its clock nobody knows."""
    asked = BuildOptions(requests=load_requests(None, robust=True))
    faster = "devices.quick.clock=200 MHz"
    made = compile_file(load_soc(UNLIKE, (faster,)), DIGITS, asked)
    assert devices(made) == {"cpu"}
    assert "quick" in devices(compiled(faster))
