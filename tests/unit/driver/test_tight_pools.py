# SPDX-License-Identifier: Apache-2.0
"""A placement with room is found: random chips with tight pools, and every choice of devices.

Each choice is asked for by name and compiled, which shares nothing with how choices are found.
"""

import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.effort import outcomes_of
from tests.requests import load_requests
from tests.unit.place.test_exhaustive_placement import (
    Exhaustive,
    random_chip,
    random_network,
    written,
)

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, Loaded, compile_graph
from atoll.frontend.registry import load_network, read_source
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

SIZES = (256, 512, 512, 768, 1024)
MESSAGES = Path(__file__).parents[2] / "golden" / "driver"
Golden = Callable[[Path, str], None]
FOUND, REFUSED = "with room elsewhere", "refused"


def compiled(soc: ResolvedSoc, network: Loaded, place: dict[str, str]) -> Compiled | AtollError:
    asked = load_requests(None, [f"{name}={device}" for name, device in place.items()])
    try:
        return compile_graph(soc, *network, BuildOptions(requests=asked))
    except AtollError as error:
        return error


def drawn(seed: int, folder: Path, builder: ModuleType) -> tuple[dict[str, Any], Path, Path]:
    """Return a random chip with tight pools, its file, and that of a random network."""
    chance = random.Random(f"tight {seed}")
    chip, path, model = random_chip(chance), folder / "chip.yaml", folder / "net.tflite"
    text = written(chip)
    for pool in chip["pools"]:
        size = chance.choice(SIZES)
        text = re.sub(rf"(  {pool}: {{memory: \w+, role: workspace)", rf"\1, size: {size}", text)
    path.write_text(text)
    model.write_bytes(random_network(builder, chance))
    return chip, path, model


def trial(seed: int, folder: Path, builder: ModuleType) -> str:
    """Hold the compiler against all choices of devices on one chip; say what came out."""
    chip, path, model = drawn(seed, folder, builder)
    try:
        soc = load_soc(path, ())
    except AtollError as error:
        return f"no chip: {error.faults[0].code}"
    network = load_network(model), read_source(model)
    made = compiled(soc, network, {})
    if isinstance(made, Compiled):
        chosen = next(each for each in made.candidates if each.outcome == "chosen")
        return FOUND if chosen.choices["devices"] else "with room"
    operators = network[0].operators
    able = Exhaustive(chip, network[0], {}).able
    for devices in product(*(list(able(op.kind.upper())) for op in operators)):
        place = {op.name: device for op, device in zip(operators, devices, strict=True)}
        assert not isinstance(compiled(soc, network, place), Compiled), place
    return REFUSED


def test_a_refusal_says_where_only_some_choices_of_devices_were_tried(
    tmp_path: Path, tflite_builder: ModuleType, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path, model = drawn(34, tmp_path, tflite_builder)
    soc, network = load_soc(path, ()), (load_network(model), read_source(model))
    every = compiled(soc, network, {})
    monkeypatch.setattr("atoll.place.other_devices.WORK", 0)
    some = compiled(soc, network, {})
    monkeypatch.setattr("atoll.place.other_devices.WORK", 4000)
    monkeypatch.setattr("atoll.driver.search.Search.run.__defaults__", (6,))
    ended = compiled(soc, network, {})
    assert isinstance(every, AtollError)
    assert isinstance(some, AtollError)
    assert isinstance(ended, AtollError)
    assert [each.to_json()["tried"] for each in (*every.faults, *some.faults, *ended.faults)] == [
        {"assignments": 4, "all": True},
        {"assignments": 2, "all": False},
        {"assignments": 2, "all": False},
    ]
    golden(MESSAGES / "all_choices.txt", f"{every}\n")
    golden(MESSAGES / "some_choices.txt", f"{some}\n")


def test_p1_c7_a_choice_of_devices_with_room_is_found(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    outcomes = outcomes_of(trial, range(18), tmp_path, tflite_builder)
    assert outcomes[FOUND] > 1, outcomes
    assert outcomes[REFUSED] > 0, outcomes


@pytest.mark.slow
def test_p1_c7_a_choice_of_devices_with_room_is_found_on_500_chips(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    outcomes = outcomes_of(trial, range(500), tmp_path, tflite_builder)
    print(outcomes)
    assert outcomes[FOUND] > 20, outcomes
