# SPDX-License-Identifier: Apache-2.0
"""A package is built by CMake as a firmware team would, and its images run."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.effort import in_gate

from atoll.bsp.core_images import elf_names, image_cores
from atoll.cli import main
from atoll.resolve import load_soc
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.qemu.qemu_run import simulate as qemu
from atoll_sim.qemu.supported import program_of
from atoll_sim.trace.simulation import SimRequest, SimResult

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
CHIPS = {
    "m33": ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp"),
    "ibex": ("devices.cpu.core=ibex",),
}
"""Lagoon with another core."""

RISCV, ARM, A64 = "riscv64-unknown-elf-gcc", "arm-none-eabi-gcc", "aarch64-linux-gnu-gcc"
LOADERS = ROOT / "tests" / "data" / "loaders"
MACHINES = {
    "zcu102": str(ROOT / "examples" / "08_qemu_machines" / "xlnx_zcu102.yaml"),
    "copied": str(LOADERS / "copied.yaml"),
    "hosted": str(LOADERS / "hosted.yaml"),
}
"""Chips that are not in socs/."""

pytest.importorskip("unicorn")


def cmake(folder: Path, preset: str, *definitions: str) -> None:
    """Configure and build; a warning of CMake, a compiler or a linker is a failure."""
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for words in (["--preset", preset, *definitions], ["--build", "--preset", preset]):
        done = subprocess.run(
            ["cmake", *words],
            cwd=folder,
            env={**os.environ, "PATH": tools},
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert "warning" not in said.lower(), said


def said_by(chip: str, overrides: tuple[str, ...], images: Path, folder: Path) -> str:
    """Run the images on the instruction-set simulator, firewalls on; return what they print."""
    return ran(chip, overrides, images, folder).text


def ran(chip: str, overrides: tuple[str, ...], images: Path, folder: Path) -> SimResult:
    """Run the images likewise."""
    soc = load_soc(chip, overrides)
    simulate = qemu if soc.qemu_machine else iss
    elves = tuple(images / name for name in elf_names(soc))
    started = replace(request(soc, elves[0]), elves=elves, run_dir=folder)
    result = simulate(started)
    assert (result.exit_status, result.findings) == (0, ())
    return result


def iss(started: SimRequest) -> SimResult:
    return simulate(started, lambda memory: make_models(started.soc, memory))


@pytest.mark.parametrize(
    ("chip", "preset"),
    in_gate(
        [
            ("twin", "zig"),
            ("m33", "zig"),
            ("hosted", "zig"),
            *(
                pytest.param(*each, marks=pytest.mark.slow)
                for each in (
                    ("lagoon", "zig"),
                    ("twin", RISCV),
                    ("copied", RISCV),
                    ("hosted", RISCV),
                    ("quad", "zig"),
                    ("atoll2", "zig"),
                    ("ibex", "zig"),
                    ("m33", ARM),
                    ("m33", "clang"),
                    ("rp2040", ARM),
                    ("stm32h747", ARM),
                    ("imxrt1176", ARM),
                    ("corstone300", ARM),
                    ("corstone300", "clang"),
                    ("esp32c6", RISCV),
                    ("x_heep", RISCV),
                    ("pulp", RISCV),
                    ("litex", RISCV),
                    ("zcu102", "zig"),
                    ("zcu102", A64),
                    ("zcu102", "clang"),
                )
            ),
        ],
        0,
    ),
)
def test_images_of_a_package_are_right(chip: str, preset: str, tmp_path: Path) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    name, overrides = ("lagoon", CHIPS[chip]) if chip in CHIPS else (MACHINES.get(chip, chip), ())
    if load_soc(name).qemu_machine and not shutil.which(program_of(load_soc(name))):
        pytest.skip(f"{program_of(load_soc(name))} is not installed")
    settings = [word for each in overrides for word in ("--set", each)]
    folder = tmp_path / "bsp"
    assert main(["bsp", name, DIGITS, "-o", str(folder), *settings]) == 0
    cmake(folder, preset)
    images = folder / "build" / preset
    soc = load_soc(name, overrides)
    for core, image in zip(image_cores(soc), elf_names(soc), strict=True):
        words = ["check-image", name, str(images / image), "--core", core.name, *settings]
        assert main(words) == 0
    said = said_by(name, overrides, images, tmp_path)
    assert said.startswith("digits_int8.softmax_9_out: ")
    assert said.endswith(" (right)\n")


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["zig", "clang", A64])
def test_a_chip_that_nothing_simulates_is_linked(preset: str, tmp_path: Path) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    assert main(["bsp", "zynqmp", DIGITS, "--selftest", "-o", str(tmp_path)]) == 0
    cmake(tmp_path, preset)
    images = tmp_path / "build" / preset
    assert main(["check-image", "zynqmp", str(images / "firmware.elf")]) == 0
    assert main(["check-image", "zynqmp", str(images / "firmware.selftest.elf")]) == 0


@pytest.mark.parametrize("chip", ["lagoon", pytest.param("rp2040", marks=pytest.mark.slow)])
def test_self_tests_of_a_package_have_a_bound(chip: str, tmp_path: Path) -> None:
    assert main(["bsp", chip, DIGITS, "--selftest", "-o", str(tmp_path)]) == 0
    cmake(tmp_path, "zig")
    image = tmp_path / "build" / "zig" / "firmware.selftest.elf"
    assert main(["check-image", chip, str(image)]) == 0


def test_an_application_with_a_wrong_answer_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "bsp"
    assert main(["bsp", "lagoon", DIGITS, "-o", str(folder)]) == 0
    application = folder / "app" / "main.c"
    text = application.read_text()
    application.write_text(text.replace("to[i] = from[i];", "to[i] = (uint8_t)(from[i] ^ 0x80u);"))
    assert main(["bsp", "lagoon", DIGITS, "-o", str(folder)]) == 0
    cmake(folder, "zig")
    soc = load_soc("lagoon")
    started = request(soc, folder / "build" / "zig" / "firmware.elf")
    result = simulate(started, lambda memory: make_models(soc, memory))
    assert result.exit_status == 1
    assert result.text.endswith(" (WRONG)\n")


@pytest.mark.parametrize(
    ("chip", "preset"), in_gate([("lagoon", RISCV), ("m33", ARM), ("lagoon", "zig")], 2)
)
def test_an_application_divides_64_bits_and_multiplies_floats(
    chip: str, preset: str, tmp_path: Path
) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    overrides = CHIPS.get(chip, ())
    settings = [word for each in overrides for word in ("--set", each)]
    assert main(["bsp", "lagoon", "-o", str(tmp_path), *settings]) == 0
    application = tmp_path / "app" / "main.c"
    begin = "int main(void) {\n"
    text = f"""
