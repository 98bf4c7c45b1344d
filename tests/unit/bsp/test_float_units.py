# SPDX-License-Identifier: Apache-2.0
"""Compilers are told that a core has no floating-point unit where its instruction set has none."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.bsp.toolchain import TOOLCHAINS
from atoll.isa.find import instruction_set
from atoll.plugins.loading import load

SOURCE = "float product(float a, float b) { return a * b; }\n"
NONE = ("armv6-m", "armv7e-m", "armv8-m.main+dsp", "armv8.1-m.main", "armv8.1-m.main+mve")
SINGLE = ("armv7e-m+fp", "armv8.1-m.main+mve+fp")


@pytest.mark.parametrize("tools", TOOLCHAINS)
@pytest.mark.parametrize("isa", [*NONE, *SINGLE])
def test_floats_are_multiplied_by_what_the_core_has(isa: str, tools: str, tmp_path: Path) -> None:
    if not shutil.which("arm-none-eabi-objdump"):
        pytest.skip("arm-none-eabi-objdump is not installed")
    if tools == "clang" and not shutil.which("clang"):
        pytest.skip("clang is not installed")
    (tmp_path / "product.c").write_text(SOURCE)
    toolchain = load(TOOLCHAINS[tools])(instruction_set(*isa.split()))
    toolchain.compile("product.c", tmp_path / "product.o", folder=tmp_path)
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-dr", tmp_path / "product.o"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert bool(re.search(r"\bvmul\.f32\b", listing)) == (isa in SINGLE)
    assert ("__aeabi_fmul" in listing) == (isa in NONE)
