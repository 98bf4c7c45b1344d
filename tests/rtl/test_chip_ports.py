# SPDX-License-Identifier: Apache-2.0
"""Accelerators with other ports on whole chips: registers, memory, interrupts of each kind."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

pytestmark = pytest.mark.rtl

ROOT = Path(__file__).parents[2]
LOOM = ROOT / "examples" / "11_systolic_array"
PLOVER = ROOT / "examples" / "10_vector_engine" / "plover.yaml"
DATA = Path(__file__).parent / "data"
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
OWN = """  control: obi
  data: {m: {protocol: obi, bytes: 8}}
"""

KINDS = {
    "wishbone": """  control: wishbone
  interrupt: edge
  data: {r: {protocol: wishbone, bytes: 8}, w: {protocol: wishbone, bytes: 8}}
""",
    "axil": """  control: axi4_lite
  interrupt: none
  data: {m: {protocol: axi4_lite, bytes: 8}}
""",
    "axil_wide": """  control: axi4_lite
  interrupt: none
  data: {m: {protocol: axi4_lite, bytes: 64}}
""",
}


@pytest.fixture(params=KINDS)
def chip(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The example's chip, whose systolic array is behind other ports."""
    kind = request.param
    for path in LOOM.glob("loom*"):
        (tmp_path / path.name).write_text(path.read_text())
    wrapper = f"loom_{kind.removesuffix('_wide')}"
    (tmp_path / f"{wrapper}.sv").write_text((DATA / f"{wrapper}.sv").read_text())
    text = (LOOM / "loom.yaml").read_text()
    assert OWN in text
    text = text.replace(OWN, KINDS[kind]).replace("module: loom", f"module: {wrapper}")
    text = text.replace("./loom.sv]", f"./loom.sv, ./{wrapper}.sv]")
    if kind.endswith("_wide"):
        text = text.replace(
            f"module: {wrapper}\n", f"module: {wrapper}\n  parameters: {{BYTES: 64}}\n"
        )
    (tmp_path / "loom.yaml").write_text(text)
    chip = (LOOM / "chip.yaml").read_text().replace("../10_vector_engine/plover.yaml", str(PLOVER))
    if kind.startswith("axil"):
        chip = chip.replace("registers: 0x4000_2000, irq: 4,", "registers: 0x4000_2000,")
    if kind.endswith("_wide"):
        chip = chip.replace("engine: ripple\n", "engine: ripple\n    params: {data_bytes: 64}\n")
    (tmp_path / "chip.yaml").write_text(chip)
    return tmp_path / "chip.yaml"


@pytest.mark.slow
def test_the_bytes_are_the_same(chip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(chip), DIGITS, "--cpu", "rtl", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    assert report["cycles"]["by_device"]["loom"] > 0


@pytest.mark.slow
def test_hardware_that_fails_is_noticed(chip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(chip), DIGITS, "--faults", "18"]) == 0
    capsys.readouterr()
