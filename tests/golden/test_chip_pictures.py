"""The pictures in docs/chips/ are what `atoll explain --figure` draws of each shipped chip."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from atoll.cli import main
from atoll.resolve import load_soc
from atoll.resolve.soc import Access

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "chips"
CHIPS = sorted(path.stem for path in (ROOT / "socs").glob("*.yaml"))


@pytest.mark.parametrize("chip", CHIPS)
def test_picture(chip: str, golden: Callable[[Path, str], None], tmp_path: Path) -> None:
    assert main(["explain", chip, "--figure", str(tmp_path / "chip.svg")]) == 0
    golden(PICTURES / f"{chip}.svg", (tmp_path / "chip.svg").read_text())


@pytest.mark.parametrize("chip", CHIPS)
def test_a_picture_has_a_mark_for_each_access(chip: str) -> None:
    soc = load_soc(chip)
    marks = [
        each.get("class")
        for each in ElementTree.parse(PICTURES / f"{chip}.svg").iter()
        if each.get("class") in ("rw", "ro")
    ]
    accesses = [access for pool in soc.pools for access in pool.reach.values()]
    own = sum(1 + len(core.stacks) + 2 * bool(core.shared_mailbox) for core in soc.cpus)
    assert marks.count("ro") == accesses.count(Access.READ) + len(soc.cpus)
    assert marks.count("rw") == accesses.count(Access.WRITE) + own


def test_there_is_a_picture_of_each_chip_and_no_other() -> None:
    assert sorted(path.stem for path in PICTURES.iterdir()) == CHIPS
