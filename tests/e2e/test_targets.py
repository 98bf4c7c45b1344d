# SPDX-License-Identifier: Apache-2.0
"""Objects of networks for every core that ships: made, linked by real linkers, run on x86-64."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from tests import tflite_builder
from tests.cores import described
from tests.tflite_samples import conv_add_conv

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.description.core_files import known_cores
from atoll.driver.pipeline import compile_file
from atoll.isa.find import instruction_set
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll.utils.cache import cache_folder

PAIRS = [
    (core, isa)
    for core in known_cores()
    if described(core).uncached is None
    for isa in described(core).isas
]
"""All that lagoon can have."""

ALIKE = {
    (instruction_set(isa).family, instruction_set(isa).abi): (core, isa) for core, isa in PAIRS
}
"""One core of each family and calling convention."""

LINKERS = {
    "EM_RISCV": {32: "elf32lriscv", 64: "elf64lriscv"},
    "EM_ARM": {32: "armelf"},
    "EM_AARCH64": {64: "aarch64elf"},
    "EM_QDSP6": {32: "hexagonelf"},
    "EM_X86_64": {64: "elf_x86_64"},
}
FIRMWARE = """
#include "atoll_port.h"
#include "conv_add_conv.h"
void atoll_trace_begin(int32_t device, int32_t number) { (void)device, (void)number; }
void atoll_trace_end(int32_t device, int32_t number) { (void)device, (void)number; }
int32_t atoll_guard_check(int32_t status) { return status; }
float scale(float x) { return x * 0.5f; }
int32_t convolve(const int8_t *image, int8_t *result);
int32_t convolve(const int8_t *image, int8_t *result) {
  const struct conv_add_conv_inputs inputs = {.act = image};
  const struct conv_add_conv_outputs outputs = {.conv_2d_2_out = result};
  return conv_add_conv_run(&inputs, &outputs);
}
"""
PROGRAM = """
#include <stdio.h>
#include <stdint.h>
int32_t convolve(const int8_t *image, int8_t *result);
static int8_t image[1024], result[256];
uint8_t atoll_pool_private[65536] __attribute__((aligned(16)));
uint8_t atoll_pool_shared[65536] __attribute__((aligned(16)));
int main(void) {
  if (fread(image, 1, sizeof image, stdin) != sizeof image || convolve(image, result)) return 1;
  return fwrite(result, 1, sizeof result, stdout) != sizeof result;
}
"""


def written(folder: Path) -> Path:
    """Write the network beside `folder`."""
    path = folder.parent / "conv_add_conv.tflite"
    path.write_bytes(tflite_builder.write(conv_add_conv(tflite_builder)))
    return path


def objects(folder: Path, core: str, isa: str, *more: str, network: Path | None = None) -> Path:
    """Build a network, a small one unless named, for a core; return the folder."""
    path = network or written(folder)
    words = ["build", "lagoon", str(path), "--objects", "--no-accelerators", "-o", str(folder)]
    words += ["--set", f"devices.cpu.core={core}", "--set", f"devices.cpu.isa={isa}", *more]
    assert main(words) == 0
    return folder


def zig(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    cache = str(cache_folder() / "zig")
    return subprocess.run(
        [sys.executable, "-m", "ziglang", *words],
        cwd=folder,
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )


def linked(folder: Path, isa: str, abi: str) -> str:
    """Link the object with C of a calling convention; return what the linker says."""
    (folder / "firmware.c").write_text(FIRMWARE)
    target = instruction_set(isa, abi).zig
    options = ("-target", target.target, f"-mcpu={target.cpu}", *target.options, "-ffreestanding")
    done = zig("cc", *options, "-c", "firmware.c", "-o", "firmware.o", folder=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "firmware.o").open("rb") as file:
        elf = ELFFile(file)
        emulation = LINKERS[elf["e_machine"]][elf.elfclass]
    needs = json.loads((folder / "objects.json").read_text())["objects"][0]["needs"]
    given = [f"--defsym={name}=0x20000000" for name in needs if name.startswith("atoll_pool_")]
    parts = ("firmware.o", "conv_add_conv.o", "-r", "-o", "all.o")
    return zig("ld.lld", "-m", emulation, *given, *parts, folder=folder).stderr


@pytest.mark.parametrize(
    ("core", "isa"),
    [
        pytest.param(*each, marks=() if each in ALIKE.values() else pytest.mark.slow)
        for each in PAIRS
    ],
)
def test_objects_of_every_core_can_be_linked(core: str, isa: str, tmp_path: Path) -> None:
    folder = objects(tmp_path / "out", core, isa)
    said = json.loads((folder / "objects.json").read_text())["objects"][0]
    each = instruction_set(isa)
    assert (said["isa"], said["abi"]) == (isa, each.abi)
    abis = each.abis if each.family in ("thumb", "arm") else (each.abi,)
    for abi in abis:
        assert linked(folder, isa, abi) == "", "Arm's fit both floating-point conventions"


def test_a_linker_compares_the_calling_convention(tmp_path: Path) -> None:
    folder = objects(tmp_path / "out", "riscv", "rv32imafc", "--set", "devices.cpu.abi=ilp32")
    assert linked(folder, "rv32imafc", "ilp32") == ""
    assert "floating-point ABI" in linked(folder, "rv32imafc", "ilp32f")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs an x86-64 host")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_host_runs_its_objects(tmp_path: Path) -> None:
    folder = objects(tmp_path / "out", "x86_64", "x86-64")
    (folder / "firmware.c").write_text(FIRMWARE)
    (folder / "program.c").write_text(PROGRAM)
    parts = ("program.c", "firmware.c", "conv_add_conv.o", "-o", "program")
    command = ["gcc", "-O1", "-Wl,-z,noexecstack", *parts]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    graph = compile_file(load_soc("lagoon"), written(folder)).graph
    (sample,) = random_sample(graph)
    expected = reference.run(graph, sample)
    data = sample["act"].tobytes()
    made = subprocess.run([folder / "program"], input=data, capture_output=True, check=True)
    result = np.frombuffer(made.stdout, np.int8)
    assert result.tolist() == expected["conv_2d_2_out"].reshape(-1).tolist()
