# SPDX-License-Identifier: Apache-2.0
"""Places, quick fixes and renaming in texts that are written in unusual ways."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.lsp_client import Editor, position

CHIP = """\
# The chip.
soc: odd
version: 1
host: cpu
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}  # the host
  memory: {kind: npu, accelerator: reef, registers: 0x4000_0000, irq: 3}
  memory2: {kind: npu, accelerator: reef, registers: 0x4001_0000, irq: 4}
memories:
  flash: {origin: 0x0000_0000, size: 1 MiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, others: ro}
  memory: {memory: sram, role: workspace, reach: {cpu: rw, memory: rw}, others: rw}
"""
"""A device is called like a pool and a key, and its name begins another one's."""

TEXTS: dict[str, Callable[[str], str]] = {
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "a byte order mark": lambda text: f"\ufeff{text}",
    "a line separator": lambda text: text.replace("The chip", "The\u2028# chip"),
    "a next line": lambda text: text.replace("The chip", "The\x85# chip"),
    "beyond the BMP": lambda text: text.replace("The", "😀"),
    "tabs": lambda text: text.replace("  # the host", "  #\tthe\thost"),
    "a directive": lambda text: f"%YAML 1.1\n---\n{text}",
    "no end of line": lambda text: text.rstrip("\n"),
    "10,000 lines": lambda text: "# \n" * 10_000 + text,
}


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory, runner: asyncio.Runner) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("odd"))
    runner.run(editor.start())
    yield editor
    runner.run(editor.stop())


@pytest.mark.parametrize("name", TEXTS)
def test_places_fixes_and_names(name: str, editor: Editor, runner: asyncio.Runner) -> None:
    right = TEXTS[name](CHIP)
    wrong = right.replace("stack:", "stak:", 1)
    uri = editor.open(Path(editor.folder, "odd.yaml"), wrong)
    (fault,) = runner.run(editor.diagnostics(uri))
    assert fault.code == "E011"
    place = fault.range.start.line, fault.range.start.character
    assert place == position(wrong, wrong.index("stak:"))
    action, *_ = runner.run(editor.actions(uri, fault.range))
    assert action.edit
    editor.apply(action.edit)
    assert editor.texts[uri] == right
    device = position(right, right.index("memory: {kind"))
    edit = runner.run(editor.rename(uri, device, "neo"))
    assert edit
    editor.apply(edit)
    renamed = right.replace("memory: {kind", "neo: {kind").replace("memory: rw", "neo: rw")
    assert editor.texts[uri] == renamed
    assert runner.run(editor.diagnostics(uri)) == []
    assert "neo" in runner.run(editor.hover(uri, device))
    editor.close(uri)


def test_characters_are_counted_in_units_of_utf_16(editor: Editor, runner: asyncio.Runner) -> None:
    text = CHIP.replace("weights: {", 'weights: {"😀é😀": 1, ')
    uri = editor.open(Path(editor.folder, "odd.yaml"), text)
    edit = runner.run(editor.rename(uri, position(text, text.index("flash, role")), "rom0"))
    assert edit
    editor.apply(edit)
    assert editor.texts[uri] == text.replace("flash", "rom0")
    editor.close(uri)
