# SPDX-License-Identifier: Apache-2.0
"""D4: the order of the YAML's keys never matters."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.effort import cases

from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.resolve import load_soc
from atoll.resolve.export import to_json, without_positions

SOCS = Path(__file__).parents[2] / "socs"
SHUFFLES = cases(100)


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return `value` with the keys of every mapping in another order."""
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chance.shuffle(keys)
    return {key: shuffled(value[key], chance) for key in keys}


@pytest.mark.parametrize(
    "name", ["lagoon", *(pytest.param(name, marks=pytest.mark.slow) for name in ("atoll2", "twin"))]
)
def test_d4_shuffled_keys_give_identical_chips(name: str, tmp_path: Path) -> None:
    chance = random.Random(f"order of {name}")
    data = plain(read_yaml(SOCS / f"{name}.yaml"))
    path = tmp_path / f"{name}.yaml"
    seen: set[tuple[str, str]] = set()
    texts: set[str] = set()
    for _ in range(SHUFFLES):
        text = yaml.safe_dump(shuffled(data, chance), sort_keys=False)
        texts.add(text)
        path.write_text(text)
        soc = without_positions(load_soc(path))
        seen.add((repr(soc), to_json(soc)))
    assert len(texts) == SHUFFLES
    assert len(seen) == 1
