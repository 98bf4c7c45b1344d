# SPDX-License-Identifier: Apache-2.0
"""An application of the form of TVM's RFC 23: it defines workspaces and parameters itself."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.e2e.test_board_packages import ARM, RISCV, cmake, ran

from atoll.build_tree import Emit, build, interface_of
from atoll.cli import main
from atoll.image.check import disagreements
from atoll.image.elf import read_image
from atoll.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.samples import random_sample
from atoll.several_models import compile_models
from atoll_sim.run import AcceleratorKind, CpuKind, run_models

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = EXAMPLES / "13_application_parameters"
CHIP, CORTEX = HERE / "chip.yaml", HERE / "cortex_m4.yaml"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SAMPLER = EXAMPLES / "03_two_networks" / "sampler.tflite"
MACHINE = EXAMPLES / "08_qemu_machines" / "mps2_an386.yaml"
SAYS = "a 8, as the reference says\n"


def linked(chip: Path, preset: str, folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Return the image of the example, with a change of its source."""
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    package = folder / "bsp"
    assert main(["bsp", str(chip), str(DIGITS), "-o", str(package)]) == 0
    source = (HERE / "main.c").read_text()
    changed = re.sub(*change, source) if change[0] else source
    assert (changed != source) == bool(change[0])
    (package / "app" / "main.c").write_text(changed)
    cmake(package, preset)
    return package / "build" / preset


def codes(chip: Path, images: Path) -> list[str]:
    soc = load_soc(chip)
    found = read_image(images / "firmware.elf")
    return [fault.code for fault in disagreements(soc, soc.host, found)]


@pytest.mark.parametrize(("chip", "preset"), [(CHIP, "zig"), (CHIP, RISCV), (CORTEX, ARM)])
def test_m7_m8_the_application_runs_on_the_iss(chip: Path, preset: str, tmp_path: Path) -> None:
    """It says that each byte of the output is the reference's; no access is a violation."""
    images = linked(chip, preset, tmp_path)
    assert codes(chip, images) == []
    result = ran(str(chip), (), images, tmp_path)
    assert result.text == SAYS


@pytest.mark.rtl
@pytest.mark.slow
def test_m7_m8_the_application_runs_in_rtl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = linked(CHIP, "zig", tmp_path)
    capsys.readouterr()
    assert main(["run-image", str(CHIP), str(images / "firmware.elf"), "--cpu", "rtl"]) == 0
    assert capsys.readouterr().out == SAYS


WRONG = (r'(IN\("FLASH"\)) = \w+;', r"\1 = {1};")
SHORT = (r'SIZE\] (IN\("ITCM"\)) = \w+;', r"SIZE - 8] \1 = {1};")
ELSEWHERE = (r'IN\("ITCM"\)', 'IN(".rodata.itcm")')


@pytest.mark.parametrize(
    ("change", "wanted"),
    [(WRONG, ["E221"]), (SHORT, ["E220", "E221"]), (ELSEWHERE, ["E220"])],
    ids=["wrong", "short", "elsewhere"],
)
def test_m7_images_are_held_against_their_networks(
    change: tuple[str, str],
    wanted: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    images = linked(CHIP, "zig", tmp_path, change)
    assert codes(CHIP, images) == wanted
    for words in (["check-image"], ["run-image", "--cpu", "iss"]):
        capsys.readouterr()
        image = str(images / "firmware.elf")
        assert main([words[0], str(CHIP), image, *words[1:]]) == 1
        assert re.findall(r"error\[(E\d+)\]", capsys.readouterr().err) == wanted


def test_m7_parameters_without_a_record_are_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An image of networks whose parameters are in their objects, held against this chip."""
    keys = [f"pools.{pool}.{key}" for pool in ("near", "far") for key in ("provided", "section")]
    inside = load_soc(CHIP, [f"{key}=null" for key in keys])
    tree = build((compile_file(inside, DIGITS),), tmp_path / "out")
    assert main(["check-image", str(CHIP), str(tree.firmware.elf)]) == 0
    assert "parameters of the application are not known" in capsys.readouterr().out
    assert main(["check-image", str(CHIP), str(tree.firmware.elf), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters_known"] is False


def given(*keys: str) -> tuple[Compiled, ...]:
    return compile_models(load_soc(CHIP, keys), (DIGITS, SAMPLER))


def test_m8_the_run_function_takes_parameters() -> None:
    interface = interface_of(compile_file(load_soc(CHIP), DIGITS))
    assert interface.parameters == ("inputs", "outputs", "pools", "parameters", "devices")
    assert [each.section for each in interface.constants] == ["ITCM", "FLASH"]
    assert [each.section for each in interface.pools] == ["DTCM", "SRAM"]


@pytest.mark.parametrize("emit", Emit)
def test_m7_parameters_of_two_networks_lie_side_by_side(emit: Emit, tmp_path: Path) -> None:
    """Of the second network some begin behind those of the first, whoever makes the code."""
    models = given()
    assert any(each.offset for each in interface_of(models[1]).constants)
    tree = build(models, tmp_path / "out", emit=emit)
    image = read_image(tree.firmware.elf)
    assert len([each for each in image.parameters.split(b"\0") if each]) == 4
    assert not disagreements(models[0].soc, "cpu", image)


def test_m7_networks_with_parameters_of_the_application_are_bit_exact() -> None:
    models = given()
    samples = [random_sample(model.graph) for model in models]
    outcomes = run_models(models, samples, cpu=CpuKind.ISS, accelerator=AcceleratorKind.MODEL)
    assert [outcome.report.passed for outcome in outcomes] == [True, True]


@pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed")
def test_m7_parameters_of_the_application_on_a_machine_of_qemu() -> None:
    keys = [f"pools.{pool}.provided=application" for pool in ("weights", "arena")]
    keys += ["pools.weights.section=PARAMS", "pools.arena.section=.work"]
    model = compile_file(load_soc(MACHINE, keys), DIGITS)
    (outcome,) = run_models(
        (model,), (random_sample(model.graph),), cpu=CpuKind.QEMU, accelerator=AcceleratorKind.NONE
    )
    assert outcome.report.passed
