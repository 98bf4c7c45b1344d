# SPDX-License-Identifier: Apache-2.0
"""A package beside what the user makes of it: no edit is lost, nothing generated is stale."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from atoll.diagnostics.errors import AtollError
from atoll_board.manifest import MANIFEST
from atoll_board.package import Entry, generated_entry, users
from atoll_board.writer import Written, require_same, write_package

FIRST = {"one": {"src/a.c": generated_entry("a"), "app/main.c": users("first")}}


def write(folder: Path, files: Mapping[str, Mapping[str, Entry]]) -> Written:
    return write_package("lagoon", files, folder)


def texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def codes(caught: pytest.ExceptionInfo[AtollError]) -> list[str]:
    return [fault.code for fault in caught.value.faults]


def test_a_second_run_writes_nothing(tmp_path: Path) -> None:
    assert write(tmp_path / "bsp", FIRST).written == ("app/main.c", "src/a.c")
    manifest = (tmp_path / "bsp" / MANIFEST).read_bytes()
    again = write(tmp_path / "bsp", FIRST)
    assert (again.written, again.same) == ((), ("app/main.c", "src/a.c"))
    assert (tmp_path / "bsp" / MANIFEST).read_bytes() == manifest


def test_the_users_files_are_made_once(tmp_path: Path) -> None:
    write(tmp_path, FIRST)
    (tmp_path / "app" / "main.c").write_text("mine")
    (tmp_path / "app" / "more.c").write_text("mine too")
    changed = {"one": {"src/a.c": generated_entry("b"), "app/main.c": users("second")}}
    done = write(tmp_path, changed)
    assert (done.written, done.kept, done.removed) == (("src/a.c",), ("app/main.c",), ())
    assert texts(tmp_path) == {"src/a.c": "b", "app/main.c": "mine", "app/more.c": "mine too"}


def test_a_users_file_that_was_removed_is_made_again(tmp_path: Path) -> None:
    write(tmp_path, FIRST)
    (tmp_path / "app" / "main.c").unlink()
    assert write(tmp_path, FIRST).written == ("app/main.c",)


def test_an_edit_of_a_generated_file_is_not_lost(tmp_path: Path) -> None:
    write(tmp_path, FIRST)
    (tmp_path / "src" / "a.c").write_text("edited")
    changed = {"one": {"src/a.c": generated_entry("b"), "src/b.c": generated_entry("new")}}
    with pytest.raises(AtollError, match=r"a\.c was edited by hand") as caught:
        write(tmp_path, changed)
    assert codes(caught) == ["E127"]
    assert texts(tmp_path) == {"src/a.c": "edited", "app/main.c": "first"}


def test_what_is_no_longer_made_goes_unless_it_was_edited(tmp_path: Path) -> None:
    write(tmp_path, {"one": {"src/a.c": generated_entry("a"), "src/b.c": generated_entry("b")}})
    (tmp_path / "src" / "b.c").write_text("edited")
    done = write(tmp_path, {"one": {"src/c.c": generated_entry("c")}})
    assert done.removed == ("src/a.c",)
    assert texts(tmp_path) == {"src/b.c": "edited", "src/c.c": "c"}


def test_one_emitter_leaves_the_files_of_others(tmp_path: Path) -> None:
    write(tmp_path, {"one": {"a": generated_entry("1")}, "two": {"b": generated_entry("2")}})
    done = write(tmp_path, {"two": {"c": generated_entry("3")}})
    assert (done.written, done.removed) == (("c",), ("b",))
    assert texts(tmp_path) == {"a": "1", "c": "3"}
    require_same({"one": {"a": generated_entry("1")}, "two": {"c": generated_entry("3")}}, tmp_path)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(AtollError, match="is not a board support package") as caught:
        write(tmp_path, FIRST)
    assert codes(caught) == ["E091"]
    assert texts(tmp_path) == {"thesis.tex": "years of work"}


def test_a_check_names_every_difference(tmp_path: Path) -> None:
    made = {"one": {name: generated_entry(name) for name in ("same", "gone", "other", "stale")}}
    write(tmp_path, {**made, "two": {"app/main.c": users("first")}})
    (tmp_path / "gone").unlink()
    (tmp_path / "other").write_text("edited")
    (tmp_path / "app" / "main.c").write_text("mine")
    now = {"one": {name: generated_entry(name) for name in ("same", "gone", "other")}}
    with pytest.raises(AtollError) as caught:
        require_same({**now, "two": {"app/main.c": users("first")}}, tmp_path)
    assert codes(caught) == ["E129"] * 3
    said = [fault.message.removeprefix(f"{tmp_path}/") for fault in caught.value.faults]
    assert said == [
        "gone is missing",
        "other is not what the description makes",
        "stale is no longer made",
    ]
    assert texts(tmp_path)["other"] == "edited"


def test_a_check_needs_a_package(tmp_path: Path) -> None:
    with pytest.raises(AtollError, match="holds no board support package") as caught:
        require_same(FIRST, tmp_path)
    assert codes(caught) == ["E091"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 10**5,
        "[]",
        "{}",
        '{"format": 2, "files": {}}',
        '{"format": 1, "files": []}',
        '{"format": 1, "files": {"one": []}}',
        '{"format": 1, "files": {"one": {"a": 1}}}',
        '{"format": 1, "files": {"one": {"../a": "12"}}}',
        '{"format": 1, "files": {"one": {"/a": "12"}}}',
    ],
)
def test_a_damaged_manifest_removes_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path, FIRST)
    (tmp_path / MANIFEST).write_text(text)
    before = texts(tmp_path)
    for use in (lambda: write(tmp_path, {"one": {}}), lambda: require_same(FIRST, tmp_path)):
        with pytest.raises(AtollError, match="is damaged, or of another version") as caught:
            use()
        assert codes(caught) == ["E128"]
    assert texts(tmp_path) == before


def test_the_manifest_has_no_file_of_the_user(tmp_path: Path) -> None:
    write(tmp_path, FIRST)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["soc"] == "lagoon"
    assert list(manifest["files"]["one"]) == ["src/a.c"]
