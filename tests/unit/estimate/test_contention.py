# SPDX-License-Identifier: Apache-2.0
"""P1: how much longer devices take that take turns at a bank, by numbers worked out by hand."""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import pytest
from benchmarks.estimate_layers import branched_network
from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.cost.contention import Demand, Work, cycles_of_access, stretches
from atoll.cost.data.picorv32 import BETWEEN_CYCLES, START_CYCLES
from atoll.cost.program import ProgramCost
from atoll.cost.timeline import timeline_of
from atoll.driver.compiled import cost_of
from atoll.driver.pipeline import compile_graph
from atoll.frontend.registry import Source
from atoll.ir.tir import AcceleratorRun, AcceleratorStart, AcceleratorWait, Action, Step
from atoll.resolve import load_soc

DATA = Path(__file__).parents[2] / "data"
NEAR = 0.001
LAGOON = load_soc("lagoon", ["memories.sram.banks=1"])
BANK = (("sram", 1),)


def demand(share: float, cycles: int = 1000, *, hidden: float = 0, devices: int = 1) -> Demand:
    """Return that of devices which ask the bank in a share of the cycles."""
    asks = (("sram", share * cycles),)
    return Demand(devices=devices, cycles=cycles, asks=asks, hidden=hidden)


def test_p1_an_access_takes_as_long_as_all_who_ask_are_served_in_turn() -> None:
    assert cycles_of_access((0.7,)) == 1
    assert cycles_of_access((1, 1)) == 2
    assert cycles_of_access((0.5, 0.5)) == pytest.approx(1 / 0.75)
    assert cycles_of_access((1, 0.25)) == pytest.approx(1.25)
    assert cycles_of_access((0, 0)) == 1


def test_p1_two_masters_that_ask_in_four_of_five_cycles() -> None:
    """An access takes f cycles, so the work 0.2 + 0.8 f, and p = 0.8 f / (0.2 + 0.8 f).

    With f = 2 / (2 - p) that is p^2 - 10 p + 8 = 0, so p = 5 - sqrt(17).
    """
    access = 2 / (sqrt(17) - 3)
    times = stretches((demand(0.8), demand(0.8)), BANK)
    assert times == pytest.approx([0.2 + 0.8 * access] * 2, rel=NEAR)
    assert times[0] == pytest.approx(1.6246, rel=NEAR)


@pytest.mark.parametrize("devices", [2, 3, 8])
def test_p1_who_all_ask_in_every_cycle_get_equal_shares(devices: int) -> None:
    alike = tuple(demand(1) for _ in range(devices))
    assert stretches(alike, BANK) == pytest.approx([devices] * devices, rel=NEAR)
    assert stretches((demand(1, devices=devices),), BANK) == pytest.approx([devices], rel=NEAR)


def test_p1_work_that_does_not_wait_for_memory_is_no_longer() -> None:
    busy, other = demand(0.5, hidden=500), demand(0.5)
    times = stretches((busy, other), BANK)
    assert times[0] == 1
    assert 1 < times[1] < 1.5


def test_p1_who_shares_no_memory_does_not_wait() -> None:
    apart = Demand(cycles=1000, asks=(("flash", 1000.0),))
    assert stretches((demand(1), apart), (*BANK, ("flash", 1))) == (1.0, 1.0)
    assert stretches((demand(1), Demand(cycles=0)), BANK) == (1.0, 1.0)


def test_p1_banks_share_the_accesses_out() -> None:
    """Of two banks each is asked in half the cycles: an access takes 1 / (1 - 1/4) cycles."""
    times = stretches((demand(1), demand(1)), (("sram", 2),))
    assert times == pytest.approx([4 / 3] * 2, rel=NEAR)


shares = st.floats(0, 1)


@settings(deadline=None)
@given(st.lists(st.tuples(shares, st.integers(1, 9999)), min_size=2, max_size=4), shares)
def test_p1_never_shorter_than_alone_never_more_than_the_bank_serves(
    drawn: Sequence[tuple[float, int]], hidden: float
) -> None:
    demands = tuple(
        demand(share, cycles, hidden=hidden * (1 - share) * cycles) for share, cycles in drawn
    )
    times = stretches(demands, BANK)
    assert all(1 <= each <= len(drawn) + NEAR for each in times)
    served = sum(share / each for (share, _), each in zip(drawn, times, strict=True))
    assert served <= 1 + 10 * NEAR


def steps(*names: str) -> list[tuple[Step]]:
    """Return a program that starts each of some operators but the last, runs that, and waits."""
    whole: list[tuple[str, Action]] = [
        *((name, AcceleratorStart(name, "", 1)) for name in names[:-1]),
        (names[-1], AcceleratorRun(names[-1], "", 1)),
        *((name, AcceleratorWait(name)) for name in names[:-1]),
    ]
    return [
        (Step(operator=name, number=0, device=name, reads=(), writes=(), action=action),)
        for name, action in whole
    ]


def test_p1_what_the_host_started_and_what_it_runs_share_a_bank() -> None:
    """Both ask in every cycle once they are started: the bank serves 6,000 accesses in all."""
    works = {
        "a": Work(START_CYCLES, demand(1, 5000)),
        "b": Work(300, demand(1, 1000)),
    }
    cycles = {"a": START_CYCLES + 5000, "b": 1300}
    line = timeline_of(steps("a", "b"), cycles, LAGOON, works.__getitem__)
    begin = START_CYCLES + BETWEEN_CYCLES
    assert line.begins == {"a": 0, "b": begin}
    assert line.ends == {"a": START_CYCLES + 6000, "b": begin + 300 + 2000}
    assert line.length == line.ends["a"]
    assert timeline_of(steps("a", "b"), cycles, LAGOON).length == cycles["a"]


@settings(deadline=None)
@given(st.integers(1, 20_000), st.integers(1, 20_000), shares, shares)
def test_p1_two_are_never_shorter_than_apart_never_longer_than_in_turn(
    first: int, second: int, one: float, two: float
) -> None:
    works = {"a": Work(0, demand(one, first)), "b": Work(0, demand(two, second))}
    cycles = {"a": first, "b": second}
    length = timeline_of(steps("a", "b"), cycles, LAGOON, works.__getitem__).length
    apart = timeline_of(steps("a", "b"), cycles, LAGOON).length
    assert apart <= length <= apart + min(first, second) + 1


def branched(chip: str, *sets: str) -> ProgramCost:
    """Return what a network takes whose chains different devices run."""
    source = Source("", b"", Path())
    return cost_of(compile_graph(load_soc(chip, sets), branched_network(2), source))


def test_p1_a_network_takes_longer_where_devices_share_a_bank() -> None:
    chip = str(DATA / "narrows.yaml")
    narrow, wide = branched(chip), branched(chip, "memories.sram.banks=16")
    assert narrow.waiting > 2 * wide.waiting > 0
    assert narrow.length - narrow.waiting == wide.length - wide.waiting


def test_p1_one_device_at_a_time_waits_for_nobody() -> None:
    cost = branched("lagoon")
    assert cost.waiting == 0
    assert cost.length == cost.sequential
