# SPDX-License-Identifier: Apache-2.0
"""The matrix of cores (`benchmarks.cores`): a row of each kind, and what it says of failures."""

import json
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest
from benchmarks.core_cells import Cell
from benchmarks.cores import Measured, main, markdown, pairs
from benchmarks.host_program import compare

from atoll.artifacts.samples import random_sample
from atoll.codegen.llvm import emit_objects
from atoll.description.core_files import known_cores
from atoll.diagnostics.errors import Fault
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
X86 = ("devices.cpu.core=x86_64", "devices.cpu.isa=x86-64")
ON_X86 = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None, reason="needs gcc on x86-64"
)


def row(capsys: pytest.CaptureFixture[str], core: str, *columns: str) -> dict[str, Any]:
    """Return the cells of a core with digits."""
    assert main(["--core", core, "--only", *columns, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["core"], found["network"]) == (core, "digits_int8")
    assert [*found["cells"]] == list(columns)
    return dict(found["cells"])


@pytest.mark.slow
def test_a_row_with_firmware(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("unicorn")
    cells = row(capsys, "cortex_m3", "compile", "link", "stack", "c", "rtl", "iss")
    assert 5_000 < cells["compile"]["code_bytes"] < cells["link"]["code_bytes"] < 20_000
    assert cells["link"]["constants_bytes"] >= 6_000
    assert 500 < cells["stack"]["stack_bytes"] < 2_000
    assert (cells["c"]["equal"], cells["c"]["where"]) == (True, "iss")
    assert cells["rtl"]["absent"]["code"] == "E080"
    assert cells["iss"]["equal"] is True
    assert cells["iss"]["instructions"] > 100_000


@ON_X86
def test_a_row_without_firmware(capsys: pytest.CaptureFixture[str]) -> None:
    cells = row(capsys, "x86_64", "compile", "link", "c", "iss", "qemu")
    assert {name: cell.get("where") for name, cell in cells.items()} == {
        "compile": "this machine",
        "link": None,
        "c": "this machine",
        "iss": None,
        "qemu": None,
    }
    codes = [cells[name]["absent"]["code"] for name in ("link", "iss", "qemu")]
    assert codes == ["E071", "E102", "E103"]


@ON_X86
def test_a_wrong_byte_is_seen(tmp_path: Path) -> None:
    compiled = compile_file(load_soc("lagoon", (*X86, "devices.npu=null")), DIGITS)
    given = (compiled.module, compiled.plan, compiled.soc, compiled.commands)
    code = bytearray(emit_objects(*given)["cpu"])
    weights = next(
        each.data for each in compiled.module.entry.constants if each.name == "conv_2d_2_filter"
    )
    assert weights is not None
    code[code.index(weights)] ^= 0x55
    (sample,) = random_sample(compiled.graph)
    wrong = compare(compiled, bytes(code), sample, tmp_path).mismatches
    assert wrong[0].operator == "conv_2d_2"


def test_every_core_has_a_row() -> None:
    rows = [*pairs(())]
    assert {core for core, _ in rows} == {*known_cores()}
    usual = ["rv32imc", "rv64imac", "rv32imafdc_zve32x", "rv64gcv"]
    assert [isa for core, isa in rows if core == "riscv"] == usual
    assert len([*pairs(("riscv",), every=True)]) == 18


@pytest.mark.parametrize(
    ("cell", "good", "says"),
    [
        (Cell(numbers={"cycles": 1000}, equal=True, where="rtl"), True, "equal, 1,000 cycles"),
        (Cell(numbers={"instructions": 7}, equal=False, where="iss"), False, "**differs**"),
        (Cell(fault=Fault(code="E080", message="no RTL")), True, "| E080 | `x` RTL | no RTL |"),
        (Cell(fault=Fault(code="E072", message="warned")), False, "**fails: E072**"),
    ],
)
def test_what_is_wrong_stands_out(cell: Cell, good: bool, says: str) -> None:
    assert cell.good is good
    assert says in "\n".join(
        markdown([Measured(core="x", isa="y", network="z", cells={"rtl": cell})])
    )
