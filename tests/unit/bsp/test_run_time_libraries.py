# SPDX-License-Identifier: Apache-2.0
"""Applications that need the compiler's run-time library link, and their stacks are bounded."""

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest
from elftools.elf.elffile import ELFFile

from atoll.bsp.interface import Firmware
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc

CORES = {
    "picorv32": ("rv32im", "rv32imc"),
    "ibex": ("rv32imc_zba_zbb_zbs",),
    "riscv": (
        *("rv32e", "rv32em", "rv32emc", "rv32i", "rv32imac", "rv32imafc", "rv32imafc ilp32"),
        *("rv64imac", "rv64gc", "rv64gc lp64f", "rv64gc lp64"),
    ),
    "cortex_m0plus": ("armv6-m",),
    "cortex_m3": ("armv7-m",),
    "cortex_m4": ("armv7e-m+fp", "armv7e-m+fp aapcs", "armv7e-m"),
    "cortex_m7": ("armv7e-m+fp.dp",),
    "cortex_m33": ("armv8-m.main+dsp+fp", "armv8-m.main+dsp", "armv8-m.main"),
    "cortex_m55": (
        *("armv8.1-m.main+mve", "armv8.1-m.main+mve+fp", "armv8.1-m.main+mve.fp+fp.dp"),
        *("armv8.1-m.main+dsp", "armv8.1-m.main"),
    ),
    "cortex_m23": ("armv8-m.base",),
    "cortex_m52": ("armv8.1-m.main+mve",),
    "cortex_m85": ("armv8.1-m.main+mve",),
}
"""Instruction sets, with a calling convention that is not the usual one, by a core."""

COMPLETE = ("rv64gc",)
"""Instruction sets that divide 64 bits and compute with doubles, so that nothing is linked."""

QUICK = (
    ("zig", "rv32imc"),
    ("gcc", "rv32e"),
    ("gcc", "rv32imc"),
    ("gcc", "rv64gc lp64"),
    ("gcc", "armv6-m"),
    ("gcc", "armv8-m.main+dsp"),
)
"""What the gate tries of them; `make test-all` tries all."""

ARITHMETIC = """
RUN {
  (void)in;
  (void)out;
  volatile int64_t wide = 1234567890123LL;
  volatile uint64_t positive = 1234567890123ULL;
  volatile float real = 1.5f;
  volatile double exact = 2.5;
  wide = wide / (wide - 5) + wide % 77 + (wide << (positive & 31u));
  positive = positive / 7u + positive % 11u;
  real = real * real / 3.0f + (float)wide;
  exact = exact / (double)real - (double)positive;
  return (int32_t)exact + (int32_t)(wide * 3);
}
"""


def cases() -> list[object]:
    """Return all of them; clang 14 does not know the convention of RV32E."""
    every = [
        (tools, core, isa)
        for core, isas in CORES.items()
        for isa in isas
        for tools in ("gcc", "clang", "zig")
        if tools != "clang" or not isa.startswith("rv32e")
    ]
    return [
        pytest.param(*each, marks=() if (each[0], each[2]) in QUICK else pytest.mark.slow)
        for each in every
    ]


@pytest.mark.parametrize(("tools", "core", "isa"), cases())
def test_division_and_floats_are_linked(
    tools: str,
    core: str,
    isa: str,
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    name, _, abi = isa.partition(" ")
    words = [f"devices.cpu.core={core}", f"devices.cpu.isa={name}"]
    words += [f"devices.cpu.abi={abi}"] * bool(abi)
    chosen = load_soc("lagoon", words).host_cpu
    target = chosen.instructions.gcc
    assert target is not None
    program = target.program if tools == "gcc" else tools
    if program != "zig" and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    cpu = replace(make_cpu(), spec=chosen.spec, instructions=chosen.instructions, toolchain=tools)
    firmware = build(ARITHMETIC, make_soc(cpu))
    with firmware.elves[0].open("rb") as file:
        assert ELFFile(file).elfclass == chosen.instructions.bits
    assert firmware.stacks["cpu"].bytes > 0
    assert linked(firmware) == (tools != "gcc" and name not in COMPLETE)


@pytest.mark.parametrize("tools", ["zig", "clang"])
def test_the_library_is_built_only_for_what_needs_it(
    tools: str,
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    if tools != "zig" and shutil.which(tools) is None:
        pytest.skip(f"needs {tools}")
    simple = ARITHMETIC.partition("volatile")[0] + "return 0; }"
    firmware = build(simple, make_soc(replace(make_cpu(), toolchain=tools)))
    assert not linked(firmware)


def linked(firmware: Firmware) -> bool:
    """Say whether the compiler's run-time library of Atoll is beside the objects."""
    return any(firmware.elves[0].parent.rglob("compiler_rt.o"))
