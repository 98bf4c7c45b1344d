# SPDX-License-Identifier: Apache-2.0
"""Vectors of RISC-V: code for zve32x and v gives the reference's bytes, however long they are.

QEMU's cores have vector registers of 128 to 1024 bits, and 7.2 those of 32 and 64 bits if it is
asked for Zve32f.
"""

import random
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.property.test_random_networks import Network, runs_as_planned

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
MACHINES = ROOT / "examples" / "08_qemu_machines"
MODELS = Path("/work/shared/models")
SMALL = "rv32imafdc_zve32x"
LARGE = "rv64gcv"
LENGTHS = {SMALL: (32, 64, 128, 256, 1024), LARGE: (128, 256, 1024)}
CASES = [(isa, length) for isa, lengths in LENGTHS.items() for length in lengths]
CHOICES = (Network.convolution, Network.depthwise, Network.pool, Network.arithmetic)
SLOW = pytest.mark.slow


COMPILERS = {"gcc": "riscv64-unknown-elf-gcc", "clang": "clang"}


def chip(isa: str, *changes: str) -> ResolvedSoc:
    path = MACHINES / f"virt_{isa[:4]}.yaml"
    return load_soc(str(path), (f"devices.cpu.isa={isa}", *changes))


@cache
def runs(program: str, core: str) -> bool:
    command = [program, "-M", "virt", "-cpu", core, "-bios", "none", "-nodefaults"]
    options = ["-display", "none", "-S", "-monitor", "stdio"]
    done = subprocess.run(
        [*command, *options], input="quit\n", capture_output=True, text=True, timeout=60
    )
    return done.returncode == 0


@pytest.fixture
def with_length(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Return what gives QEMU's core vector registers of some length."""

    def choose(isa: str, length: int) -> None:
        program = f"qemu-system-riscv{isa[2:4]}"
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
        kind = "Zve32f=true,elen=32" if isa == SMALL else "v=true,elen=64"
        if isa == SMALL and length >= 128:
            kind = "v=true,elen=32"
        core = f"{isa[:4]},{kind},vlen={length}"
        if not runs(program, core):
            pytest.skip(f"this {program} has no core '{core}'")
        for module in ("machine", "probe"):
            monkeypatch.setattr(f"atoll_sim.qemu.{module}.core_options", lambda _: ("-cpu", core))

    return choose


def run(
    soc: ResolvedSoc,
    network: Path,
    cpu: CpuKind = CpuKind.QEMU,
    values: NDArray[np.int8] | None = None,
) -> None:
    compiled = compile_file(soc, network, BuildOptions(accelerators=False))
    samples = random_sample(compiled.graph)
    if values is not None:
        samples = tuple(dict.fromkeys(sample, values) for sample in samples)
    (outcome,) = run_models((compiled,), (samples,), cpu=cpu, accelerator=AcceleratorKind.NONE)
    assert outcome.report.passed


@pytest.mark.parametrize(
    ("isa", "length"),
    [case if case == (SMALL, 128) else pytest.param(*case, marks=SLOW) for case in CASES],
)
def test_digits(isa: str, length: int, with_length: Callable[[str, int], None]) -> None:
    with_length(isa, length)
    run(chip(isa), DIGITS)


def test_the_host_computes_the_same_programs() -> None:
    run(chip(SMALL), DIGITS, CpuKind.NATIVE)


@pytest.mark.parametrize("largest", [2.0, 0.25], ids=["both ways", "down"])
def test_halves_are_rounded_as_the_reference_does(
    largest: float,
    tflite_builder: ModuleType,
    with_length: Callable[[str, int], None],
    tmp_path: Path,
) -> None:
    """Each input times some weights, by factors that are powers of two: most results are halves."""
    with_length(SMALL, 128)
    scales = (*(largest / 2**n for n in range(6)), 0.4 * largest)
    weights = np.tile(np.array([1, -1, 3, 5, -7, 2, 127], np.int8), 3)
    tensors = [
        tflite_builder.Tensor(shape=(1, 16, 16, 1), scales=(1.0,), zero_points=(0,)),
        tflite_builder.Tensor(
            shape=(21, 1, 1, 1),
            data=weights.reshape(21, 1, 1, 1),
            scales=tuple(np.repeat(scales, 3)),
            zero_points=(0,) * 21,
            axis=0,
        ),
        tflite_builder.Tensor(shape=(1, 16, 16, 21), scales=(1.0,), zero_points=(-3,)),
    ]
    operator = tflite_builder.Operator(
        code="CONV_2D",
        inputs=(0, 1),
        outputs=(2,),
        table="Conv2DOptions",
        options={"StrideH": 1, "StrideW": 1, "Padding": 0, "FusedActivationFunction": 0},
    )
    path = tmp_path / "network.tflite"
    model = tflite_builder.Model(
        tensors=tuple(tensors), operators=(operator,), inputs=(0,), outputs=(2,)
    )
    path.write_bytes(tflite_builder.write(model))
    run(chip(SMALL), path, values=np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16, 1))


