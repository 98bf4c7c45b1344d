# SPDX-License-Identifier: Apache-2.0
"""Build attributes of an image that ask for more than the core has, and those that do not."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.image.test_stack_questions import held, linked

from atoll.resolve import load_soc
from atoll_image.convention import convention_faults
from atoll_image.elf import ElfImage

CORES = {
    "m0": ("cortex_m0plus", "armv6-m"),
    "m3": ("cortex_m3", "armv7-m"),
    "m4": ("cortex_m4", "armv7e-m+fp"),
    "m4 soft": ("cortex_m4", "armv7e-m"),
    "m7": ("cortex_m7", "armv7e-m+fp.dp"),
    "m7 single": ("cortex_m7", "armv7e-m+fp"),
    "m33": ("cortex_m33", "armv8-m.main+dsp+fp"),
    "m33 small": ("cortex_m33", "armv8-m.main"),
    "m55": ("cortex_m55", "armv8.1-m.main+mve"),
    "a32": ("cortex_a32", "armv8-a"),
}
M = {"CPU_ARCH_PROFILE": 77, "THUMB_ISA_USE": 2}
V7, V7E, V8 = {**M, "CPU_ARCH": 10}, {**M, "CPU_ARCH": 13}, {**M, "CPU_ARCH": 17}
SINGLE, DOUBLE = {"FP_ARCH": 6, "ABI_HARDFP_USE": 1}, {"FP_ARCH": 8}
FIVE = {"FP_ARCH": 8, "ABI_HARDFP_USE": 1}
A9 = {"CPU_ARCH": 10, "CPU_ARCH_PROFILE": 65, "ARM_ISA_USE": 1, "THUMB_ISA_USE": 2}


def said(core: str, image: ElfImage) -> str:
    name, isa = CORES.get(core, ("riscv", core))
    words = (f"devices.cpu.core={name}", f"devices.cpu.isa={isa}")
    return "; ".join(
        each.message for each in convention_faults(image, load_soc("lagoon", words).host_cpu)
    )


def image(machine: str, attributes: dict[str, object], flags: int = 0, bits: int = 32) -> ElfImage:
    return ElfImage(
        machine=machine,
        bits=bits,
        flags=flags,
        entry=0,
        sections=(),
        symbols={},
        attributes={f"TAG_{name}": value for name, value in attributes.items()},
    )


@pytest.mark.parametrize(
    ("core", "attributes", "wrong"),
    [
        ("m4", {**V7E, **SINGLE}, ""),
        ("m4", {**V7E, **DOUBLE}, "Tag_FP_arch is 8, FPv5-D16, double precision; the core has"),
        ("m4", {**V7E, "FP_ARCH": 6}, "armv7e-m+fp, VFPv4-D16, single precision"),
        ("m4", {**V7E, **FIVE}, "Tag_FP_arch is 8, FPv5-D16, single precision"),
        ("m4 soft", {**V7E, **SINGLE}, "armv7e-m, no floating-point unit"),
        ("m7", {**V7E, **DOUBLE}, ""),
        ("m7 single", {**V7E, **FIVE}, ""),
        ("m7 single", {**V7E, **DOUBLE}, "double precision; the core has armv7e-m+fp"),
        ("m7", {**V7E, "FP_ARCH": 3}, "Tag_FP_arch is 3, VFPv3"),
        ("m33", {**V8, **FIVE, "DSP_EXTENSION": 1}, ""),
        ("m33 small", {**V8, "DSP_EXTENSION": 1}, "Tag_DSP_extension is 1"),
        ("m33", {**V8, "MVE_ARCH": 1}, "Tag_MVE_arch is 1"),
        ("m55", {**V8, "CPU_ARCH": 21, "MVE_ARCH": 1, "DSP_EXTENSION": 1}, ""),
        ("m55", {**V8, "CPU_ARCH": 21, "MVE_ARCH": 2}, "MVE of integers alone"),
        ("m4", A9, "Tag_CPU_arch_profile is A; the core's is M; Tag_ARM_ISA_use is 1"),
        ("m4", {**V7E, "ADVANCED_SIMD_ARCH": 1}, "Tag_Advanced_SIMD_arch is 1"),
        ("m3", V7E, "Tag_CPU_arch is 13"),
        ("m3", {**V7, "DIV_USE": 2}, ""),
        ("m0", {**M, "CPU_ARCH": 12, "THUMB_ISA_USE": 1}, ""),
        ("m0", {"CPU_ARCH": 8, "THUMB_ISA_USE": 2}, "Tag_THUMB_ISA_use is 2"),
        ("m0", {"CPU_ARCH": 2, "THUMB_ISA_USE": 1}, ""),
        ("m0", {"CPU_ARCH": 2, "ARM_ISA_USE": 1}, "Tag_ARM_ISA_use is 1"),
        ("m0", {**M, "CPU_ARCH": 12, "CPU_UNALIGNED_ACCESS": 1}, "Tag_CPU_unaligned_access is 1"),
        ("m0", {**M, "CPU_ARCH": 12, "DIV_USE": 2}, "Tag_DIV_use is 2"),
        ("a32", {**A9, "FP_ARCH": 5, "ADVANCED_SIMD_ARCH": 2, "DIV_USE": 2}, ""),
        ("a32", {**A9, "CPU_ARCH": 14, "ADVANCED_SIMD_ARCH": 4}, "Tag_Advanced_SIMD_arch is 4"),
        ("a32", V7E, "Tag_CPU_arch_profile is M; the core's is A"),
        ("m4", {}, ""),
    ],
)
def test_attributes_of_arm(core: str, attributes: dict[str, object], wrong: str) -> None:
    found = said(core, image("EM_ARM", attributes))
    assert wrong in found if wrong else not found, found


SMALL = "zve32x1p0_zvl32b1p0"
LARGE = (
    "v1p0_zve32f1p0_zve32x1p0_zve64d1p0_zve64f1p0_zve64x1p0_zvl128b1p0_zvl32b1p0_zvl64b1p0"
    "_d2p2_f2p2"
)
"""Vectors as LLVM writes them into attributes."""


@pytest.mark.parametrize(
    ("core", "arch", "flags", "wrong"),
    [
        ("rv32imc", "rv32i2p1_m2p0_c2p0_zmmul1p0_zca1p0", 1, ""),
        ("rv32im", "rv32i2p1_m2p0", 1, "the ELF flags say RVC"),
        ("rv32im", "rv32i2p1_m2p0_c2p0", 1, "with extension c; the core has rv32im"),
        ("rv32i", "rv32i2p1_zmmul1p0", 0, "with extension zmmul"),
        ("rv32imc", "rv32i2p1_m2p0_a2p0_zba1p0", 0, "with extensions a, zba"),
        ("rv32imc_zba_zbb_zbs", "rv32i2p1_m2p0_b1p0_zba1p0_zbb1p0_zbs1p0", 0, ""),
        ("rv32emc", "rv32i2p1_m2p0", 8, "with 32 registers; the core has rv32emc"),
        ("rv32emc", "rv32e2p0_m2p0", 8, ""),
        ("rv32imc", "rv32e2p0_m2p0", 8, "the calling convention ilp32e"),
        ("rv32imafc", "rv32i2p1_f2p2_zcf1p0", 2, ""),
        ("rv32imc_zve32x", f"rv32i2p1_m2p0_{SMALL}", 0, ""),
        ("rv32imafdc_zve32x_zvl128b", f"rv32i2p1_m2p0_{SMALL}_zvl64b1p0_zvl128b1p0", 0, ""),
        ("rv32imc_zve32x", f"rv32i2p1_{SMALL}_zvl64b1p0_zvl128b1p0", 0, "with extension zvl128b;"),
        ("rv32imc", f"rv32i2p1_m2p0_{SMALL}", 0, "with extension zve32x; the core has rv32imc"),
        ("rv32gcv", f"rv32i2p1_m2p0_{SMALL}_zvl64b1p0_zvl128b1p0", 0, ""),
        ("rv32gcv", f"rv32i2p1_m2p0_{LARGE}", 0, ""),
        ("rv32imafdc_zve32x", f"rv32i2p1_m2p0_{LARGE}", 0, "with extension v; the core has"),
        ("rv32imafc", "rv32i2p1_f2p2_d2p2", 4, "the calling convention ilp32d"),
    ],
)
def test_attributes_of_riscv(core: str, arch: str, flags: int, wrong: str) -> None:
    found = said(core, image("EM_RISCV", {"ARCH": arch}, flags))
    assert wrong in found if wrong else not found, found


def test_unaligned_accesses_of_riscv_where_the_core_traps() -> None:
    soc = load_soc("lagoon")
    asked = image("EM_RISCV", {"UNALIGNED_ACCESS": 1})
    assert soc.host_cpu.spec.misaligned == "traps"
    (fault,) = convention_faults(asked, soc.host_cpu)
    assert "Tag_RISCV_unaligned_access is 1" in fault.message
    spec = replace(soc.host_cpu.spec, misaligned=None)
    assert not [*convention_faults(asked, replace(soc.host_cpu, spec=spec))]


@pytest.mark.parametrize(
    ("flags", "wrong"),
    [
        ("-mcpu=cortex_m4", ""),
        ("-mcpu=cortex_m7+fp_armv8d16", "Tag_FP_arch is 8, FPv5-D16, double precision"),
        ("-mcpu=cortex_m33", "Tag_CPU_arch is 17"),
        ("-mcpu=cortex_a9", "Tag_CPU_arch_profile is A; the core's is M"),
    ],
)
def test_an_image_of_another_core(
    flags: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hard = ("-DHANDLED=20", "-target", "thumb-freestanding-eabihf", flags)
    _, _, err = held(linked(tmp_path, *hard), capsys)
    assert wrong in err if wrong else not err, err


def test_attributes_longer_than_their_section_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A length that leads past the section had megabytes of the file read again and again."""
    elf = linked(tmp_path)
    data = bytearray(elf.read_bytes())
    at = data.index(b"aeabi\0") + len(b"aeabi\0") + 1
    data[at : at + 4] = b"\xff\xff\xff\x7f"
    elf.write_bytes(data)
    status, _, err = held(elf, capsys)
    assert status == 1
    assert "error[E141]" in err
