# SPDX-License-Identifier: Apache-2.0
"""The language server, asked by the client of pygls over pipes, as an editor asks it."""

import asyncio
import json
import random
import re
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.effort import cases
from tests.lsp_client import Editor, find

import atoll
from atoll.cli import main
from atoll.description.template import starting_description
from atoll.diagnostics.units import format_size
from atoll_lsp.analysis import kind_of

ROOT = Path(__file__).parents[3]
BAD = ROOT / "tests" / "bad"
TWIN = (ROOT / "socs" / "twin.yaml").read_text()
CUTS, EDITS, SEED = cases(50, 25), cases(200, 100), 46
TYPED = ("", "\n", "  ", ":", "{", "}", "[", ",", "- ", "#", "'", "é", "😀", "k: v")

BASE = """\
# The chip that others extend.
soc: base
version: 1
host: cpu
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}  # the host
  npu: {kind: npu, accelerator: reef, registers: 0x4000_0000, irq: 3}
  dma: {kind: dma, engine: ripple, registers: 0x4001_0000, irq: 4, moves: [[flash, sram]]}
memories:
  flash: {origin: 0x0000_0000, size: 1 MiB, kind: rom}
  # fast
  sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, npu: ro, dma: ro}}
  shared:
    memory: sram  # all of it
    role: workspace
    reach: {cpu: rw, npu: rw, dma: rw}
"""
TOP = """\
soc: top
version: 1
extends: base.yaml  # and more
devices:
  cpu:
    clock: 50 MHz
    stack: {size: 4 KiB}
pools:
  shared: {preference: 2}
  fast: {memory: tcm, role: workspace, reach: {cpu: rw, npu: rw}, others: none}
memories:
  tcm: {origin: 0x3000_0000, size: 64 KiB, kind: ram}
"""
Answer = TypeVar("Answer")
Do = Callable[[Coroutine[Any, Any, Answer]], Answer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chips")
    unused = shutil.ignore_patterns("model_*", "opt_*", "*.txt", "*.py", "__pycache__")
    shutil.copytree(BAD, path / "bad", ignore=unused)
    return path


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def editor(folder: Path, runner: asyncio.Runner) -> Iterator[Editor]:
    editor = Editor(folder / "bad")
    runner.run(editor.start())
    yield editor
    runner.run(editor.stop())


@pytest.fixture
def do(runner: asyncio.Runner) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    return runner.run


@pytest.fixture
def chips(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """A folder in the workspace with a chip, one that extends it, and one that does not."""
    path = folder / "bad" / tmp_path.name
    path.mkdir()
    (path / "base.yaml").write_text(BASE)
    (path / "top.yaml").write_text(TOP)
    (path / "other.yaml").write_text(starting_description("other"))
    yield path
    shutil.rmtree(path)


def with_new_codes() -> list[str]:
    """Return the chips among tests/bad that have codes which those before have not."""
    known, files = set[str](), list[str]()
    for path in sorted(BAD.glob("*.yaml")):
        codes = set(re.findall(r"error\[(E\d+)\]", path.with_suffix(".txt").read_text()))
        if kind_of(path.read_text(errors="replace")) == "soc" and not codes <= known:
            known |= codes
            files.append(path.name)
    return files


def said_by_cli(path: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[object, ...]]:
    assert main(["check", str(path), "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    nowhere = {"path": str(path), "line": 1, "column": 1}
    return [
        (
            str(Path(str((at := each["at"] or nowhere)["path"])).resolve()),
            (at["line"], at["column"]),
            each["code"],
            each["message"] + (f"\nhelp: {each['remedy']}" if each["remedy"] else ""),
        )
        for each in faults
    ]


def shown(editor: Editor) -> list[tuple[object, ...]]:
    return [
        (
            uri.removeprefix("file://"),
            (each.range.start.line + 1, each.range.start.character + 1),
            each.code,
            each.message,
        )
        for uri, found in editor.shown.items()
        for each in found.diagnostics
    ]


def test_diagnostics_are_those_of_the_command_line(
    editor: Editor,
    do: Do[Any],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder / "bad")
    count = 0
    for name in with_new_codes():
        path = folder / "bad" / name
        uri = editor.open(path)
        do(editor.diagnostics(uri))
        expected = said_by_cli(path, capsys)
        assert sorted(shown(editor)) == sorted(expected), name
        count += len(expected)
        editor.close(uri)
        do(editor.emptied())
    assert count >= 60


def test_a_part_on_its_own_is_judged_as_its_kind(editor: Editor, do: Do[Any], folder: Path) -> None:
    chip = editor.open(folder / "bad" / "accelerator_fields.yaml")
    do(editor.diagnostics(chip))
    part = (folder / "bad" / "parts" / "accelerator_fields.yaml").as_uri()
    in_chip = [each.message for each in editor.shown[part].diagnostics]
    editor.close(chip)
    do(editor.emptied())
    uri = editor.open(folder / "bad" / "parts" / "accelerator_fields.yaml")
    assert [each.message for each in do(editor.diagnostics(uri))] == in_chip
    editor.close(uri)
    unit = editor.open(folder / "bad" / "unit.yaml", "function_unit: u\nversion: 2\n")
    assert {each.code for each in do(editor.diagnostics(unit))} >= {"E015"}
    core = editor.open(folder / "bad" / "core.yaml", "core: mine\nversion: 1\nisa: rv32imc\n")
    assert {each.code for each in do(editor.diagnostics(core))} == {"E010", "E011"}
    build = editor.open(folder / "bad" / "build.yaml", "overlap: never\n")
    assert {each.code for each in do(editor.diagnostics(build))} == {"E012"}
    foreign = editor.open(folder / "bad" / "compose.yaml", "services:\n  a: {image: b}\nx: [\n")
    assert do(editor.diagnostics(foreign)) == []
    for each in (unit, core, build, foreign):
        editor.close(each)


def labels(found: list[types.CompletionItem]) -> list[str]:
    return [each.label for each in found]


OFFERS = {
    "keys of a pool": ("\n  more: {memory: sram, |", {"role", "reach", "size", "preference"}),
    "keys of a chip": ("\nho|", {"limits", "interface", "console"}),
    "keys of a new device": ("\n  new:\n    |", {"memory", "role", "reach"}),
    "a memory": ("\n  more: {memory: |", {"flash", "sram"}),
    "a role": ("\n  more: {memory: sram, role: w|", {"workspace", "constants", "both", "state"}),
    "a device in reach": ("\n  more: {memory: sram, reach: {cpu: rw, |", {"npu", "dma"}),
    "a word of reach": ("\n  more: {memory: sram, reach: {cpu: |", {"rw", "ro", "none"}),
    "a unit": ("\n  more: {memory: sram, size: 64 |", {"64 KiB", "64 MiB"}),
    "a number's unit": ("\n  more: {memory: sram, size: 8|", {"8 KiB"}),
    "a clock": ("\n  more: {memory: sram, clock: 50|", {"50 MHz", "50 kHz"}),
    "a core": ("\ndefault_device: |", {"cpu", "npu"}),
}
IN_DEVICES = {
    "a kind": ("\n  new: {kind: |", {"cpu", "dsp", "npu", "dma", "master"}),
    "keys of every kind": ("\n  new: {|", {"kind", "label", "clock"}),
    "keys of a core": ("\n  new: {kind: cpu, |", {"isa", "stack", "core", "cache"}),
    "keys of an accelerator": ("\n  new: {kind: npu, |", {"accelerator", "params", "runs"}),
    "shipped cores": ("\n  new: {kind: cpu, core: |", {"ibex", "picorv32", "cortex_m55"}),
    "shipped accelerators": ("\n  new: {kind: npu, accelerator: |", {"reef", "ethos_u55"}),
    "operators": ("\n  new: {kind: npu, runs: [CONV_2D, |", {"ADD", "SOFTMAX"}),
    "a pair of memories": ("\n  new: {kind: dma, moves: [[flash, |", {"sram"}),
    "keys of a stack": ("\n  new:\n    kind: cpu\n    stack: {|", {"memory", "size", "threads"}),
}


@pytest.mark.parametrize("name", [*OFFERS, *IN_DEVICES])
def test_completion_in_a_text_that_is_being_written(
    name: str, editor: Editor, do: Do[Any], chips: Path
) -> None:
    uri = editor.open(chips / "base.yaml")
    do(editor.diagnostics(uri))
    typed, expected = (OFFERS | IN_DEVICES)[name]
    behind = (
        "    reach: {cpu: rw, npu: rw, dma: rw}" if name in OFFERS else "moves: [[flash, sram]]}"
    )
    at = BASE.index(behind) + len(behind)
    text = BASE[:at] + typed.replace("|", "") + BASE[at:]
    editor.change(uri, text)
    before = text[: at + typed.index("|")]
    place = before.count("\n"), len(before) - before.rfind("\n") - 1
    found = do(editor.complete(uri, place))
    assert expected <= set(labels(found))
    assert all(
        each.documentation for each in found if each.kind == types.CompletionItemKind.Property
    )
    editor.close(uri)


def test_completion_of_other_files(editor: Editor, do: Do[Any], chips: Path) -> None:
    for text, expected in {
        "accelerator: mine\nversion: 1\noperators:\n  |": {"CONV_2D", "ADD"},
        "core: mine\nversion: 1\n|": {"isas", "interrupts", "startup"},
        "function_unit: mine\nversion: 1\n|": {"style", "instructions"},
        "overlap: |": {"none", "free", "all"},
        "soc: x\nextends: |": {"lagoon", "twin"},
    }.items():
        uri = editor.open(chips / "new.yaml", text.replace("|", ""))
        line = text.count("\n")
        place = line, len(text) - 1 - (text.rfind("\n") + 1)
        assert expected <= set(labels(do(editor.complete(uri, place)))), text
        editor.close(uri)


def test_hover_says_what_explain_says(editor: Editor, do: Do[Any], chips: Path) -> None:
    uri = editor.open(chips / "top.yaml")
    told = atoll.load_soc(chips / "top.yaml").explain()
    layers = {row["key"]: row["layer"] for row in told.rows("layers")}
    stack = do(editor.hover(uri, find(TOP, "size: 4 KiB")))
    assert "`4 KiB`" in stack
    assert f"set by: {layers['devices.cpu.stack.size']}" in stack
    assert stack.startswith("**devices.cpu.stack.size**")
    line, column = find(TOP, "shared")
    pool = do(editor.hover(uri, (line, column)))
    (row,) = (each for each in told.rows("pools") if each["pool"] == "shared")
    assert f"- memory: {row['memory']}" in pool
    assert "- preference: 2" in pool
    editor.close(uri)
    below = editor.open(chips / "base.yaml")
    flash = do(editor.hover(below, find(BASE, "kind: rom")))
    assert "`rom`" in flash
    assert f"set by: {chips / 'base.yaml'}:10:" in flash
    editor.change(below, "soc: [\n")
    assert do(editor.hover(below, (0, 1))) == ""
    editor.close(below)


def where(found: types.Location | None) -> tuple[str, int, int] | None:
    if found is None:
        return None
    return Path(found.uri).name, found.range.start.line, found.range.start.character


def test_definition_across_extends(editor: Editor, do: Do[Any], chips: Path) -> None:
    top, base = editor.open(chips / "top.yaml"), editor.open(chips / "base.yaml", f"#\n{BASE}")
    for text, uri, word, number, expected in (
        (TOP, top, "base.yaml", 0, ("base.yaml", 0, 0)),
        (TOP, top, "shared", 0, ("base.yaml", 15, 2)),
        (TOP, top, "cpu", 0, ("base.yaml", 6, 2)),
        (TOP, top, "npu", 0, ("base.yaml", 7, 2)),
        (TOP, top, "tcm", 0, ("top.yaml", 11, 2)),
        (TOP, top, "stack", 0, ("base.yaml", 6, 33)),
        (f"#\n{BASE}", base, "sram]]", 0, ("base.yaml", 12, 2)),
        (f"#\n{BASE}", base, "cpu\n", 0, ("base.yaml", 6, 2)),
        (f"#\n{BASE}", base, "reef", 0, ("reef.yaml", 0, 0)),
    ):
        assert where(do(editor.definition(uri, find(text, word, number)))) == expected, word
    editor.close(top)
    editor.close(base)


def test_references_in_all_files_of_a_chip(editor: Editor, do: Do[Any], chips: Path) -> None:
    uri = editor.open(chips / "base.yaml")
    found = do(editor.references(uri, find(BASE, "cpu: {kind")))
    assert sorted(filter(None, map(where, found))) == [
        ("base.yaml", 3, 6),
        ("base.yaml", 5, 2),
        ("base.yaml", 13, 52),
        ("base.yaml", 17, 12),
        ("top.yaml", 4, 2),
        ("top.yaml", 9, 47),
    ]
    editor.close(uri)


@pytest.mark.parametrize(
    ("word", "new"), [("npu: {kind", "always-on.npu"), ("sram: {origin", "ram"), ("shared:", "all")]
)
def test_rename_in_all_files_of_a_chip(
    word: str, new: str, editor: Editor, do: Do[Any], chips: Path
) -> None:
    before = (chips / "other.yaml").read_text()
    uri = editor.open(chips / "base.yaml")
    edit = do(editor.rename(uri, find(BASE, word), new))
    assert edit is not None
    editor.apply(edit)
    assert do(editor.diagnostics(uri)) == []
    text = editor.texts[uri]
    assert re.findall("#.*", text) == re.findall("#.*", BASE)
    (chips / "base.yaml").write_text(text)
    for file in ("base.yaml", "top.yaml"):
        chip = atoll.load_soc(chips / file)
        chip.check()
        memories = {row["memory"] for row in chip.explain().rows("memories")}
        names = {*chip.devices, *chip.pools, *memories}
        assert word.split(":")[0] not in names
        assert re.sub("[-.]", "_", new) in names
    assert (chips / "other.yaml").read_text() == before
    editor.close(uri)


def test_names_that_cannot_be_are_refused(editor: Editor, do: Do[Any], chips: Path) -> None:
    uri = editor.open(chips / "base.yaml")
    for new in ("flash", "My Memory", "int", "null", ""):
        with pytest.raises(JsonRpcException, match=r"error\[E233\]"):
            do(editor.rename(uri, find(BASE, "sram: {origin"), new))
    assert do(editor.rename(uri, find(BASE, "rv32imc"), "x")) is None
    editor.close(uri)
    mine = editor.open(chips / "mine.yaml", "soc: mine\nversion: 1\nextends: lagoon\nhost: cpu\n")
    with pytest.raises(JsonRpcException, match="not yours to edit"):
        do(editor.rename(mine, (3, 6), "core"))
    editor.close(mine)


FIXES = {
    "E011": ("role: workspace", "rol: workspace"),
    "E012": ("size: 256 KiB", "size: plenty"),
    "E010": ("isa: rv32imc, ", ""),
    "E015": ("version: 1", "version: 7"),
    "E020": ("memory: flash", "memory: flush"),
    "E021": ("reach: {cpu: ro", "reach: {cpv: ro"),
    "E022": ("reef", "reff"),
    "E030": ("0x2000_0000", "0x0000_0000"),
    "E037": ("size: 256 KiB", "size: 16 GiB"),
    "E044": ("irq: 4", "irq: 3"),
    "E042": ("kind: cpu,", "kind: cpu, core: ibexx,"),
    "E036": ("size: 8 KiB", "size: 8 MiB"),
}


@pytest.mark.parametrize("number", range(len(FIXES)))
def test_quick_fixes_make_their_faults_go(
    number: int, editor: Editor, do: Do[Any], chips: Path
) -> None:
    right, wrong = list(FIXES.values())[number]
    uri = editor.open(chips / "base.yaml", BASE.replace(right, wrong, 1))
    found = do(editor.diagnostics(uri))
    assert found
    for _ in range(len(found)):
        first = found[0]
        (action, *_) = do(editor.actions(uri, first.range))
        assert action.title.split()[-1] in first.message
        assert action.edit is not None
        editor.apply(action.edit)
        found = do(editor.diagnostics(uri))
        assert first.message not in {each.message for each in found}
        if not found:
            break
    assert found == []
    assert re.findall("#.*", editor.texts[uri]) == re.findall("#.*", BASE)
    editor.close(uri)


def test_a_fix_changes_the_file_that_is_wrong(editor: Editor, do: Do[Any], chips: Path) -> None:
    (chips / "base.yaml").write_text(BASE.replace("role: workspace", "rol: workspace"))
    uri = editor.open(chips / "top.yaml")
    do(editor.diagnostics(uri))
    base = editor.open(chips / "base.yaml")
    (found,) = do(editor.diagnostics(base))
    (action, *_) = do(editor.actions(base, found.range))
    editor.apply(action.edit)
    assert editor.texts[base] == BASE
    assert do(editor.diagnostics(base)) == []
    assert do(editor.diagnostics(uri)) == []
    editor.close(base)
    editor.close(uri)


def test_hints_say_what_is_left(editor: Editor, do: Do[Any], chips: Path) -> None:
    uri = editor.open(chips / "base.yaml", BASE.replace("sram  #", "sram\n    size: 200 KiB  #"))
    soc = atoll.load_soc(chips / "base.yaml", overrides={"pools.shared.size": "200 KiB"})
    rows = soc.explain().rows("address_map")

    def left(memory: str, size: int) -> str:
        here = [row for row in rows if str(row["kind"]).endswith(f" in {memory}")]
        used = sum(int(str(row["size_bytes"])) for row in here)
        return f"{format_size(size - used)} of {format_size(size)} left"

    found = {each.position.line: str(each.label) for each in do(editor.hints(uri))}
    assert found[11] == left("sram", 256 * 1024)
    assert found[9] == left("flash", 1024 * 1024)
    assert not found[11].startswith("0 B")
    assert found[14] == "200 KiB for buffers"
    editor.close(uri)


def faults_of(path: Path, text: str) -> list[str]:
    path.write_text(text)
    try:
        atoll.load_soc(path).check()
    except atoll.AtollError as error:
        return [fault.message for fault in error.faults]
    return []


def test_every_half_of_a_text_is_answered(editor: Editor, do: Do[Any], chips: Path) -> None:
    uri = editor.open(chips / "half.yaml", TWIN)
    do(editor.diagnostics(uri))
    for number in range(CUTS):
        text = TWIN[: len(TWIN) * number // CUTS]
        editor.change(uri, text)
        end = text.count("\n"), len(text) - text.rfind("\n") - 1
        assert isinstance(do(editor.complete(uri, end)), list)
        do(editor.definition(uri, end))
        do(editor.references(uri, end))
        if number % 5 == 0:
            said = [each.message.partition("\nhelp")[0] for each in do(editor.diagnostics(uri))]
            assert sorted(said) == sorted(faults_of(chips / "half.yaml", text))
            do(editor.hover(uri, end))
            do(editor.hints(uri))
    editor.close(uri)


def test_random_edits_break_nothing(editor: Editor, do: Do[Any], chips: Path) -> None:
    chance = random.Random(SEED)
    text = BASE
    uri = editor.open(chips / "base.yaml")
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    for number in range(EDITS):
        begin = chance.randrange(len(text) + 1)
        end = min(len(text), begin + chance.choice((0, 0, 1, 3, 20)))
        text = text[:begin] + chance.choice(TYPED) + text[end:]
        editor.change(uri, text)
        line = chance.randrange(text.count("\n") + 1)
        at = line, chance.randrange(len(text.split("\n")[line]) + 1)
        do(editor.complete(uri, at))
        do(editor.definition(uri, at))
        do(editor.references(uri, at))
        if number % 20 == 19:
            do(editor.diagnostics(uri))
            do(editor.hover(uri, at))
            do(editor.hints(uri))
            do(editor.actions(uri, whole))
            text = BASE if number % 40 == 39 else text
    editor.change(uri, BASE)
    assert do(editor.diagnostics(uri)) == []
    editor.close(uri)
