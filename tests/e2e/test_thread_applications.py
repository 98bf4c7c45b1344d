# SPDX-License-Identifier: Apache-2.0
"""K1: every emitter's application runs each network on the stack of its thread."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.e2e.test_board_packages import ARM, CHIPS, cmake, ran
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.bsp.core_images import elf_names, image_cores
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll.resolve.run_threads import on_threads
from atoll_sim.build.model import build_model
from atoll_sim.check.stack_use import watermark
from atoll_sim.inputs.build_folder import Image
from atoll_sim.runs.checked_run import CpuKind, run_image
from atoll_sim.simulate.session import simulate as in_rtl

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
SAMPLER = str(ROOT / "examples" / "03_two_networks" / "sampler.tflite")
SMALL = (
    "devices.cpu.stack={memory: dtcm, size: 704, interrupts: 512 B, threads: {net: 4 KiB,"
    " ui: 2 KiB}, runs: net}",
    "devices.cpu.limits.max_stack_alloca_size=2 KiB",
    "devices.npu.params.vector=1",
)
"""A main stack that a run does not fit."""

DSP = (
    "devices.dsp.stack.threads={thread0: 2 KiB, thread1: 2 KiB}",
    "devices.dsp.stack.runs=thread0",
)

THREADS = ("devices.cpu.stack.threads={net: 4 KiB, ui: 2 KiB}",)
OTHER = {"cpu": "ui", "dsp": "thread1"}

pytest.importorskip("unicorn")


def package(folder: Path, chip: str, overrides: tuple[str, ...], *words: str) -> Path:
    settings = [word for each in overrides for word in ("--set", each)]
    assert main(["bsp", chip, *words, "-o", str(folder), *settings]) == 0
    return folder


def checked(chip: str, overrides: tuple[str, ...], images: Path) -> list[int]:
    """Return the status of `check-image` for the image of each core."""
    soc = load_soc(chip, overrides)
    settings = [word for each in overrides for word in ("--set", each)]
    return [
        main(["check-image", chip, str(images / image), "--core", core.name, *settings])
        for core, image in zip(image_cores(soc), elf_names(soc), strict=True)
    ]


@pytest.mark.parametrize(
    ("chip", "overrides", "preset"),
    in_gate(
        [
            ("lagoon", SMALL, "zig"),
            ("lagoon", (*SMALL, *CHIPS["m33"]), "zig"),
            pytest.param("lagoon", (*SMALL, *CHIPS["m33"]), ARM, marks=pytest.mark.slow),
            pytest.param("lagoon", (*SMALL, *CHIPS["ibex"]), "zig", marks=pytest.mark.slow),
            ("twin", DSP, "zig"),
        ],
        1,
        4,
    ),
)
def test_k1_the_package_runs_networks_on_their_threads(
    chip: str, overrides: tuple[str, ...], preset: str, tmp_path: Path
) -> None:
    """What the issue found: the package called them on the main stack, and never ended."""
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    place = ("--place", "softmax_9=dsp") if chip == "twin" else ()
    folder = package(tmp_path / "bsp", chip, overrides, DIGITS, *place)
    cmake(folder, preset, "-DATOLL_PAINT_STACKS=ON")
    images = folder / "build" / preset
    assert not any(checked(chip, overrides, images))
    result = ran(chip, overrides, images, tmp_path)
    assert result.text.endswith(" (right)\n")
    assert watermark(result.stacks["dsp.thread0" if chip == "twin" else "cpu.net"])


def test_k1_every_emitter_calls_what_switches_the_stack(tmp_path: Path) -> None:
    folder = package(tmp_path, "lagoon", (*SMALL, *CHIPS["ibex"]), DIGITS)
    for name in ("app/main.c", "rust/src/lib.rs"):
        text = (folder / name).read_text()
        assert "digits_int8_run_on_net(" in text
        assert "digits_int8_run(" not in text
    for name in ("freertos/atoll_freertos.c", "zephyr/src/atoll_zephyr.c"):
        assert re.search(
            r"^int32_t digits_int8_run_on_net\(.*{$", (folder / name).read_text(), re.M
        )


def test_k1_two_networks_of_a_package_run_on_two_threads_of_two_cores(tmp_path: Path) -> None:
    chip, overrides = "twin", (*DSP, *THREADS)
    asked = (
        *("--place", "digits_int8:softmax_9=dsp", "--thread", "digits_int8:cpu=net"),
        *("--place", "sampler:mean_9=dsp", "--thread", "sampler:dsp=thread1"),
    )
    folder = package(tmp_path / "bsp", chip, overrides, DIGITS, SAMPLER, *asked)
    cmake(folder, "zig", "-DATOLL_PAINT_STACKS=ON")
    images = folder / "build" / "zig"
    assert not any(checked(chip, overrides, images))
    result = ran(chip, overrides, images, tmp_path)
    assert result.text.count(" (right)\n") == 2
    marks = {name: watermark(stack) for name, stack in result.stacks.items()}
    assert marks["cpu.ui"] == 0
    assert all(marks[name] for name in ("cpu", "cpu.net", "dsp", "dsp.thread0", "dsp.thread1"))


@pytest.mark.rtl
@pytest.mark.slow
def test_k1_the_package_ends_in_rtl(tmp_path: Path) -> None:
    folder = package(tmp_path / "bsp", "lagoon", SMALL, DIGITS)
    cmake(folder, "zig")
    image = folder / "build" / "zig" / "firmware.elf"
    soc = load_soc("lagoon", SMALL)
    asked = replace(request(soc, image), run_dir=tmp_path, executable=build_model(soc))
    result = in_rtl(replace(asked, max_cycles=10**8, stall_cycles=10**8))
    assert (result.exit_status, result.findings) == (0, ())
    assert result.text.endswith(" (right)\n")


@pytest.mark.parametrize("mutant", in_gate(["main", "ui"], -1))
def test_k1_an_application_on_the_wrong_stack_is_noticed(
    mutant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its stack is large enough for everything, so nothing but its place is wrong."""
    large = ("devices.cpu.stack.size=4 KiB", *SMALL[1:], *THREADS, "devices.cpu.stack.runs=net")
    folder = package(tmp_path / "bsp", "lagoon", large, DIGITS)
    name, wrong = "digits_int8_run_on_net", "cpu.ui.stack" if mutant == "ui" else "cpu.stack"
    if mutant == "main":
        edited, was, now = folder / "app" / "main.c", name, "digits_int8_run"
    else:
        edited = folder / "src" / "startup.S"
        was, now = "la      sp, atoll_net_stack_top", "la      sp, atoll_ui_stack_top"
    text = edited.read_text()
    assert was in text
    edited.write_text(text.replace(was, now))
    if mutant == "main":
        # Its own declaration would clash.
        edited.write_text(
            re.sub(r"\nint32_t digits_int8_run\([^;]*;\n", "\n", edited.read_text(), count=1)
        )
    cmake(folder, "zig")
    assert checked("lagoon", large, folder / "build" / "zig") == [1]
    told = " ".join(capsys.readouterr().err.split())
    assert "error[E201]: '" in told
    assert f"on '{wrong}'; the plan has it on 'cpu.net.stack'" in told
    remedy = f"call '{name}' from code on 'cpu.stack'"
    if mutant == "ui":
        remedy = f"help: let '{name}' set the stack pointer to 'atoll_net_stack_top'"
    assert remedy in told


