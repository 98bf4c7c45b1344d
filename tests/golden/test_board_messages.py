"""What the user reads when a board support package cannot be written, or is not the chip's."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.refusal import refusal

from atoll.cli import main
from atoll_board.manifest import MANIFEST

MESSAGES = Path(__file__).parent / "board"
WRITE = ["bsp", "lagoon", "-o", "package", "--only", "linker"]
LARGER = ["--set", "memories.flash.size=2 MiB"]


def contents(folder: Path) -> dict[Path, bytes]:
    """Return every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def nothing(folder: Path) -> None:
    """Leave the package as it was written."""


def edited(folder: Path) -> None:
    """Edit a generated file."""
    with (folder / "linker" / "lagoon.ld").open("a") as script:
        script.write("/* mine */\n")


CASES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "edited": (edited, [*WRITE, *LARGER]),
    "manifest_damaged": (lambda folder: (folder / MANIFEST).write_text("{"), WRITE),
    "other_folder": (lambda folder: (folder / MANIFEST).unlink(), WRITE),
    "onto_a_file": (nothing, [*WRITE[:3], "package/linker/lagoon.ld"]),
    "unknown_emitter": (nothing, [*WRITE[:5], "linkers"]),
    "mpool_missing": (
        nothing,
        [*WRITE[:5], "mpool", "--set", "mpool={device: npu, file: ./absent.mpool}"],
    ),
    "check_without_package": (lambda folder: (folder / MANIFEST).unlink(), [*WRITE, "--check"]),
    "check_missing": (
        lambda folder: (folder / "linker" / "lagoon.ld").unlink(),
        [*WRITE, "--check"],
    ),
    "check_edited": (edited, [*WRITE, "--check"]),
    "check_other_chip": (nothing, [*WRITE, *LARGER, "--check"]),
}


@pytest.mark.parametrize("name", CASES)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(WRITE) == 0
    change, command = CASES[name]
    change(tmp_path / "package")
    before = contents(tmp_path)
    golden(MESSAGES / f"{name}.txt", refusal(command, capsys))
    assert contents(tmp_path) == before


def test_there_is_a_case_for_every_golden_file() -> None:
    assert {*CASES} == {path.stem for path in MESSAGES.glob("*.txt")}
