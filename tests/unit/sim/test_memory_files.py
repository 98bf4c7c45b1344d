# SPDX-License-Identifier: Apache-2.0
"""A run that ends because RTL reads a file that is not there names who may have read it."""

import shutil
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll_sim.model.process import NO_FILE, SAID, unfinished_error

ROOT = Path(__file__).parents[3]
MISSING = "%Warning: rom.hex:0: $readmem file not found\n"
TWICE = "%File: rom.hex\n/one/rom.hex\n/other/rom.hex\n"
READER = "  reg [7:0] t_q[2];\n  initial $readmemh(NAME, t_q);\nendmodule"


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    """A chip with two accelerators that its user brings."""
    for example in ("10_vector_engine", "11_systolic_array"):
        shutil.copytree(ROOT / "examples" / example, tmp_path / example)
    return tmp_path / "11_systolic_array" / "chip.yaml"


def let_read(source: Path) -> None:
    source.write_text(source.read_text().replace("endmodule", READER, 1))


@pytest.mark.parametrize("said", [MISSING, TWICE], ids=["missing", "twice"])
def test_who_may_have_read_it_is_named(said: str, chip: Path, tmp_path: Path) -> None:
    (tmp_path / SAID).write_text(said)
    (nobody,) = unfinished_error(tmp_path, NO_FILE, load_soc(chip)).faults
    assert nobody.message.startswith("the RTL reads 'rom.hex'")
    assert nobody.at is None

    let_read(tmp_path / "10_vector_engine" / "plover.sv")
    (one,) = unfinished_error(tmp_path, NO_FILE, load_soc(chip)).faults
    assert one.message.startswith("the RTL of accelerator 'plover' reads 'rom.hex'")
    assert one.at is not None
    assert one.at.path.name == "plover.yaml"
    assert one.other is None

    let_read(chip.with_name("loom.sv"))
    (both,) = unfinished_error(tmp_path, NO_FILE, load_soc(chip)).faults
    assert "the RTL of accelerator 'loom' or accelerator 'plover' reads" in both.message
    assert both.at is not None
    assert both.other is not None
    assert [both.at.path.name, both.other[0].path.name] == ["loom.yaml", "plover.yaml"]
