"""Each wrong sweep file is refused before any work, with the message beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.sweep.sweeps import small

import atoll
from atoll.diagnostics.errors import AtollError

BAD = Path(__file__).parents[1] / "bad" / "sweeps"
ROOT = Path(__file__).parents[2]
FILES = sorted(path.name for path in BAD.glob("*.yaml"))


@pytest.mark.parametrize("name", FILES)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(AtollError) as caught:
        atoll.sweep(Path(name), tmp_path / "out", workers=0)
    assert all(fault.code and fault.remedy for fault in caught.value.faults)
    assert not (tmp_path / "out").exists(), "nothing was begun"
    said = str(caught.value).replace(f"{ROOT}/", "")
    golden((BAD / name).with_suffix(".txt"), f"{said}\n")


def test_files_that_are_too_large(
    golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "score.py").write_text("def price(soc, made):\n    return open('table.bin')\n")
    with (tmp_path / "table.bin").open("wb") as table:
        table.truncate(2**26)
    asked = small(objectives=["./score.py:price"])
    with pytest.raises(AtollError) as caught:
        atoll.sweep(asked, tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists(), "nothing was begun"
    said = str(caught.value).replace(f"{tmp_path}/", "")
    golden(BAD / "files_too_large.txt", f"{said}\n")
