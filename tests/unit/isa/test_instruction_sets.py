# SPDX-License-Identifier: Apache-2.0
"""Instruction sets by name: what compilers are told, and what is refused."""

import re

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.isa.objects import compiled_by_zig, of_llvm

from atoll.isa.find import NAMES, PATTERN, USUAL, instruction_set
from atoll.isa.instruction_set import Family

MACHINES = {
    Family.RISCV: "EM_RISCV",
    Family.THUMB: "EM_ARM",
    Family.ARM: "EM_ARM",
    Family.AARCH64: "EM_AARCH64",
    Family.HEXAGON: "EM_QDSP6",
    Family.X86: "EM_X86_64",
}
MORE = (
    *("armv7e-m", "armv8-m.base", "armv8-m.main", "armv8.1-m.main+dsp"),
    *("armv8.1-m.main+mve.fp+fp.dp", "hexagonv73", "x86-64-v3", "rv32imafdc", "rv32ec"),
)


NO_VECTORS = (
    *("rv32imcv", "rv64imafcv", "rv64gvc", "rv64gcv_zve32x", "rv64gcv_zvl64b", "rv32imc_zvl128b"),
    *("rv32imc_zve32x_zba", "rv32imc_zvl128b_zve32x", "rv32imc_zve32x_zvl96b", "rv32emc_zve32x"),
)
"""V needs floats of 64 bits, and registers of 128; what is longer comes behind it."""


@given(st.from_regex(PATTERN, fullmatch=True))
def test_every_name_of_the_pattern_is_one(name: str) -> None:
    found = instruction_set(name)
    assert found.name == name
    assert found.abi == found.abis[0]
    for abi in found.abis:
        assert instruction_set(name, abi).abi == abi


@pytest.mark.parametrize(
    "name",
    ["", "rv32", "rv32mi", "rv64e", "armv7m", "armv7-m+fp", "rv32imc_zbs_zba", "x86", *NO_VECTORS],
)
def test_no_other_name_is_one(name: str) -> None:
    assert not NAMES.fullmatch(name)
    with pytest.raises(ValueError, match="no instruction set"):
        instruction_set(name)


@pytest.mark.parametrize(
    ("name", "abis"),
    [
        ("rv32imc", ("ilp32",)),
        ("rv32em", ("ilp32e",)),
        ("rv32imafc", ("ilp32f", "ilp32")),
        ("rv64gc", ("lp64d", "lp64f", "lp64")),
        ("rv64imac", ("lp64",)),
        ("rv32imafdc_zve32x", ("ilp32d", "ilp32f", "ilp32")),
        ("rv64gcv", ("lp64d", "lp64f", "lp64")),
        ("armv6-m", ("aapcs",)),
        ("armv7e-m+fp", ("aapcs-vfp", "aapcs")),
        ("armv8.1-m.main+mve", ("aapcs",)),
        ("aarch64", ("aapcs64",)),
    ],
)
def test_calling_conventions(name: str, abis: tuple[str, ...]) -> None:
    assert instruction_set(name).abis == abis
    with pytest.raises(ValueError, match="'sysv9'"):
        instruction_set(name, "sysv9")


@pytest.mark.parametrize("name", [*USUAL, *MORE])
def test_llvm_and_zig_make_objects_of_one_kind(name: str) -> None:
    """What LLVM makes and what the C compiler makes can be linked: machine, class, flags."""
    for abi in instruction_set(name).abis:
        each = instruction_set(name, abi)
        ours, theirs = of_llvm(each), compiled_by_zig(each)
        for elf in (ours, theirs):
            assert elf["e_machine"] == MACHINES[each.family]
            assert elf.elfclass == each.bits
        if each.family is Family.RISCV:
            assert ours["e_flags"] == theirs["e_flags"], "compressed, embedded, floating point"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("armv6-m", {"TAG_CPU_ARCH": 12}),
        ("armv7-m", {"TAG_CPU_ARCH": 10}),
        ("armv7e-m", {"TAG_CPU_ARCH": 13, "TAG_FP_ARCH": None}),
        ("armv7e-m+fp", {"TAG_CPU_ARCH": 13, "TAG_FP_ARCH": 6, "TAG_ABI_HARDFP_USE": 1}),
        ("armv7e-m+fp.dp", {"TAG_FP_ARCH": 8, "TAG_ABI_HARDFP_USE": None}),
        ("armv8-m.main", {"TAG_CPU_ARCH": 17, "TAG_DSP_EXTENSION": None}),
        ("armv8-m.main+dsp", {"TAG_CPU_ARCH": 17, "TAG_DSP_EXTENSION": 1}),
        ("armv8.1-m.main+mve", {"TAG_CPU_ARCH": 21, "TAG_MVE_ARCH": 1}),
        ("armv8.1-m.main+mve.fp", {"TAG_CPU_ARCH": 21, "TAG_MVE_ARCH": 2}),
    ],
)
def test_arm_objects_say_what_they_need(name: str, words: dict[str, int | None]) -> None:
    each = instruction_set(name)
    for elf in (of_llvm(each), compiled_by_zig(each)):
        found = attributes(elf)
        assert {tag: found.get(tag) for tag in words} == words


def attributes(elf: ELFFile) -> dict[str, object]:
    section = elf.get_section_by_name(".ARM.attributes")
    assert isinstance(section, ARMAttributesSection)
    (scope,) = [each for part in section.iter_subsections() for each in part.iter_subsubsections()]
    return {each.tag: each.value for each in scope.iter_attributes()}


@pytest.mark.parametrize("name", ["armv7e-m+fp", "armv8-a", "armv6-m"])
def test_arm_objects_fit_both_floating_point_conventions(name: str) -> None:
    assert attributes(of_llvm(instruction_set(name)))["TAG_ABI_VFP_ARGS"] == 3
    for abi in instruction_set(name).abis:
        hard = attributes(compiled_by_zig(instruction_set(name, abi))).get("TAG_ABI_VFP_ARGS")
        assert hard == (1 if abi == "aapcs-vfp" else None)


def test_zig_names_every_feature() -> None:
    assert all(re.fullmatch(r"[a-z0-9_+-]+", instruction_set(name).zig.cpu) for name in USUAL)
