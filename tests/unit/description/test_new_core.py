# SPDX-License-Identifier: Apache-2.0
"""'atoll core new' writes a core that loads, and says of each value where it is from."""

import json
import re
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import jsonschema
import pytest

from atoll.cli import main
from atoll.codegen.llvm_processors import Processor, find_processor
from atoll.description.core_files import load_core
from atoll.description.core_template import starting_core
from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.find import USUAL
from atoll.resolve import load_soc

VALUE = re.compile(r"^ *([a-z_]+): .+?  # (.+)$")
DECIDED = ("core", "version")
"""What the command line says, and what is of the format."""
OF_LINES = {"first", "last", "bus_error"}
GUESSES = {
    "rv32imac_zba": OF_LINES | {"controller", "reset", "local", "bus_errors", "startup"},
    "armv6-m": OF_LINES | {"startup"},
    "armv8.1-m.main+mve": OF_LINES,
    "aarch64": set(),
}


def sources(text: str) -> dict[str, str]:
    """Return where each value is from, by its key; a value that does not say so is an error."""
    found = {}
    for line in text.splitlines():
        key = line.strip().partition(":")[0]
        if line.strip().startswith("#") or not line or line.endswith(":") or key in DECIDED:
            continue
        value = VALUE.match(line)
        assert value, line
        found[value[1]] = value[2]
    return found


@pytest.mark.parametrize("isa", USUAL)
def test_each_file_is_the_description_of_a_core(isa: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(starting_core("mine", isa))
    core = load_core(path, None).model
    assert (core.core, core.isas, core.timing) == ("mine", (isa,), None)
    assert sources(path.read_text())["isas"] == "as you chose it"
    assert all(len(line) <= 100 for line in path.read_text().splitlines())


@pytest.mark.parametrize("isa", GUESSES)
def test_what_is_a_guess_is_called_so(isa: str) -> None:
    found = sources(starting_core("mine", isa))
    assert {key for key, source in found.items() if "a guess" in source} == GUESSES[isa]


@pytest.mark.parametrize(
    ("isa", "misaligned"),
    [("armv6-m", "traps"), ("armv8-m.base", "traps"), ("armv7-m", "works"), ("rv32imac", None)],
)
def test_alignment_is_that_of_the_architecture(
    isa: str, misaligned: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(starting_core("mine", isa))
    assert load_core(path, None).model.misaligned == misaligned


SLOW = pytest.mark.slow
PROCESSORS = [
    Processor(name="cortex-m23", isa="armv8-m.base"),
    Processor(name="cortex-m52", isa="armv8.1-m.main+mve.fp+fp.dp"),
    Processor(name="rp2350-hazard3", isa="rv32imac_zba_zbb_zbs", others=("zcb", "zcmp", "zbkb")),
    *(
        pytest.param(each, marks=SLOW)
        for each in (
            Processor(name="cortex-m0", isa="armv6-m"),
            Processor(name="cortex-m3", isa="armv7-m"),
            Processor(name="cortex-m4", isa="armv7e-m+fp"),
            Processor(name="cortex-m7", isa="armv7e-m+fp.dp"),
            Processor(name="cortex-m33", isa="armv8-m.main+dsp+fp"),
            Processor(name="sifive-e31", isa="rv32imac"),
            Processor(name="sifive-u54", isa="rv64gc"),
            Processor(
                name="sifive-x280",
                isa="rv64gcv_zba_zbb_zvl512b",
                others=("zfh", "zfhmin", "zvfh", "zvfhmin"),
            ),
        )
    ),
]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_llvm_says_what_a_processor_has(processor: Processor) -> None:
    """What Arm's, SiFive's and Raspberry Pi's manuals say that it has."""
    assert find_processor(processor.name) == processor


@SLOW
def test_llvm_says_that_a_processor_loads_from_anywhere() -> None:
    found = find_processor("spacemit-x60")
    assert found.misaligned is True
    assert {"zvfh", "zicbom"} <= {*found.others}
    assert "misaligned: works  # of LLVM's spacemit-x60" in starting_core(
        "mine", found.isa, processor=found.name, others=found.others, misaligned=True
    )


def test_what_is_no_answer_of_llvm_is_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = CompletedProcess([], 1, "", "ModuleNotFoundError: No module named 'llvmlite'")
    monkeypatch.setattr("atoll.codegen.llvm_processors.run", lambda *_, **__: broken)
    with pytest.raises(ToolchainError, match="No module named 'llvmlite'") as caught:
        find_processor("cortex-m23")
    assert caught.value.faults[0].code == "E070"


def test_a_chip_has_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file beside the user, its schema beside it, and 'atoll new' makes a chip of it."""
    monkeypatch.chdir(tmp_path)
    assert main(["core", "new", "mine", "--cpu", "cortex-m23", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"wrote": ["mine.yaml"]}
    schema: Any = json.loads(Path("core.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(plain(read_yaml(Path("mine.yaml"))))
    assert main(["new", "chip", "--core", "./mine.yaml"]) == 0
    assert main(["check", "chip.yaml"]) == 0
    host = load_soc("chip.yaml").host_cpu
    assert (host.spec.name, host.isa) == ("mine", "armv8-m.base")


@pytest.mark.parametrize("text", ["{}", "mine"])
def test_a_schema_of_somebody_else_stays(text: str, tmp_path: Path) -> None:
    other = tmp_path / "core.schema.json"
    other.write_text(text)
    assert main(["core", "new", "mine", "--isa", "rv32i", "-o", str(tmp_path / "mine.yaml")]) == 1
    assert other.read_text() == text
    assert not (tmp_path / "mine.yaml").exists()
