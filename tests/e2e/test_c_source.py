# SPDX-License-Identifier: Apache-2.0
"""Networks as C99: no compiler warns, every layer is exact, and firmware from it runs in RTL."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.c_program import STRICT, CProgram
from tests.effort import in_gate
from tests.goldens import exact_samples

from atoll.artifacts.build_tree import Emit, build
from atoll.artifacts.object_tree import build_objects
from atoll.cli import main
from atoll.codegen.c.source import WORKSPACE, emit_sources
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_models
from atoll.ir.tir import IRModule
from atoll.resolve import load_soc
from atoll_sim.host import native

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
VECTORS = ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp")
CORE = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c", "-mabi=ilp32")


def sources(compiled: Compiled) -> Mapping[str, str]:
    return emit_sources(compiled.module, compiled.plan, compiled.soc, compiled.commands)


def warnings(folder: Path, text: str, *compiler: str) -> str:
    (folder / "model.c").write_text(text)
    command = [*compiler, *STRICT, "-O2", "-c", "model.c", "-o", "model.o"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize(
    ("network", "chip", "settings"),
    in_gate(
        [
            (DIGITS, "twin", ()),
            (SAMPLER, "lagoon", ()),
            (DIGITS, "lagoon", VECTORS),
            *(
                pytest.param(network, chip, (), marks=pytest.mark.slow)
                for network, chip in zip(NETWORKS, ("twin", "lagoon") * 2, strict=True)
            ),
        ],
        1,
        2,
    ),
)
def test_neither_gcc_nor_clang_warns(
    network: Path | str,
    chip: str,
    settings: tuple[str, ...],
    shared_models: Path,
    tmp_path: Path,
) -> None:
    path = network if isinstance(network, Path) else shared_models / f"{network}.tflite"
    options = BuildOptions(accelerators=chip == "twin")
    for text in sources(compile_file(load_soc(chip, settings), path, options)).values():
        assert not warnings(tmp_path, text, sys.executable, "-m", "ziglang", "cc", *CORE)
        if shutil.which("gcc"):
            assert not warnings(tmp_path, text, "gcc")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    ("network", "settings"),
    in_gate([*((each, ()) for each in NETWORKS), ("kws_ref_model", VECTORS)], 0, 3, 4),
)
def test_every_layer_equals_the_goldens(
    shared_models: Path,
    network: str,
    settings: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def program(module: IRModule, **_: Any) -> CProgram:
        return CProgram(module, tmp_path)

    monkeypatch.setattr(native, "NativeProgram", program)
    path = shared_models / f"{network}.tflite"
    compiled = compile_file(load_soc("lagoon", settings), path, BuildOptions(accelerators=False))
    assert ("dot(" in str(compiled.module)) is (settings == VECTORS)
    exact_samples(compiled, shared_models / "golden")


@pytest.mark.rtl
@pytest.mark.parametrize("chip", ["lagoon", pytest.param("twin", marks=pytest.mark.slow)])
def test_firmware_from_c_runs_exactly(chip: str, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    command = ["build", chip, str(DIGITS), str(SAMPLER), "--emit", "c", "-o", str(folder)]
    if chip == "lagoon":
        command += ["--set", "devices.npu.params.vector=1"]
    assert main(command) == 0
    assert "for (int32_t" in (folder / "digits_int8" / "model.c").read_text()
    assert main(["simulate", str(folder)]) == 0


def test_the_prototypes_are_those_of_the_headers(tmp_path: Path) -> None:
    build(compile_models(load_soc("twin"), [DIGITS]), tmp_path / "build", emit=Emit.C)
    includes = ("atoll_runtime.h", "atoll_devices.h", "atoll_workspace.h")
    text = "".join(f'#include "{name}"\n' for name in includes)
    text += WORKSPACE + (tmp_path / "build" / "model.c").read_text()
    compiler = (sys.executable, "-m", "ziglang", "cc", *CORE, f"-I{tmp_path}/build/bsp")
    assert not warnings(tmp_path, text, *compiler)
    wrong = text.replace("int32_t atoll_npu_wait(int32_t device);", "int32_t atoll_npu_wait(void);")
    assert "conflicting types" in warnings(tmp_path, wrong, *compiler)


def test_objects_are_made_from_c(tmp_path: Path) -> None:
    models = compile_models(load_soc("twin"), [DIGITS])
    build_objects(models, tmp_path / "c", emit=Emit.C)
    build_objects(models, tmp_path / "object")
    names = {path.name for path in (tmp_path / "object").iterdir()}
    assert {path.name for path in (tmp_path / "c").iterdir()} == names | {"model.c", "dsp_model.c"}


def test_a_compiler_that_refuses_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    command = ["build", "lagoon", str(DIGITS), "--emit", "c", "--toolchain", "gcc"]
    assert main([*command, "-o", str(tmp_path / "build")]) == 1
    assert "error[E070]" in capsys.readouterr().err
    assert not (tmp_path / "build").exists()