@pytest.mark.parametrize("offset", in_gate([-1024, -16, 4, 64], 1, 3))
def test_k1_a_stack_pointer_that_is_at_no_end_is_named(
    offset: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = ("devices.cpu.stack.size=4 KiB", *SMALL[1:], *THREADS, "devices.cpu.stack.runs=net")
    folder = package(tmp_path / "bsp", "lagoon", large, DIGITS)
    edited, was = folder / "src" / "startup.S", "la      sp, atoll_net_stack_top"
    text = edited.read_text()
    assert was in text
    edited.write_text(text.replace(was, f"{was}{offset:+}"))
    cmake(folder, "zig")
    assert checked("lagoon", large, folder / "build" / "zig") == [1]
    told = " ".join(capsys.readouterr().err.split())
    assert "error[E183]: the stack is not bounded: digits_int8_run_on_net has its stack" in told
    assert f"which is 'atoll_net_stack_top' {offset:+}, where no stack ends" in told
    assert "help: set it to 'atoll_net_stack_top' itself, or pass --allow-unbounded" in told


@pytest.mark.parametrize(("core", "thread"), in_gate([("cpu", "net"), ("dsp", "thread0")]))
def test_k1_a_run_on_the_wrong_stack_is_a_violation(core: str, thread: str, tmp_path: Path) -> None:
    """Whoever linked the firmware: nothing was written to the stack that the plan names."""
    chip = load_soc("twin", (*DSP, *THREADS, "devices.cpu.stack.runs=net"))
    requests = load_requests(None, ["softmax_9=dsp"])
    compiled = compile_file(chip, Path(DIGITS), BuildOptions(requests=requests))
    tree = build((compiled,), tmp_path)
    sample = random_sample(compiled.graph)
    image = Image(models=(compiled,), elves=tree.firmware.elves)
    (right,) = run_image(image, [sample], cpu=CpuKind.ISS)
    assert right.report.passed
    assert right.report.stack[f"{core}.{thread}"].watermark
    wrong = replace(
        compiled, soc=on_threads(chip, load_requests(None, thread=[f"{core}={OTHER[core]}"]))
    )
    (judged,) = run_image(replace(image, models=(wrong,)), [sample], cpu=CpuKind.ISS)
    (violation,) = judged.report.violations
    assert (violation.rule, violation.number) == ("on another stack", "K1")
    assert violation.pool == f"{core}.{OTHER[core]}.stack"
