# SPDX-License-Identifier: Apache-2.0
"""Chips as they are sold, whole and reduced to what Atoll has, and an own one: each runs."""

import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.cli import main
from atoll.description.json_schemas import schema_text
from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Access
from atoll_sim.chip.plan import plan_chip
from atoll_sim.qemu.supported import program_of

ROOT = Path(__file__).parents[2]
CHIPS = sorted((ROOT / "tests" / "data" / "chips").glob("*.yaml"))
NAMES = [path.stem for path in CHIPS]
CPUS = {
    "corstone300": "qemu",
    "corstone300_u55": "native",
    "esp32c6": "iss",
    "esp32p4": "iss",
    "fu740": "iss",
    "imxrt1176": "iss",
    "litex": "iss",
    "mcxn947": "iss",
    "pulp": "iss",
    "ra8d1": "qemu",
    "rp2040": "iss",
    "rp2350": "iss",
    "stm32h747": "iss",
    "stm32n6": "qemu",
    "x_heep": "iss",
    "zynqmp": "qemu",
}
"""What runs the firmware of each chip in socs/ that is sold, or of its class."""

MORE = {"corstone300_u55": ("--accelerator", "model")}
"""Options without which a chip does not run."""

DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.mark.parametrize("path", CHIPS, ids=NAMES)
def test_the_chip_is_accepted_by_schema_loader_and_simulator(path: Path) -> None:
    schema: Any = json.loads(schema_text("soc"))
    jsonschema.Draft202012Validator(schema).validate(plain(read_yaml(path)))
    soc = load_soc(path)
    assert soc.name == path.stem
    assert plan_chip(soc).soc == soc


def test_every_shipped_chip_is_tried() -> None:
    chips = {path.stem: load_soc(path) for path in (ROOT / "socs").glob("*.yaml")}
    assert {*chips} - {*CPUS} == {"atoll2", "lagoon", "quad", "twin"}, "they run in RTL elsewhere"
    assert all(soc.name == name for name, soc in chips.items())


def ready(chip: str) -> None:
    """Skip where what runs the firmware of a chip is not installed."""
    if CPUS[chip] == "iss":
        pytest.importorskip("unicorn")
    if CPUS[chip] == "qemu" and not shutil.which(program_of(load_soc(chip))):
        pytest.skip(f"{program_of(load_soc(chip))} is not installed")


@pytest.mark.parametrize("chip", in_gate(CPUS, 0, 1, 2, 10))
def test_digits_run_on_what_is_sold(chip: str, capsys: pytest.CaptureFixture[str]) -> None:
    ready(chip)
    assert main(["run", chip, str(DIGITS), "--cpu", CPUS[chip], *MORE.get(chip, ()), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bit_exact"]
    assert not result["placement"]["violations"]


@pytest.fixture
def two_inputs(tflite_builder: ModuleType, tmp_path: Path) -> Path:
    """Return a network of two inputs and six operators."""
    tensor, operator = tflite_builder.Tensor, tflite_builder.Operator
    tensors = [tensor(shape=(1, 8, 8, 4), scales=(0.05,), zero_points=(-3,)) for _ in range(8)]
    kinds = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM", "ADD")
    operators = [
        operator(code=kind, inputs=(at, at + 1), outputs=(at + 2,)) for at, kind in enumerate(kinds)
    ]
    model = tflite_builder.Model(
        tensors=tuple(tensors), operators=tuple(operators), inputs=(0, 1), outputs=(7,)
    )
    path = tmp_path / "two_inputs.tflite"
    path.write_bytes(tflite_builder.write(model))
    return path


AS_SOLD = ("esp32p4", "fu740", "mcxn947", "ra8d1", "rp2350", "stm32n6")


@pytest.mark.slow
@pytest.mark.parametrize("network", ["digits", "kws", "two inputs"])
@pytest.mark.parametrize("chip", AS_SOLD)
def test_every_core_of_a_chip_has_operators(
    chip: str,
    network: str,
    two_inputs: Path,
    shared_models: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ready(chip)
    model = {
        "digits": DIGITS,
        "kws": shared_models / "kws_ref_model.tflite",
        "two inputs": two_inputs,
    }[network]
    soc = load_soc(chip)
    cores = [cpu.name for cpu in soc.cpus]
    names = [each.name for each in compile_file(soc, model).graph.operators]
    light = [name for name in names if not name.startswith(("conv", "depthwise"))]
    place = {name: cores[at % len(cores)] for at, name in enumerate(light)}
    words = [word for each in place.items() for word in ("--place", "=".join(each))]
    assert main(["run", chip, str(model), "--cpu", CPUS[chip], "--json", *words]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bit_exact"]
    assert not result["placement"]["violations"]
    assert len(cores) == 1 or all(result["cycles"]["by_device"][core] for core in cores)


def test_a_tensor_is_kept_where_a_master_of_another_domain_reaches_it() -> None:
    """The BDMA of the STM32H747 reaches the memory of its own domain alone."""
    soc = load_soc("stm32h747")
    reached = {pool.name for pool in soc.pools if pool.reach["bdma"] is not Access.NONE}
    assert reached == {"d3"}
    (image,) = compile_file(soc, DIGITS).graph.inputs
    options = BuildOptions(requests=load_requests(None, pin=[f"{image}=d3"]))
    assert compile_file(soc, DIGITS, options).plan.placements[image].pool == "d3"


@pytest.mark.parametrize("path", CHIPS, ids=NAMES)
def test_digits_run_bit_exact(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(path), str(DIGITS), "--cpu", "native", "--accelerator", "model", "--json"]
    assert main(["run", *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bit_exact"]
    assert not result["placement"]["violations"]


def test_accelerators_and_engines_work() -> None:
    used = {
        path.stem: {op.device for op in compile_file(load_soc(path), DIGITS).graph.operators}
        for path in CHIPS
    }
    assert used.pop("ensemble_e7") & {"u55_hp", "u55_he"}
    assert used == {
        "esp32p4": {"hp"},
        "imxrt1170": {"cm4", "npu"},
        "k210": {"core0", "kpu"},
        "max78000": {"arm", "cnn"},
        "mcxn947": {"cpu0", "npu"},
        "rp2350": {"core0"},
        "stm32n6": {"cpu", "npu"},
        "trident": {"cpu", "dma", "npu_a", "npu_b", "npu_c"},
    }


def test_c4_accelerators_whose_engine_does_not_move_between_them_are_gone_around() -> None:
    """Nobody asks for accelerators that cannot feed each other: others run their operators."""
    path = ROOT / "tests" / "data" / "chips" / "trident.yaml"
    both = [list(pair) for pair in load_soc(path).dmas[0].moves]
    direct = [["sram_a", "sram_b"], ["sram_b", "sram_a"]]
    without = [pair for pair in both if pair not in direct]
    soc = load_soc(path, [f"devices.dma.moves={json.dumps(without)}"])
    made = compile_file(soc, DIGITS)
    homes = {
        name: soc.pool(place.pool).region.memory for name, place in made.plan.placements.items()
    }
    moved = {
        (homes[made.graph.storage(op.inputs[0])], homes[made.graph.storage(op.outputs[0])])
        for op in made.graph.operators
        if op.device == "dma" and made.graph.tensor(op.inputs[0]).data is None
    }
    assert moved <= {tuple(pair) for pair in without}
