"""Each wrong description in tests/bad gets exactly the message beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

BAD = Path(__file__).parent.parent / "bad"
ROOT = BAD.parents[1]
FILES = sorted(path.name for path in BAD.glob("*.yaml"))


@pytest.mark.parametrize("name", FILES)
def test_message(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(AtollError) as caught:
        load_soc(Path(name))
    said = str(caught.value).replace(f"{ROOT}/", "")
    golden((BAD / name).with_suffix(".txt"), f"{said}\n")


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 18


@pytest.mark.parametrize("name", FILES)
def test_every_fault_has_code_and_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(AtollError) as caught:
        load_soc(Path(name))
    assert all(fault.code and fault.remedy for fault in caught.value.faults)


def test_nobody_is_told_to_report_a_bug_for_a_wrong_input() -> None:
    folders = (BAD, Path(__file__).parent)
    texts = [path for folder in folders for path in folder.rglob("*.txt")]
    assert len(texts) > 100
    assert not [path for path in texts if "report this" in path.read_text().lower()]
    assert not [path for path in texts if "report it" in path.read_text().lower()]
