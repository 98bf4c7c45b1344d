# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from atoll.diagnostics.errors import UsageError
from atoll.utils.files import DISK_FAULTS, new_folder, replace_file, require_writable, write_text

MARKER = "ours.json"


def test_write_replaces_the_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old and longer")
    write_text(target, "new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with replace_file(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()

    def break_off() -> None:
        with replace_file(target) as temporary:
            temporary.write_text("half")
            (tmp_path / "gone").read_text()

    with pytest.raises(FileNotFoundError):
        break_off()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_write_into_a_missing_folder_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*gone") as caught:
        write_text(tmp_path / "gone" / "a.txt", "text")
    assert caught.value.faults[0].code == "E092"


@pytest.mark.parametrize("name", ["folder", "device", "gone/file"])
def test_what_can_never_be_a_file_is_refused_early(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    before = sorted(tmp_path.rglob("*"))
    for refuse in (require_writable, lambda path: write_text(path, "text")):
        with pytest.raises(UsageError, match="cannot write") as caught:
            refuse(tmp_path / name)
        assert caught.value.faults[0].code == "E092"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_stays_and_leads_to_the_new_text(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    require_writable(tmp_path / "link")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_linked_folder_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    for text in ("old", "new"):
        with new_folder(tmp_path / "link", marker=MARKER) as fresh:
            (fresh / MARKER).write_text(text)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / MARKER).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("number", sorted(DISK_FAULTS))
def test_a_full_disk_is_a_message_and_leaves_nothing(number: int, tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"cannot write .*out: ") as caught,
        new_folder(tmp_path / "out", marker=MARKER),
    ):
        raise OSError(number, os.strerror(number))
    assert "free some space" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_another_fault_of_the_system_is_no_message(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), new_folder(tmp_path / "out", marker=MARKER) as fresh:
        (fresh / "gone").read_text()
    assert list(tmp_path.iterdir()) == []


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
