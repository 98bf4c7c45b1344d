# SPDX-License-Identifier: Apache-2.0
"""The files of a package: whose they are, that they say so, and where they may be."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_board import package
from atoll_board.package import Board, Entry, generated_entry, package_files
from atoll_board.paths import is_path

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module", params=["lagoon", "twin", "quad"])
def board(request: pytest.FixtureRequest) -> Board:
    soc = load_soc(request.param)
    compiled = compile_file(soc, DIGITS)
    return Board.of(soc, [compiled], [random_sample(compiled.graph)])


def emitters(monkeypatch: pytest.MonkeyPatch, returned: Mapping[str, object]) -> None:
    """Have emitters of other packages that return these."""
    found = SimpleNamespace(
        names=lambda: tuple(returned),
        get=lambda name: lambda board: returned[name],
        own={},
        noun=package.EMITTERS.noun,
    )
    monkeypatch.setattr(package, "EMITTERS", found)


def flat(files: Mapping[str, Mapping[str, Entry]]) -> dict[str, Entry]:
    return {path: entry for each in files.values() for path, entry in each.items()}


def test_every_text_says_whose_it_is(board: Board) -> None:
    for path, entry in flat(package_files(board)).items():
        if path.endswith((".o", ".json")):
            continue
        head = entry.data.decode()[:600]
        if entry.kept:
            assert "edits are refused" not in head, path
        else:
            assert "edits are refused" in head, path


def test_the_same_board_makes_the_same_bytes(board: Board) -> None:
    assert flat(package_files(board)) == flat(package_files(board))


def test_every_source_of_an_image_is_in_the_package(board: Board) -> None:
    names = {PurePosixPath(path).name for path in flat(package_files(board))}
    assert {*board.texts} - names == {"console.c"}, "the user's copy is board.c"
    assert "board.c" in names


def test_a_file_of_any_suffix_is_in_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package's emitter may have sources include what it makes."""
    monkeypatch.setattr(package, "bsp_files", lambda *_, **__: {"table.inc": "1,", "a.h": ""})
    files = flat(package_files(Board(soc=load_soc("lagoon")), ["headers", "drivers"]))
    assert {*files} == {"src/table.inc", "include/a.h"}


def test_only_what_is_asked_for(board: Board) -> None:
    files = package_files(board, ["linker"])
    assert {*files} == {"linker"}
    assert {PurePosixPath(path).suffix for path in files["linker"]} == {".ld"}
    assert len(files["linker"]) == len(board.cores)


def test_a_chip_without_networks_has_a_package() -> None:
    files = package_files(Board(soc=load_soc("lagoon")))
    assert files["models"] == {}
    assert b"_run(" not in files["application"]["app/main.c"].data


def test_no_such_emitter() -> None:
    with pytest.raises(AtollError, match="no emitter of board support packages 'linkers'") as it:
        package_files(Board(soc=load_soc("lagoon")), ["linkers"])
    assert it.value.faults[0].code == "E094"


@pytest.mark.parametrize(
    "returned",
    [
        None,
        [],
        {"a.c": "text"},
        {"../a.c": generated_entry("")},
        {"/a.c": generated_entry("")},
        {1: None},
    ],
)
def test_what_another_package_returns_is_looked_at(
    returned: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitters(monkeypatch, {"foreign": returned})
    with pytest.raises(AtollError, match="'foreign' returned") as caught:
        package_files(Board(soc=load_soc("lagoon")))
    assert caught.value.faults[0].code == "E112"


def test_two_emitters_of_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"one": {"src/a.c": generated_entry("")}, "two": {"src/A.c": generated_entry("")}}
    emitters(monkeypatch, made)
    with pytest.raises(AtollError, match="'one' and 'two' would both write") as caught:
        package_files(Board(soc=load_soc("lagoon")))
    assert caught.value.faults[0].code == "E075"


@pytest.mark.parametrize("text", ["a", "a/b.c", ".clang-format", "a/.b", "A_1/b+c.h"])
def test_plain_paths(text: str) -> None:
    assert is_path(PurePosixPath(text))


@pytest.mark.parametrize(
    "text", ["", "/a", "..", "a/../b", "../a", "a b", "a\n", "a;b", "-a", "a/-b", "ä", "a\\b", "."]
)
def test_other_paths(text: str) -> None:
    assert not is_path(PurePosixPath(text))