@SLOW
@pytest.mark.parametrize(("isa", "length"), [(SMALL, 128), (LARGE, 128)])
def test_what_is_rounded_once(
    isa: str, length: int, with_length: Callable[[str, int], None]
) -> None:
    with_length(isa, length)
    run(chip(isa), DIGITS.with_name("digits_qdq.onnx"))


@SLOW
@pytest.mark.parametrize("target", ["plain", "small"])
def test_targets_without_vectors_and_for_size(target: str, tmp_path: Path) -> None:
    if shutil.which("qemu-system-riscv32") is None:
        pytest.skip("needs qemu-system-riscv32")
    path = tmp_path / "chip.yaml"
    targets = "{plain: {isa: rv32imafdc}, small: {optimise: size}}"
    path.write_text(
        f"extends: {MACHINES / 'virt_rv32.yaml'}\nsoc: mine\n"
        f"devices: {{cpu: {{isa: {SMALL}, targets: {targets}}}}}\n"
    )
    words = (str(path), str(DIGITS), "--cpu", "qemu", "--target", f"*={target}")
    assert main(["run", *words]) == 0


@SLOW
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
@pytest.mark.parametrize("isa", [SMALL, f"{SMALL}_zvl256b", LARGE])
def test_other_compilers_start_the_vectors(isa: str, toolchain: str) -> None:
    for program in (f"qemu-system-riscv{isa[2:4]}", COMPILERS[toolchain]):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    run(chip(isa, f"devices.cpu.toolchain={toolchain}"), DIGITS)


@SLOW
def test_kernels_in_c_give_the_same_bytes(tmp_path: Path) -> None:
    """Vectors of the C compiler's own are spilled, to frames that have no bound."""
    program = "qemu-system-riscv64"
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    words = (str(MACHINES / "virt_rv64.yaml"), str(DIGITS), "--set", f"devices.cpu.isa={LARGE}")
    assert main(["build", *words, "--emit", "c", "-o", str(tmp_path / "out")]) == 0
    assert main(["simulate", str(tmp_path / "out"), "--cpu", "qemu"]) == 0


@SLOW
@pytest.mark.parametrize(
    "model", ["ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8"]
)
@pytest.mark.parametrize(
    ("isa", "length"), [(SMALL, 32), (SMALL, 128), (SMALL, 256), (LARGE, 128), (LARGE, 256)]
)
def test_networks_of_mlperf_tiny(
    isa: str, length: int, model: str, with_length: Callable[[str, int], None]
) -> None:
    path = MODELS / f"{model}.tflite"
    if not path.exists():
        pytest.skip(f"needs {path.name}")
    with_length(isa, length)
    run(chip(isa), path)


@SLOW
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize(("isa", "length"), [(SMALL, 32), (SMALL, 256), (LARGE, 128)])
def test_random_networks(
    isa: str,
    length: int,
    seed: int,
    with_length: Callable[[str, int], None],
    tflite_builder: ModuleType,
    tmp_path: Path,
) -> None:
    with_length(isa, length)
    network = Network(tflite_builder, random.Random(f"strips {seed}"))
    network.begin()
    for _ in range(4):
        network.chance.choice(CHOICES)(network)
    network.dense()
    path = tmp_path / "network.tflite"
    path.write_bytes(network.written())
    runs_as_planned(path, chip(isa), accelerators=False, cpu=CpuKind.QEMU)
