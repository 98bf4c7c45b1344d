# SPDX-License-Identifier: Apache-2.0
"""Stacks of images that Atoll did not build: a bound holds what paint shows, or there is none."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.foreign_images import KINDS, LEVELS, SETS, UNBOUNDED, Compiler
from tests.stack_measure import measure

from atoll.cli import main

COMPILERS = [Compiler(tool, name, level) for tool, name in SETS for level in LEVELS]
FAST = [Compiler("zig", "thumb", "-Os"), Compiler("gcc", "rv32", "-O0")]
FAST += [Compiler("clang", "rv64", "-O2"), Compiler("gcc", "a64", "-Os")]
SOME = [*FAST, *(Compiler("zig", name, "-Os") for name in ("rv32", "rv64", "a64"))]
SOME += [Compiler("gcc", "thumb", "-O2"), Compiler("clang", "a64", "-O0")]


def each_of(compilers: Sequence[Compiler]) -> pytest.MarkDecorator:
    """Try each compiler, one of each instruction set in `make test`."""
    cases = [
        pytest.param(each, id=str(each), marks=() if each in FAST else pytest.mark.slow)
        for each in compilers
    ]
    return pytest.mark.parametrize("compiler", cases)


@dataclass(frozen=True, slots=True)
class Answer:
    """What `check-image --stack-only --json` says."""

    status: int
    data: dict[str, object]

    @property
    def bytes(self) -> object:
        return self.data["entry_bytes"]

    def handlers(self) -> list[dict[str, object]]:
        rows = self.data["stack"]
        assert isinstance(rows, list)
        return [row for row in rows if row["handles_exception"]]

    def reasons(self) -> str:
        return json.dumps(self.data["disagreements"])


def ask(capsys: pytest.CaptureFixture[str], elf: Path, *words: str) -> Answer:
    capsys.readouterr()
    status = main(["check-image", "--stack-only", str(elf), "--json", *words])
    return Answer(status, json.loads(capsys.readouterr().out))


def there(compiler: Compiler) -> Compiler:
    if not compiler.there():
        pytest.skip(f"{compiler.tool} for {compiler.name} is not installed")
    return compiler


@each_of(COMPILERS)
def test_a_bound_is_no_less_than_what_a_run_takes(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in KINDS:
        elf = there(compiler).link(kind, tmp_path)
        program, handler = measure(elf, "_start"), measure(elf, "handler")
        assert program.finished
        assert handler.finished
        answer = ask(capsys, elf)
        if kind in UNBOUNDED:
            assert (answer.status, answer.bytes) == (1, None), kind
            assert ask(capsys, elf, "--allow-unbounded").status == 0
        else:
            assert isinstance(answer.bytes, int), kind
            assert answer.bytes >= program.bytes > 0, kind
        sizes = [row["bytes"] for row in answer.handlers()]
        assert sizes, kind
        assert all(isinstance(size, int) and size > 0 for size in sizes), kind
        pushed = max(int(str(row["pushed_bytes"])) for row in answer.handlers())
        assert max(int(str(size)) for size in sizes) - pushed >= handler.bytes > 0, kind


@each_of(SOME)
def test_a_bound_names_why_there_is_none(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, function in (("RECURSION", "even > odd"), ("VLA", "vary"), ("POINTERS", "handle")):
        answer = ask(capsys, there(compiler).link(kind, tmp_path))
        assert function in answer.reasons() or "work" in answer.reasons()


@each_of(SOME)
def test_annotations_resolve_calls_through_pointers(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = there(compiler).link("POINTERS", tmp_path)
    answer = ask(capsys, elf, "--calls", "handle=small,large,middle")
    assert answer.status == 0
    assert isinstance(answer.bytes, int)
    assert answer.bytes >= measure(elf, "_start").bytes


@each_of(SOME)
def test_annotations_resolve_tail_calls_through_pointers(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = there(compiler).link("POINTER_TAIL", tmp_path)
    assert ask(capsys, elf).bytes is None
    answer = ask(capsys, elf, "--calls", "handle=small,large,middle")
    assert answer.status == 0, answer.reasons()
    assert isinstance(answer.bytes, int)
    assert answer.bytes >= measure(elf, "_start").bytes


@each_of(SOME)
def test_an_image_without_symbols_has_no_lower_bound(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("CHAIN", "TAIL", "RECURSION"):
        elf = there(compiler).link(kind, tmp_path)
        least = measure(elf, "_start").bytes
        elf.write_bytes(without_symbols(elf.read_bytes()))
        answer = ask(capsys, elf)
        assert "0x0001" in json.dumps(answer.data["stack"])
        assert answer.bytes is None or int(str(answer.bytes)) >= least
        assert kind != "RECURSION" or answer.bytes is None


def without_symbols(data: bytes) -> bytes:
    """Let the table of symbols be a section of no meaning."""
    changed = bytearray(data)
    wide = data[4] == 2
    at, size = (40, 8) if wide else (32, 4)
    table = int.from_bytes(data[at : at + size], "little")
    step, count = (
        int.from_bytes(data[n : n + 2], "little") for n in ((58, 60) if wide else (46, 48))
    )
    for number in range(count):
        kind = table + number * step + 4
        if data[kind] == 2:
            changed[kind] = 1
    return bytes(changed)
