from pathlib import Path

import pytest

from atoll.errors import UsageError
from atoll.files import new_folder, write_text

MARKER = "ours.json"


def test_write_replaces_the_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old and longer")
    write_text(target, "new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_write_into_a_missing_folder_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*gone") as caught:
        write_text(tmp_path / "gone" / "a.txt", "text")
    assert caught.value.faults[0].code == "E092"


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with new_folder(tmp_path / "deep" / "out", marker=MARKER) as fresh:
        (fresh / MARKER).write_text("{}")
        assert not (tmp_path / "deep" / "out").exists()
    assert (tmp_path / "deep" / "out" / MARKER).is_file()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_a_failure_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / MARKER).write_text("old")

    def fill() -> None:
        with new_folder(target, marker=MARKER) as fresh:
            (fresh / MARKER).write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fill()
    assert (target / MARKER).read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_our_own_folder_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / MARKER).write_text("old")
    (target / "stale").write_text("old")
    with new_folder(target, marker=MARKER) as fresh:
        (fresh / MARKER).write_text("new")
    assert [path.name for path in target.iterdir()] == [MARKER]
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_of_someone_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("work")
    with (
        pytest.raises(UsageError, match="was not made by Atoll"),
        new_folder(tmp_path, marker=MARKER),
    ):
        pass
    assert (tmp_path / "precious").read_text() == "work"
