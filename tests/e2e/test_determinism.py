# SPDX-License-Identifier: Apache-2.0
"""Same input, same bytes: builds do not depend on time, folder or the order of the YAML's keys."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.effort import cases, in_gate

from atoll.artifacts.build_tree import build
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = {
    "lagoon": ROOT / "socs" / "lagoon.yaml",
    "atoll2": ROOT / "socs" / "atoll2.yaml",
    "twin": ROOT / "socs" / "twin.yaml",
}
"""One accelerator; two; two beside a second core and a DMA engine."""

FEW, MANY = cases(10), 30


def built(description: Path, folder: Path) -> dict[str, bytes]:
    """Build for the chip in `description`; return every file of the build folder."""
    build((compile_file(load_soc(description), DIGITS),), folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def shuffled(value: Any, order: random.Random) -> Any:
    """Return the same data with the keys of every mapping in another order."""
    if not isinstance(value, dict):
        return value
    keys = order.sample(list(value), len(value))
    return {key: shuffled(value[key], order) for key in keys}


def test_m6_two_builds_are_the_same(tmp_path: Path) -> None:
    first = built(ROOT / "socs" / "lagoon.yaml", tmp_path / "one")
    assert "firmware.elf" in first
    assert first == built(ROOT / "socs" / "lagoon.yaml", tmp_path / "somewhere" / "else")


def check_shuffles(chip: str, count: int, folder: Path) -> None:
    """Build from `count` orders of a chip's keys; the first is as written."""
    data = yaml.safe_load(CHIPS[chip].read_text())
    description = Path(f"{chip}.yaml")
    description.write_text(yaml.safe_dump(data, sort_keys=False))
    expected = built(description, folder)
    assert "firmware.elf" in expected
    for seed in range(count):
        text = yaml.safe_dump(shuffled(data, random.Random(seed)), sort_keys=False)
        assert text != description.read_text()
        description.write_text(text)
        found = built(description, folder)
        assert found.keys() == expected.keys()
        assert [name for name in found if found[name] != expected[name]] == []


@pytest.mark.parametrize("chip", in_gate(CHIPS, -1))
def test_d4_the_order_of_keys_does_not_matter(
    chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_shuffles(chip, FEW, tmp_path / "build")


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_d4_many_shuffles_give_identical_build_folders(
    chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_shuffles(chip, MANY, tmp_path / "build")
