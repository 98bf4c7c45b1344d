# SPDX-License-Identifier: Apache-2.0
"""Every command and session in the README and in docs/ runs, and prints what the text says.

A ``console`` block holds commands behind ``$`` with their output; ``...`` stands for any lines.
The ``pycon`` blocks of a document are one session of Python.
"""

import doctest
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.cli import working as cli_progress

ROOT = Path(__file__).parents[2]
TUTORIALS = [ROOT / "docs" / name for name in ("first-chip.md", "own-accelerator.md")]
DOCUMENTS = sorted(
    {ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/README.md")} - {*TUTORIALS}
)
LONG_ONES = ("cores.md", "coverage.md", "function-units.md", "waves.md")
LONG = {ROOT / "docs" / name for name in LONG_ONES}
"""Documents whose commands build models that no other test needs."""


def blocks(document: Path) -> Iterator[str]:
    yield from re.findall(r"^```console\n(.*?)^```", document.read_text(), re.M | re.S)


def commands(block: str) -> Iterator[tuple[list[str], list[str]]]:
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.rstrip("\n").split("\n")
        yield shlex.split(command), lines


def assert_printed(shown: list[str], printed: str) -> None:
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n"
        for line in shown
    )
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    assert re.fullmatch(pattern, lines), f"wanted:\n{chr(10).join(shown)}\n\nprinted:\n{lines}"


@pytest.mark.rtl
@pytest.mark.parametrize(
    "document",
    [pytest.param(path, marks=pytest.mark.slow) if path in LONG else path for path in DOCUMENTS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_commands_print_what_is_shown(
    document: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN", 1e9)
    found = [command for block in blocks(document) for command in commands(block)]
    if document.name == "README.md" and document.parent == ROOT:
        assert found
    for (program, *arguments), shown in found:
        assert program == "atoll"
        if arguments[0] == "sweep" and "--resume" in arguments:  # of another version, perhaps
            shutil.rmtree(arguments[arguments.index("-o") + 1], ignore_errors=True)
        main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        assert_printed(shown, captured.out + captured.err)


def sessions(document: Path) -> str:
    return "".join(re.findall(r"^```pycon\n(.*?)^```", document.read_text(), re.M | re.S))


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if sessions(path)],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_sessions_print_what_is_shown(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name = str(document.relative_to(ROOT))
    session = doctest.DocTestParser().get_doctest(sessions(document), {}, name, name, 0)
    assert session.examples
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=told.append)
    assert not told, "".join(told)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_what_a_tutorial_says_is_so(
    tutorial: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN", 1e9)
    shutil.copy(ROOT / "examples" / "01_digits" / "digits_int8.tflite", tmp_path)
    parts = re.findall(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", tutorial.read_text(), re.M)
    for kind, name, text in parts:
        if kind != "console":
            (tmp_path / name).write_text(text)
            continue
        for (program, *arguments), shown in commands(text):
            assert program == "atoll"
            main(arguments)
            captured = capsys.readouterr()
            assert_printed(shown, captured.out + captured.err)


def test_every_document_is_in_the_reader_s_order() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    documents = {path.name for path in ROOT.glob("docs/*.md")} - {"index.md"}
    assert set(re.findall(r"\(([\w-]+\.md)\)", index)) == documents
