# SPDX-License-Identifier: Apache-2.0
"""Chips that differ in one key: nothing that is kept is stale, and costs follow the speeds."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.freeze import facts

from atoll.api.chips import load_soc as load_chip
from atoll.api.compilation import compile as compile_networks
from atoll.api.estimates import estimate
from atoll.diagnostics.errors import AtollError
from atoll.driver.compiled import Compiled
from atoll.driver.pipeline import compile_file
from atoll.driver.speeds import at_speeds_of, stays
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.utils.remember import forget

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = ("lagoon", pytest.param("twin", marks=pytest.mark.slow))
SPEEDS = ("clock", "width", "banks", "read_latency")


def _changes(chip: str) -> Iterator[str]:
    """Yield a set of each key that is a number, to one that the chip can have."""
    source = load_soc(chip).source
    assert source is not None
    for key, value in source.values():
        if isinstance(value, int) and not isinstance(value, bool):
            for changed in (value * 2, value // 2, value + 16):
                override = f"{'.'.join(key)}={changed}"
                try:
                    load_soc(chip, (override,))
                except AtollError:
                    continue
                yield override
                break


def _compiled(chip: str, override: str) -> Compiled | None:
    try:
        return compile_file(load_soc(chip, (override,)), DIGITS)
    except AtollError:
        return None


def _found(made: Compiled | None) -> object:
    return made and {name: each for name, each in facts(made).items() if name != "seconds"}


@pytest.mark.parametrize("chip", CHIPS)
def test_each_key_gives_what_a_fresh_process_finds(chip: str) -> None:
    changes = tuple(_changes(chip))
    assert len(changes) > 20
    kept = {each: _found(_compiled(chip, each)) for each in changes}
    for each in reversed(changes):
        forget()
        assert _found(_compiled(chip, each)) == kept[each], each


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_changes_in_any_order_give_what_a_fresh_process_finds(seed: int) -> None:
    drawn = random.Random(seed)
    choices = (
        [f"devices.npu.clock={each} MHz" for each in (40, 100)],
        [f"memories.flash.read_latency={each}" for each in (1, 5)],
        [f"pools.shared.size={each} KiB" for each in (5, 64, 96)],
        [f"devices.npu.params.input_lanes={each}" for each in (4, 8)],
        [f"devices.npu.params.vector={each}" for each in (0, 2)],
        ["devices.npu.runs=[CONV_2D]", "devices.npu.label=other"],
        ["devices.cpu.label=one", "devices.cpu.label=two"],
    )
    asked = [
        tuple(drawn.choice(each) for each in drawn.sample(choices, drawn.randint(1, 4)))
        for _ in range(15)
    ]
    points = [*asked, *drawn.sample(asked, 5)]
    kept = [_point(each) for each in points]
    fresh: dict[tuple[str, ...], object] = {}
    for each, found in zip(points, kept, strict=True):
        if each not in fresh:
            forget()
            fresh[each] = _point(each)
        assert found == fresh[each], each


def _point(overrides: tuple[str, ...]) -> object:
    """Return all that is said of a chip with a network on it."""
    soc = load_soc("lagoon", overrides)
    try:
        made = compile_file(soc, DIGITS)
    except AtollError as error:
        return soc, dict(soc.layers), str(error)
    return soc, dict(soc.layers), _found(made), made.decisions, estimates_of((made,))


@pytest.mark.parametrize("chip", CHIPS)
def test_costs_follow_speeds_or_say_that_the_program_changes(chip: str) -> None:
    usual = compile_file(load_soc(chip), DIGITS)
    followed = set()
    for each in _changes(chip):
        other = load_soc(chip, (each,))
        again, made = at_speeds_of(usual, other), _compiled(chip, each)
        if again is None:
            assert not stays(usual, other)
        elif stays(usual, other):
            assert made is not None
            assert estimates_of((again,)) == estimates_of((made,)), each
            followed.add(each.partition("=")[0].rpartition(".")[2])
        else:
            assert made is None or made.module != usual.module or made.plan != usual.plan, each
    assert followed.issuperset(SPEEDS)


def test_an_engine_so_slow_that_others_run_its_operators_is_noticed() -> None:
    usual = compile_file(load_soc("lagoon"), DIGITS)
    slow = load_soc("lagoon", ("devices.npu.clock=1 MHz",))
    assert at_speeds_of(usual, slow) is not None
    assert not stays(usual, slow)


def test_a_pool_of_another_size_is_no_other_speed() -> None:
    made = compile_networks("lagoon", DIGITS)
    with pytest.raises(ValueError, match="in more than speed"):
        estimate(made, soc=load_chip("lagoon").with_({"pools.shared.size": "100 KiB"}))


def test_an_estimate_says_that_the_program_would_change() -> None:
    made = compile_networks("lagoon", DIGITS)
    slow = estimate(made, soc=load_chip("lagoon").with_({"devices.npu.clock": "1 MHz"}))
    assert slow.network.total_cycles > estimate(made).network.total_cycles
    assert "becomes another program" in slow.network.notes[-1]
