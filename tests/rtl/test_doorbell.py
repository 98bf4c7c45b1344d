# SPDX-License-Identifier: Apache-2.0
"""An engine with a doorbell and a queue of four: the host rings as there are places in it."""

import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.effort import in_gate

from atoll.cli import main

pytestmark = pytest.mark.rtl

ROOT = Path(__file__).parents[2]
TERN = ROOT / "examples" / "07_own_accelerator"
BELL = Path(__file__).parent / "data" / "tern_bell.sv"
MAP = """    ID: 0x00
    CONTROL: 0x04
    STATUS: 0x08
    ERROR: 0x0C
    FAULT_ADDRESS: 0x10
    QUEUE: 0x14
    DOORBELL: 0x18
    COMPLETED: 0x1C
    IRQ_ENABLE: 0x20
    IRQ_STATUS: 0x24
"""
CODE = """from tern import TernEmitter, TernModel

__all__ = ["BellEmitter", "TernModel"]


class BellEmitter(TernEmitter):
    def identity(self, npu):
        return {"ID": 0x4245_4C4C}
"""


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    """The example's chip, whose accelerator is behind a doorbell."""
    for name in ("tern.py", "tern.sv"):
        shutil.copy(TERN / name, tmp_path)
    shutil.copy(BELL, tmp_path)
    (tmp_path / "bell.py").write_text(CODE)
    text = (TERN / "tern.yaml").read_text()
    begin, end = text.index("    ID: 0x00"), text.index("\nrtl:")
    text = text[:begin] + MAP + text[end:]
    for old, new in (
        ("operators:", "ports: {control: apb}\n\noperators:"),
        ("module: tern", "module: tern_bell"),
        ("./tern.sv,", "./tern.sv, ./tern_bell.sv,"),
        ("tern:TernEmitter", "./bell.py:BellEmitter"),
        ("tern:TernModel", "./bell.py:TernModel"),
        ("driver: command_list", "driver: doorbell"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (tmp_path / "tern.yaml").write_text(text)
    described = (TERN / "chip.yaml").read_text()
    described = described.replace("../../socs/lagoon.yaml", str(ROOT / "socs" / "lagoon.yaml"))
    (tmp_path / "chip.yaml").write_text(described)
    return tmp_path / "chip.yaml"


@pytest.fixture
def network(tmp_path: Path, tflite_builder: ModuleType) -> str:
    """Eleven tensors are joined: more commands than the queue has places for."""
    shapes = [(5, 3 + number) for number in range(11)]
    shapes.append((5, sum(width for _, width in shapes)))
    tensors = tuple(
        tflite_builder.Tensor(shape=shape, scales=(0.5,), zero_points=(3,)) for shape in shapes
    )
    op = tflite_builder.Operator(
        code="CONCATENATION",
        inputs=tuple(range(11)),
        outputs=(11,),
        table="ConcatenationOptions",
        options={"Axis": 1},
    )
    model = tflite_builder.Model(
        tensors=tensors, operators=(op,), inputs=tuple(range(11)), outputs=(11,)
    )
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(model))
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["run", *words, "--json"]) == 0, capsys.readouterr().err
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    assert report["cycles"]["by_layer"][0]["device"] == "joiner"
    return report


HOW = {
    "rtl": ("--cpu", "rtl"),
    "stand-in": ("--cpu", "rtl", "--accelerator", "joiner=model"),
    "native": ("--cpu", "native"),
    "iss": ("--cpu", "iss"),
}


@pytest.mark.parametrize(
    "how",
    in_gate(
        [pytest.param(how, marks=pytest.mark.slow if how == "stand-in" else ()) for how in HOW], 0
    ),
)
def test_all_commands_run(
    how: str, chip: Path, network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(capsys, str(chip), network, *HOW[how])


@pytest.mark.slow
def test_hardware_that_fails_is_noticed(
    chip: Path, network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(chip), network, "--faults", "27", "--mutants", "12"]) == 0
    capsys.readouterr()
