# SPDX-License-Identifier: Apache-2.0
"""No point depends on those asked before it: each key of a chip is changed, alone and in pairs."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.sweep.sweeps import DIGITS

import atoll
from atoll.description.faults import Faults
from atoll.description.loader import describe, read_description
from atoll.description.share import find_soc
from atoll.diagnostics.errors import AtollError
from atoll.utils.remember import forget

PAIRS = 500
CHIPS = ("lagoon", "twin", "atoll2")


def values_of(value: object) -> Iterator[object]:
    """Yield other values that a key might have; what is none of them is an error that we want."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (2 * value, value + 1, value // 2)
    elif isinstance(value, str):
        yield from ("ro", "none", "both", "state", "rv32im", "gap")


def changes_of(chip: str) -> list[str]:
    """Return every key of a chip, also those with defaults, with another value."""
    path = find_soc(chip)
    faults = Faults()
    found = describe(read_description(path, (), faults), path.parent, faults)
    return [
        f"{'.'.join(key)}={json.dumps(other)}"
        for key, value in found.values()
        for other in values_of(value)
        if key[0] not in ("soc", "version", "extends")
    ]


def answer(chip: atoll.Soc, network: atoll.Network, changes: list[str]) -> object:
    """Return all that a plan and an estimate say of a chip, or its error."""
    try:
        made = atoll.compile(chip.with_(changes), network)
        plan = made.network.rows()
        return plan, made.used_bytes, atoll.estimate(made).network.to_json()
    except AtollError as error:
        return str(error)


def check(chip: atoll.Soc, network: atoll.Network, points: list[list[str]]) -> int:
    """Hold answers one after the other against those after which everything was forgotten."""
    forget()
    one_by_one = [answer(chip, network, point) for point in points]
    again = [answer(chip, network, point) for point in reversed(points)][::-1]
    plans = 0
    for point, first, second in zip(points, one_by_one, again, strict=True):
        forget()
        fresh = answer(chip, network, point)
        assert first == fresh, point
        assert second == fresh, point
        plans += not isinstance(fresh, str)
    return plans


@pytest.mark.parametrize("chip", ["lagoon"])
def test_some_changes_of_keys(chip: str) -> None:
    drawn = random.Random(1).sample(changes_of(chip), 25)
    assert check(atoll.load_soc(chip), atoll.load_network(DIGITS), [[each] for each in drawn]) > 5


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_every_key(chip: str) -> None:
    changes = changes_of(chip)
    assert len(changes) > 100
    plans = check(atoll.load_soc(chip), atoll.load_network(DIGITS), [[each] for each in changes])
    assert plans > 30


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_random_pairs_of_keys(chip: str) -> None:
    drawn, soc, network = random.Random(7), atoll.load_soc(chip), atoll.load_network(DIGITS)
    changes = [each for each in changes_of(chip) if isinstance(answer(soc, network, [each]), tuple)]
    pairs = [drawn.sample(changes, 2) for _ in range(PAIRS // len(CHIPS) + 1)]
    assert check(soc, network, pairs) > len(pairs) / 2


def test_build_options_and_planners_in_turn() -> None:
    chip, network = atoll.load_soc("lagoon"), atoll.load_network(DIGITS)
    asked: list[dict[str, Any]] = [
        *({"overlap": word} for word in ("free", "none", "all")),
        *({"accelerators": False, "overlap": word} for word in ("none", "all", "free")),
        *({"accelerators": False, "algorithm": word} for word in ("first-fit", "hill-climb")),
        {"place": {"add_3": "cpu"}},
        {"rewrite": False},
    ]

    def plan(options: dict[str, Any]) -> object:
        made = atoll.compile(chip, network, **options)
        return made.network.rows(), made.used_bytes, atoll.estimate(made).network.to_json()

    forget()
    in_turn = [plan(each) for each in asked]
    for options, found in zip(asked, in_turn, strict=True):
        forget()
        assert plan(options) == found, options
