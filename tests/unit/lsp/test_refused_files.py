# SPDX-License-Identifier: Apache-2.0
"""Files that are none, or too large, are refused by the server as by the command line."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.lsp_client import Editor

from atoll.cli import main
from atoll.description.template import starting_description
from atoll.description.yaml_text import MAX_BYTES
from atoll.diagnostics.errors import SourceLoc
from atoll_lsp.analysis import kind_of

SECONDS = 30
ASK = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
from atoll.diagnostics.errors import SourceLoc
from atoll_lsp.analysis import analyse, layers_of
from atoll_lsp.names import chips_in, definition_of
chip, base = Path(sys.argv[1]), Path(sys.argv[2])
text = chip.read_text()
texts = {chip: text}
place = SourceLoc(base, 1, 1)
assert not place.line_text and not list(place.excerpt())
assert chip in layers_of(chip, texts)
assert chips_in([chip.parent], texts) == [chip]
assert definition_of(chip, text.index(base.name), texts)[0] == chip
print(json.dumps([fault.to_json() for fault in analyse(chip, texts).faults]))
"""


def said_by_cli(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    assert main(["check", str(path), "--json"]) == 1
    faults: list[dict[str, object]] = json.loads(capsys.readouterr().out)["faults"]
    return faults


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "long name"])
def test_what_is_no_file_is_not_read(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / ("base.yaml" if kind != "long name" else f"{'x' * 300}.yaml")
    match kind:
        case "pipe":
            os.mkfifo(base)
        case "device":
            base.symlink_to("/dev/zero")
        case "folder":
            base.mkdir()
    chip = tmp_path / "chip.yaml"
    chip.write_text(f"soc: y\nversion: 1\nextends: {base.name}\n")
    (expected,) = said_by_cli(chip, capsys)
    assert expected["code"] == "E001"
    done = subprocess.run(
        [sys.executable, "-c", ASK, chip, base],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [expected]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def editor(tmp_path: Path, runner: asyncio.Runner) -> Iterator[Editor]:
    editor = Editor(tmp_path)
    runner.run(editor.start())
    yield editor
    runner.run(editor.stop())


@pytest.mark.parametrize("letter", in_gate(["x", "é"], 1))
def test_a_text_that_is_too_large_is_refused(
    letter: str,
    editor: Editor,
    tmp_path: Path,
    runner: asyncio.Runner,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = starting_description("large")
    line = f"# {letter * 20}\n"
    large = good + line * (MAX_BYTES // len(line.encode()))
    path, above = tmp_path / "large.yaml", tmp_path / "above.yaml"
    path.write_text(large)
    above.write_text("soc: above\nversion: 1\nextends: large.yaml\n")
    uri = editor.open(path)
    expected = said_by_cli(path, capsys) + said_by_cli(above, capsys)
    found = runner.run(editor.diagnostics(uri))
    assert runner.run(editor.hover(uri, (0, 0))) == ""
    assert runner.run(editor.references(uri, (0, 0))) == []
    uri_above = editor.open(above)
    found += runner.run(editor.diagnostics(uri_above))
    begin = {"line": 1, "column": 1}
    assert [(each.code, each.message) for each in found] == [
        (each["code"], f"{each['message']}\nhelp: {each['remedy']}") for each in expected
    ]
    assert [each["code"] for each in expected] == ["E006", "E006"]
    for each, fault in zip(found, expected, strict=True):
        at = fault["at"] or begin
        assert isinstance(at, dict)
        start = each.range.start
        assert (start.line + 1, start.character + 1) == (at["line"], at["column"])
    editor.change(uri, good)
    assert runner.run(editor.diagnostics(uri)) == []
    editor.change(uri, large)
    assert [each.code for each in runner.run(editor.diagnostics(uri))] == ["E006"]


def test_blank_lines_are_no_long_work() -> None:
    code = "from atoll_lsp.analysis import kind_of; assert kind_of('\\n' * 2**20) == 'soc'"
    subprocess.run([sys.executable, "-c", code], timeout=SECONDS, check=True)
    assert kind_of("\n \t# a\n\r\n  # b") == "soc"


def test_the_line_of_a_large_file_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "registers.rdl"
    path.write_text("addrmap x {\n" + "// x\n" * MAX_BYTES)
    assert SourceLoc(path, 1, 1).line_text == "addrmap x {"
