# SPDX-License-Identifier: Apache-2.0
"""An application of the form of TVM's RFC 23: it defines workspaces and parameters itself."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.test_board_packages import ARM, RISCV, cmake, ran
from tests.effort import in_gate

from atoll.artifacts.build_tree import Emit, build, interface_of
from atoll.artifacts.samples import random_sample
from atoll.bsp.headers import model_header
from atoll.cli import main
from atoll.driver.pipeline import Compiled, compile_file, compile_models
from atoll.resolve import load_soc
from atoll_image.check import disagreements
from atoll_image.elf import read_image
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

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


@pytest.mark.parametrize(
    ("chip", "preset"), in_gate([(CHIP, "zig"), (CHIP, RISCV), (CORTEX, ARM)], 2)
)
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


FRONT = (
    r"(static const uint8_t parameters_itcm)",
    r'static const uint8_t __attribute__((used)) front[128] IN("ITCM") = {7};\n\1',
)
SMALL = (
    r"(?s)(static uint8_t workspace_sram\[\w+)(\].*?;)(.*?)\w+_SHARED_WORKSPACE\((\w+)\)",
    r'uint8_t mine[1024] IN("SRAM.mine");\n\1 - 1024\2\3\4',
)
BEFORE = (
    r"(static uint8_t workspace_sram)",
    r'static uint8_t __attribute__((used)) mine[64] IN("SRAM");\n\1',
)
TOGETHER = (r'IN\("DTCM"\)', 'IN("SRAM")')


@pytest.mark.parametrize(
    ("change", "wanted"),
    in_gate(
        [
            (WRONG, ["E221"]),
            (SHORT, ["E220", "E221"]),
            (ELSEWHERE, ["E220"]),
            (FRONT, ["E221"]),
            (SMALL, ["E085"]),
            (BEFORE, ["E086"]),
            (TOGETHER, ["E086"]),
        ],
        2,
        4,
        5,
    ),
    ids=["wrong", "short", "elsewhere", "front", "small", "before", "together"],
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


@pytest.mark.parametrize("preset", in_gate(["zig", RISCV], -1))
def test_m7_other_arrays_come_after_what_the_network_uses(preset: str, tmp_path: Path) -> None:
    """In sections `<section>.*`, whatever the order in the source."""
    more = r"""static const uint8_t __attribute__((used)) near_%s[128] IN("ITCM.%s") = {7};
static uint8_t __attribute__((used)) shared_%s[128] IN("SRAM.%s");
"""
    before, after = (more.replace("%s", name) for name in "az")
    change = (
        r"(?s)(static const uint8_t parameters_itcm.*)(static int8_t)",
        rf"{before}\1{after}\2",
    )
    images = linked(CHIP, preset, tmp_path, change)
    assert codes(CHIP, images) == []
    assert ran(str(CHIP), (), images, tmp_path).text == SAYS


@pytest.mark.parametrize("preset", in_gate(["zig", RISCV], -1))
def test_m8_the_application_is_cxx20_too(preset: str, tmp_path: Path) -> None:
    """The same file, with the headers and its structs' names of members."""
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    package = tmp_path / "bsp"
    assert main(["bsp", str(CHIP), str(DIGITS), "-o", str(package)]) == 0
    source = (HERE / "main.c").read_text().replace("int main(void)", 'extern "C" int main(void)')
    (package / "app" / "main.c").write_text(source)
    options = package / "cmake" / "atoll.cmake"
    options.write_text(options.read_text().replace(" -std=c99", ""))
    with (package / "CMakeLists.txt").open("a") as project:
        words = "-x c++ -std=c++20 -fno-exceptions"
        project.write(
            f'\nset_source_files_properties(app/main.c PROPERTIES COMPILE_FLAGS "{words}")\n'
        )
    cmake(package, preset)
    images = package / "build" / preset
    assert codes(CHIP, images) == []
    assert ran(str(CHIP), (), images, tmp_path).text == SAYS


def test_m7_a_workspace_without_a_symbol_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its address is a number of the application's, which no image shows."""
    change = (
        r"(?s)static uint8_t workspace_dtcm.*?;(.*?)\w+_FAST_WORKSPACE\(\w+\)",
        r"\1(uint8_t *)0x19000000",
    )
    image = linked(CHIP, "zig", tmp_path, change) / "firmware.elf"
    capsys.readouterr()
    assert main(["check-image", str(CHIP), str(image)]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert "agrees" not in said
    assert "the workspace of 'digits_int8' is not known" in said
    assert main(["check-image", str(CHIP), str(image), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["not_known"]) == 1


@pytest.mark.parametrize("given", ["uint8_t *bytes = 0;", "uint8_t bytes[4607];"])
@pytest.mark.parametrize("standard", ["c99", "c++20"])
def test_m8_a_small_array_does_not_compile_as_a_workspace(
    given: str, standard: str, tmp_path: Path
) -> None:
    header = model_header(load_soc(CHIP), interface_of(compile_file(load_soc(CHIP), DIGITS)))
    (tmp_path / "digits_int8.h").write_text(header)
    language = "c++" if "+" in standard else "c"
    for text, right in ((given, False), ("uint8_t bytes[4608];", True)):
        source = f"""#include "digits_int8.h"
static {text}
uint8_t *workspace(void);
uint8_t *workspace(void) {{ return DIGITS_INT8_SHARED_WORKSPACE(bytes); }}
"""
        (tmp_path / "user.c").write_text(source)
        command = [sys.executable, "-m", "ziglang", "cc", "-x", language, f"-std={standard}"]
        command += ["-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "user.c", "-o", "user.o"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == right, done.stderr


def given(*keys: str) -> tuple[Compiled, ...]:
    return compile_models(load_soc(CHIP, keys), (DIGITS, SAMPLER))


def test_m8_the_run_function_takes_parameters() -> None:
    interface = interface_of(compile_file(load_soc(CHIP), DIGITS))
    assert interface.parameters == ("inputs", "outputs", "pools", "parameters", "devices")
    assert [each.section for each in interface.constants] == ["ITCM", "FLASH"]
    assert [each.section for each in interface.pools] == ["DTCM", "SRAM"]


@pytest.mark.parametrize("emit", in_gate(Emit, -1))
def test_m7_parameters_of_two_networks_lie_side_by_side(emit: Emit, tmp_path: Path) -> None:
    """Of the second network some begin behind those of the first, whoever makes the code."""
    models = given()
    assert any(each.offset for each in interface_of(models[1]).constants)
    tree = build(models, tmp_path / "out", emit=emit)
    image = read_image(tree.firmware.elf)
    assert len([each for each in image.parameters.split(b"\0") if each]) == 8
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
