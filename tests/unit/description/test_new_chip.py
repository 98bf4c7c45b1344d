# SPDX-License-Identifier: Apache-2.0
"""'atoll new' writes a chip, and beside it the schema that its first line names to editors."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.cli import main
from atoll.description.json_schemas import schema_text
from atoll.description.template import CorePart, MemoryPart, Parts, starting_description
from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.resolve import load_soc


def named_schema(chip: Path) -> Path:
    """Return the file that the first line of a description names."""
    head, _, target = chip.read_text().partition("\n")[0].partition("$schema=")
    assert head == "# yaml-language-server: "
    return chip.parent / target


def test_the_first_line_leads_to_a_schema_outside_of_any_checkout(tmp_path: Path) -> None:
    chip = tmp_path / "chips" / "mine.yaml"
    chip.parent.mkdir()
    assert main(["new", "mine", "-o", str(chip)]) == 0
    assert main(["check", str(chip)]) == 0
    schema: Any = json.loads(named_schema(chip).read_text())
    assert schema == json.loads(schema_text("soc"))
    validator: Any = jsonschema.Draft202012Validator(schema)
    document: Any = plain(read_yaml(chip))
    validator.validate(document)
    document["devices"]["cpu"]["isa"] = "rv64gch"
    assert not validator.is_valid(document)


def test_a_schema_that_atoll_wrote_is_written_anew(tmp_path: Path) -> None:
    old = tmp_path / "soc.schema.json"
    old.write_text('{"$comment": "Made by \'atoll schema soc\'."}')
    assert main(["new", "mine", "-o", str(tmp_path / "mine.yaml")]) == 0
    assert old.read_text() == schema_text("soc")


@pytest.mark.parametrize("text", ["{}", "mine"])
def test_a_schema_of_somebody_else_stays(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "soc.schema.json"
    other.write_text(text)
    assert main(["new", "mine", "-o", str(tmp_path / "mine.yaml")]) == 1
    assert "E091" in capsys.readouterr().err
    assert other.read_text() == text
    assert not (tmp_path / "mine.yaml").exists()


def test_the_parts_that_options_name(tmp_path: Path) -> None:
    chip = tmp_path / "mine.yaml"
    cores = ["--core", "ibex", "--core", "cortex_m33:armv8-m.main+dsp"]
    engines = ["--accelerator", "reef", "--accelerator", "reef", "--dma", "ripple"]
    memories = ["--memory", "sram=512KiB@0x3000_0000", "--memory", "tcm=ram:64 KiB"]
    words = [*cores, *engines, *memories, "--memory", "flash=2MiB"]
    assert main(["new", "mine", "-o", str(chip), *words]) == 0
    soc = load_soc(chip)
    assert [(core.name, core.kind, core.isa) for core in soc.cpus] == [
        ("cpu", "cpu", "rv32imc"),
        ("cpu2", "dsp", "armv8-m.main+dsp"),
    ]
    assert [(each.name, each.spec.name) for each in soc.engines] == [
        ("npu", "reef"),
        ("npu2", "reef"),
        ("dma", "ripple"),
    ]
    assert {(each.name, each.kind, each.origin, each.size) for each in soc.memories} == {
        ("flash", "rom", 0, 2 << 20),
        ("tcm", "ram", 0x2000_0000, 64 << 10),
        ("sram", "ram", 0x3000_0000, 512 << 10),
    }
    assert main(["check", str(chip)]) == 0


def test_answers_instead_of_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty answer takes what is offered: the options, or what is usual."""
    chip = tmp_path / "mine.yaml"
    monkeypatch.setattr(sys, "stdin", StringIO("\nnone\n\nsram=1MiB rom=64KiB\n"))
    assert main(["new", "mine", "-o", str(chip), "--core", "ibex", "--ask"]) == 0
    soc = load_soc(chip)
    assert (soc.host_cpu.spec.name, soc.engines) == ("ibex", ())
    assert {each.name: each.size for each in soc.memories} == {"sram": 1 << 20, "rom": 64 << 10}


def test_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    assert main(["new", "mine", "-o", str(tmp_path / "mine.yaml"), "--ask"]) == 1
    assert "error[E090]: --ask got no answer" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


CORES = [CorePart("picorv32", "rv32im"), CorePart("ibex", "rv32imc"), CorePart("riscv", "rv32imac")]
NAMES = st.lists(st.sampled_from(["a", "flash2", "sram", "tcm"]), min_size=1, unique=True)
SIZES = st.integers(12, 22).map(lambda power: 3 << power >> 1)


@settings(max_examples=cases(20), deadline=None)
@given(
    cores=st.lists(st.sampled_from(CORES), min_size=1, max_size=4),
    accelerators=st.integers(0, 4),
    dma=st.booleans(),
    names=NAMES,
    data=st.data(),
)
def test_any_parts_with_room_make_a_chip(
    tmp_path_factory: pytest.TempPathFactory,
    cores: list[CorePart],
    accelerators: int,
    dma: bool,
    names: list[str],
    data: st.DataObject,
) -> None:
    memories = [MemoryPart("ram", "ram", 1 << 20)]
    for name in names:
        kind = "rom" if name.startswith("flash") else "ram"
        memories.append(MemoryPart(name, kind, max(data.draw(SIZES) & ~15, 1 << 20)))
    parts = Parts(
        cores=tuple(cores),
        accelerators=("reef",) * accelerators,
        engines=("ripple",) * dma,
        memories=tuple(memories),
    )
    chip = tmp_path_factory.mktemp("new") / "mine.yaml"
    chip.write_text(starting_description("mine", parts))
    assert len(load_soc(chip).devices) == len(cores) + accelerators + dma