static volatile int64_t wide = -1234567890123;
static volatile double real = 1.5;
{begin}  atoll_print_decimal((int32_t)(wide / 1000000000 + (int64_t)(real * 4.0)));
"""
    application.write_text(application.read_text().replace(begin, text))
    cmake(tmp_path, preset)
    assert said_by("lagoon", overrides, tmp_path / "build" / preset, tmp_path) == "-1228"


IDEA = """accelerator: idea
version: 1
operators:
  CONV_2D: {cost: 100 + macs // 64}
"""


@pytest.mark.parametrize("preset", in_gate(["zig", "clang", RISCV], -1))
def test_a_driver_that_nobody_described_is_missing(
    preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    chip, folder = tmp_path / "chip.yaml", tmp_path / "bsp"
    npu = "{accelerator: ./idea.yaml, params: null}"
    chip.write_text(f"extends: lagoon\nsoc: own\ndevices: {{npu: {npu}}}\n")
    (tmp_path / "idea.yaml").write_text(IDEA)
    words = ["bsp", str(chip), DIGITS, "--selftest", "-o", str(folder)]
    assert main(words) == 0
    assert "nothing says how 'idea' is driven" in capsys.readouterr().err
    written = {path: path.read_text() for path in folder.rglob("*.[!o]*")}
    assert not [path for path, text in written.items() if "LIST_ADDRESS" in text]
    assert "neither their registers nor a driver:\nidea." in written[folder / "README.md"]
    with pytest.raises(AssertionError, match="driver of accelerator idea: its description has no"):
        cmake(folder, preset)
    (tmp_path / "idea.yaml").write_text(f"{IDEA}driver: command_list\n")
    assert main(words) == 0
    cmake(folder, preset)


def test_a_package_is_checked_and_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bsp", "lagoon", DIGITS, "-o", str(tmp_path / "bsp")]
    assert main(command) == 0
    assert main([*command, "--check"]) == 0
    assert main([*command, "--check", "--set", "memories.sram.size=128 KiB"]) == 1
    assert "error[E129]" in capsys.readouterr().err
    assert main([*command, "--set", "memories.sram.size=128 KiB"]) == 0
    assert main([*command, "--check", "--set", "memories.sram.size=128 KiB"]) == 0


@pytest.mark.parametrize("chip", in_gate(["m33", "ibex"], -1))
def test_stacks_of_a_package_are_painted_on_demand(chip: str, tmp_path: Path) -> None:
    settings = [word for each in CHIPS[chip] for word in ("--set", each)]
    folder, images = tmp_path / "bsp", tmp_path / "bsp" / "build" / "zig"
    assert main(["bsp", "lagoon", DIGITS, "-o", str(folder), *settings]) == 0
    for painted in (False, True):
        cmake(folder, "zig", f"-DATOLL_PAINT_STACKS={'ON' if painted else 'OFF'}")
        (stack,) = ran("lagoon", CHIPS[chip], images, tmp_path).stacks.values()
        assert (stack[:64] == b"\xa5" * 64) is painted
