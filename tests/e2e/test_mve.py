# SPDX-License-Identifier: Apache-2.0
"""Vectors of Cortex-M55 and M85: code with MVE gives the reference's bytes on QEMU's mps3-an547."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.e2e.test_targets import objects

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
M85 = Path(__file__).parents[1] / "data" / "an547_m85.yaml"
PROGRAM = Path(__file__).with_name("cortex_m55.c")
SCRIPT = """SECTIONS {
  .text 0 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  .exception : { *(.ARM.ex*) }
  .constants 0x01000000 : { *(.atoll.pool*) }
  .data 0x21000000 : { *(.data*) *(.bss*) }
}
"""
GCC = ("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mfloat-abi=soft", "-O1", "-ffreestanding")
HELPERS = ("__aeabi_memcpy", "__aeabi_memset")
QEMU = ("qemu-system-arm", "-M", "mps3-an547", "-display", "none", "-monitor", "none")
PIPES = ("-serial", "none", "-semihosting-config", "enable=on,target=native")


@pytest.mark.skipif(shutil.which(GCC[0]) is None, reason=f"needs {GCC[0]}")
@pytest.mark.skipif(shutil.which(QEMU[0]) is None, reason=f"needs {QEMU[0]}")
def test_vectors_give_the_bytes_of_the_reference(tmp_path: Path) -> None:
    folder = objects(tmp_path / "out", "cortex_m55", "armv8.1-m.main+mve", network=DIGITS)
    graph = compile_file(load_soc("lagoon"), DIGITS, BuildOptions(accelerators=False)).graph
    (sample,) = random_sample(graph)
    image = ",".join(map(str, sample["image"].ravel()))
    (folder / "image.h").write_text(f"static const int8_t image[] = {{{image}}};\n")
    (folder / "script.ld").write_text(SCRIPT)
    sources = (str(PROGRAM), "digits_int8.o", "-lgcc")
    aliases = [f"-Wl,--defsym={name}{n}={name}" for name in HELPERS for n in (4, 8)]
    options = ("-fno-tree-loop-distribute-patterns", "-nostdlib", "-Tscript.ld", "-I.")
    command = [*GCC, *options, *aliases, *sources, "-o", "program.elf"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    command = [*QEMU, *PIPES, "-kernel", "program.elf"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    made = np.array([int(word, 16) for word in (done.stdout + done.stderr).split()], np.uint8)
    expected = reference.run(graph, sample)["softmax_9_out"].reshape(-1)
    assert made.view(np.int8).tolist() == expected.tolist()


@pytest.mark.skipif(shutil.which(QEMU[0]) is None, reason=f"needs {QEMU[0]}")
def test_a_cortex_m85_runs_the_code_of_a_cortex_m55(tmp_path: Path) -> None:
    made = {
        (objects(tmp_path / core, core, "armv8.1-m.main+mve", network=DIGITS) / "digits_int8.o")
        .read_bytes()
        .replace(core.encode(), b"")
        for core in ("cortex_m55", "cortex_m85")
    }
    assert len(made) == 1
    compiled = compile_file(load_soc(M85), DIGITS, BuildOptions(accelerators=False))
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.QEMU,
        accelerator=AcceleratorKind.NONE,
    )
    assert outcome.report.passed
