# SPDX-License-Identifier: Apache-2.0
"""What cores trap on, by small programs: alignment, floats, protection, what a core does not have.

The programs run on simulated cores, and where there is one in the core's RTL or on QEMU.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import link, request
from tests.iss_program import run_program, script_of

from atoll.isa.find import instruction_set
from atoll.resolve import load_soc
from atoll_sim.build.model import build_model
from atoll_sim.simulate.session import simulate as in_rtl
from atoll_sim.trace.simulation import SimResult, Stop

pytest.importorskip("unicorn")

RISCV = """
    .option arch, +f, +d, +m, +a, +zicsr
    .equ RAM, 0x10000000
    .globl _start
_start:
    {table}
    li s0, RAM
    li s1, 0x03020100
    sw s1, 0(s0)
    li s1, 0x07060504
    sw s1, 4(s0)
    li s1, 0
    {text}
    li a0, 99
leave:
    li t6, 0xF0000000
    sw a0, 4(t6)
1:  j 1b
    .section .table, "ax"
    .balign 256
handler:
    {trapped}
    j leave
"""
TABLE = "la t0, handler\n csrw mtvec, t0"
CAUSE = "csrr a0, mcause\n slli a0, a0, 8\n or a0, a0, s1"
"""The result of a trap: its cause, and s1, which tells how far the program was."""

WORD_AT_1 = """
    li s1, 1
    addi s1, s1, 1
    lw a0, 1(s0)
    addi s1, s1, 1
    li t0, 0x04030201
    bne a0, t0, leave
    sh s1, 3(s0)
    addi s1, s1, 1
    lw a0, 0(s0)
    srli a0, a0, 24
    j leave
"""
STORED_AT_1 = """
    li s1, 5
    sw s1, 1(s0)
    li s1, 9
"""
CLOSED = """
    li s1, 1
    lw a0, 0x40(s0)
    sw a0, 0x40(s0)
    li t0, RAM + 0x44
    srli t0, t0, 2
    csrw pmpaddr1, t0
    li t0, RAM + 0x40
    srli t0, t0, 2
    csrw pmpaddr0, t0
    li t0, 0x0000890F
    csrw pmpcfg0, t0
    lw a0, 0x40(s0)
    li s1, 2
    sw a0, 0x44(s0)
    sw a0, 0x3c(s0)
    li s1, 3
    sw zero, 0x40(s0)
    li s1, 4
"""
NO_CODE = """
    li s1, 1
    la t1, 3f
    jalr ra, t1
    la t0, 3f
    srli t0, t0, 2
    csrw pmpaddr0, t0
    li t0, 0x91
    csrw pmpcfg0, t0
    li s1, 2
    jalr ra, t1
    li s1, 3
    j leave
    .balign 8
3:  ret
    nop
"""
LOCKED = """
    li t0, 0x10000080
    srli t0, t0, 2
    csrw pmpaddr0, t0
    li t0, 0x98
    csrw pmpcfg0, t0
    csrw pmpcfg0, zero
    csrw pmpaddr0, zero
    csrr a0, pmpcfg0
    j leave
"""

RISCV_CASES = {
    "works": ("ibex", "rv32imc", WORD_AT_1, 3),
    "stored": ("ibex", "rv32imc", STORED_AT_1, 99),
    "works on CV32E40P": ("cv32e40p", "rv32imc", WORD_AT_1, 3),
    "works on CV32E40X": ("cv32e40x", "rv32imc", WORD_AT_1, 3),
    "traps on VexRiscv": ("vexriscv", "rv32im", WORD_AT_1, 4 << 8 | 2),
    "stored on VexRiscv": ("vexriscv", "rv32im", STORED_AT_1, 6 << 8 | 5),
    "closed after a load": ("ibex", "rv32imc", CLOSED, 7 << 8 | 3),
    "code closed after a call": ("ibex", "rv32imc", NO_CODE, 1 << 8 | 2),
    "locked": ("ibex", "rv32imc", LOCKED, 0x98),
    "floats that are not there": ("ibex", "rv32imc", "li s1, 7\n fadd.s f0, f0, f0", 2 << 8 | 7),
    "no product": (
        "ibex",
        "rv32imc",
        "li s1, 1\n mul a0, s1, s1\n li s1, 8\n amoadd.w a0, s1, (s0)",
        520,
    ),
    "half words that are not there": (
        "vexriscv",
        "rv32im",
        "li s1, 7\n .half 0x0001, 0x0001",
        2 << 8 | 7,
    ),
}
"""Core, instruction set, program, and what comes of it."""


def program(core: str, text: str) -> str:
    """Return a program for a RISC-V core."""
    pico = core == "picorv32"
    trapped = "" if pico else CAUSE
    return RISCV.format(table="" if pico else TABLE, text=text, trapped=trapped)


def rtl_of(folder: Path, core: str, isa: str, text: str) -> SimResult:
    """Run a program in RTL."""
    soc = load_soc("lagoon", (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}"))
    source = folder / "test.S"
    source.write_text(text)
    elf = link(source, script_of(soc.host_cpu.reset_address), folder, instruction_set(WRITTEN_FOR))
    wanted = replace(
        request(soc, elf), run_dir=folder / "run", max_cycles=50_000, stall_cycles=20_000
    )
    return in_rtl(replace(wanted, executable=build_model(soc)))


WRITTEN_FOR = "rv32im"


@pytest.mark.parametrize("case", RISCV_CASES)
def test_a_riscv_core_traps_where_it_does(case: str, tmp_path: Path) -> None:
    core, isa, text, expected = RISCV_CASES[case]
    result = run_program(tmp_path, core, isa, program(core, text), written_for=WRITTEN_FOR)
    assert (result.stop, result.exit_status) == (Stop.EXIT, expected)


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("case", RISCV_CASES)
def test_its_rtl_traps_there_too(case: str, tmp_path: Path) -> None:
    core, isa, text, expected = RISCV_CASES[case]
    result = rtl_of(tmp_path, core, isa, program(core, text))
    assert (result.stop, result.exit_status) == (Stop.EXIT, expected)


PICO = {
    "load": WORD_AT_1,
    "store": STORED_AT_1,
    "a register of machine mode": "csrw mtvec, s0",
    "floats": "fadd.s f0, f0, f0",
    "atomic": "amoadd.w a0, s1, (s0)",
}


@pytest.mark.parametrize("case", PICO)
def test_picorv32_stands_still(case: str, tmp_path: Path) -> None:
    text = program("picorv32", PICO[case])
    assert (
        run_program(tmp_path, "picorv32", "rv32imc", text, written_for=WRITTEN_FOR).stop
        is Stop.TRAP
    )


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("case", PICO)
def test_picorv32_stands_still_in_rtl(case: str, tmp_path: Path) -> None:
    assert (
        rtl_of(tmp_path, "picorv32", "rv32imc", program("picorv32", PICO[case])).stop is Stop.TRAP
    )


FLOATS = """
    li s1, 1
    li t0, 0x6000
    csrs mstatus, t0
    fadd.s f0, f0, f0
    li s1, 2
    csrc mstatus, t0
    fadd.s f0, f0, f0
    li s1, 3
"""


def test_floats_are_on_and_off(tmp_path: Path) -> None:
    text = program("riscv", FLOATS)
    result = run_program(tmp_path, "riscv", "rv32imafc", text, written_for=WRITTEN_FOR)
    assert result.exit_status == 2 << 8 | 2


CORTEX = """
    .syntax unified
    .thumb
    .equ SCS, 0xE000E000
    .globl _start
    .type _start, %function
    .thumb_func
_start:
    cpsid i
    ldr r0, =ram + 0x800
    mov sp, r0
    ldr r0, =table
    ldr r1, =0xE000ED08
    str r0, [r1]
    ldr r4, =ram
    ldr r5, =0xE000ED00
    movs r6, #1
    {text}
    movs r6, #99
leave:
    {leave}
    .ltorg
    .section .table, "ax"
    .balign 256
table:
    .word 0, 0, 0
    .word handler + 1
    .balign 4
handler:
    ldr r0, =0xE000ED28
    ldr r0, [r0]
    {clz}
    b leave
    .ltorg
    .space 256
"""
ON_ATOLL = "ldr r7, =0xF0000004\n str r6, [r7]\n1: b 1b"
ON_QEMU = """
    ldr r1, =ram + 0x7f0
    ldr r0, =0x20026
    str r0, [r1]
    str r6, [r1, #4]
    movs r0, #0x20
    bkpt 0xab
1:  b 1b
"""
CLZ = "clz r0, r0\n rsb r0, r0, #131\n add r6, r0, r6, lsl #8"
"""100 and the highest bit of CFSR, and r6, which tells how far the program was."""

UNDEFINED, NO_COPROCESSOR, UNALIGNED, CLOSED_DATA, CLOSED_CODE = 116, 119, 124, 107, 100
"""What is left of CFSR."""

M0, M3, M4, M4F, M7, M33, M33D = CORES = (
    ("cortex_m0plus", "armv6-m"),
    ("cortex_m3", "armv7-m"),
    ("cortex_m4", "armv7e-m"),
    ("cortex_m4", "armv7e-m+fp"),
    ("cortex_m7", "armv7e-m+fp.dp"),
    ("cortex_m33", "armv8-m.main"),
    ("cortex_m33", "armv8-m.main+dsp+fp"),
)
MACHINES = {
    "cortex_m3": "mps2-an385",
    "cortex_m4": "mps2-an386",
    "cortex_m7": "mps2-an500",
    "cortex_m33": "mps2-an505",
}
ON = "ldr r0, =0xF00000\n str r0, [r5, #0x88]\n dsb\n isb\n"
OFF = "movs r0, #0\n str r0, [r5, #0x88]\n dsb\n isb\n"
V7 = """
    adds r5, #0x90
    movs r0, #0
    str r0, [r5, #8]
    ldr r0, =ram + 0x100
    str r0, [r5, #12]
    ldr r0, ={attributes}
    str r0, [r5, #16]
    movs r0, #5
    str r0, [r5, #4]
    dsb
    isb
"""
V8 = """
    adds r5, #0x90
    movs r0, #0
    str r0, [r5, #8]
    ldr r0, =ram + 0x100 + {rights}
    str r0, [r5, #12]
    ldr r0, =ram + 0x101
    str r0, [r5, #16]
    movs r0, #5
    str r0, [r5, #4]
    dsb
    isb
"""
STORES = """
    ldr r1, [r4, r3]
    adds r3, #32
    str r1, [r4, r3]
    subs r3, #64
    str r1, [r4, r3]
    adds r3, #32
    movs r6, #2
    str r1, [r4, r3]
    movs r6, #3
"""
BEFORE = "ldr r3, =0x100\n ldr r1, [r4, r3]\n str r1, [r4, r3]\n"
CODE = "ldr r3, =0x4770\n ldr r1, =0x100\n strh r3, [r4, r1]\n add r1, r4\n adds r1, #1\n blx r1\n"
RO_V7 = V7.format(attributes="0x06000009")
CALL = "movs r6, #2\n ldr r1, =ram + 0x101\n blx r1\n movs r6, #3"

CONDITION = "movs r6, #2\n adds r0, r4, #1\n cmp r4, r4\n"
CORTEX_CASES = {
    "load": ("adds r4, #1\n ldr r0, [r4]", {M0: 1, M3: 99, M4: 99, M7: 99, M33: 99}),
    "store": ("strh r0, [r4, #1]", {M3: 99, M33: 99}),
    "two": (
        "adds r6, #1\n adds r4, #1\n ldrd r0, r1, [r4]\n movs r6, #9",
        {M3: UNALIGNED, M4: UNALIGNED, M7: UNALIGNED, M33: UNALIGNED},
    ),
    "several": (
        "adds r6, #1\n adds r4, #2\n ldmia r4!, {r0, r1}\n movs r6, #9",
        {M0: 2, M3: UNALIGNED, M33: UNALIGNED},
    ),
    "several stored": (
        "adds r6, #1\n adds r4, #2\n stmia r4!, {r0, r1}\n movs r6, #9",
        {M3: UNALIGNED, M33: UNALIGNED},
    ),
    "exclusive": ("adds r6, #1\n adds r4, #2\n ldrex r0, [r4]\n movs r6, #9", {M3: UNALIGNED}),
    "aligned": ("adds r6, #1\n ldrd r0, r1, [r4, #4]\n ldmia r4!, {r0, r1}\n", {M3: 99, M33: 99}),
    "float": (
        ON + "adds r6, #1\n adds r4, #2\n vldr s0, [r4]\n movs r6, #9",
        {M4F: UNALIGNED, M33D: UNALIGNED},
    ),
    "double of words": (ON + "adds r4, #4\n vldr d0, [r4]", {M4F: 99, M7: 99}),
    "all": (
        "movs r0, #8\n str r0, [r5, #0x14]\n dsb\n isb\n"
        "adds r6, #1\n ldr r0, [r4, #2]\n movs r6, #9",
        {M3: UNALIGNED, M33: UNALIGNED},
    ),
    "conditional": (
        CONDITION + "itte eq\n ldrdeq r2, r3, [r0]\n addeq r6, #1\n addne r6, #2\n movs r6, #9",
        {M3: UNALIGNED, M33: UNALIGNED},
    ),
    "conditional store": (
        CONDITION + "itt eq\n strdeq r4, r5, [r0]\n streq r6, [r4]\n movs r6, #9",
        {M3: UNALIGNED},
    ),
    "floats off": (
        "movs r6, #2\n vadd.f32 s0, s0, s0\n movs r6, #9",
        {M4F: NO_COPROCESSOR, M7: NO_COPROCESSOR, M33D: NO_COPROCESSOR},
    ),
    "floats turned off": (
        ON + "vadd.f32 s0, s0, s0\n movs r6, #2\n" + OFF + "vadd.f32 s0, s0, s0\n movs r6, #9",
        {M4F: NO_COPROCESSOR, M33D: NO_COPROCESSOR},
    ),
    "floats on": (ON + "vadd.f32 s0, s0, s0", {M4F: 99, M7: 99, M33D: 99}),
    "a unit that is not there": (
        ON + "movs r6, #2\n vadd.f32 s0, s0, s0\n movs r6, #9",
        {M3: NO_COPROCESSOR, M4: NO_COPROCESSOR, M33: NO_COPROCESSOR},
    ),
    "doubles": (ON + "movs r6, #2\n .inst.w 0xee300b00", {M4F: UNDEFINED, M7: 99, M33D: UNDEFINED}),
    "newer floats": (ON + "movs r6, #2\n .inst.w 0xfe800a00", {M4F: UNDEFINED, M7: 99, M33D: 99}),
    "sums of halves": (
        "movs r6, #2\n .inst.w 0xfb21f202",
        {M3: UNDEFINED, M4: 99, M33: UNDEFINED, M33D: 99},
    ),
    "reversed bytes": ("movs r6, #2\n .inst.w 0xfa91f281\n", {M3: 99, M33: 99}),
    "acquired": (
        "movs r6, #2\n .inst.w 0xe8d40faf\n",
        {M3: UNDEFINED, M4: UNDEFINED, M7: UNDEFINED, M33: 99},
    ),
    "quotient": ("movs r6, #2\n movs r2, #3\n .inst.w 0xfb92f0f2", {M0: 2, M3: 99, M33: 99}),
    "closed after a store": (
        BEFORE + RO_V7 + STORES,
        {M0: 2, M3: CLOSED_DATA, M4: CLOSED_DATA, M7: CLOSED_DATA},
    ),
    "closed by Armv8-M": (BEFORE + V8.format(rights="4") + STORES, {M33: CLOSED_DATA}),
    "code closed after a call": (
        CODE + V7.format(attributes="0x13000009") + CALL,
        {M3: CLOSED_CODE},
    ),
    "code closed by Armv8-M": (CODE + V8.format(rights="1") + CALL, {M33: CLOSED_CODE}),
}
"""Program, and what comes of it on each core."""


def cortex_cases() -> Sequence[tuple[str, tuple[str, str], int]]:
    return [
        (name, core, left)
        for name, (_, cores) in CORTEX_CASES.items()
        for core, left in cores.items()
    ]


def qemu_cases() -> Sequence[tuple[str, tuple[str, str], int]]:
    """Return those of cores that QEMU has a machine with.

    Its Cortex-M3 runs SMLAD, which the architecture leaves to the DSP extension.
    """
    with_machine = (each for each in cortex_cases() if each[1] in (M3, M4F, M7, M33D))
    return [each for each in with_machine if each[:2] != ("sums of halves", M3)]


def expected_of(core: tuple[str, str], left: int) -> int:
    """Return the status: a trap's has 2 beside it."""
    return left if core == M0 or left == 99 else left + (2 << 8)


def cortex_program(core: tuple[str, str], text: str, leave: str, ram: int) -> str:
    clz = "" if core == M0 else CLZ
    return f".equ ram, {ram:#x}\n" + CORTEX.format(text=text, leave=leave, clz=clz)


@pytest.mark.parametrize(("name", "core", "left"), cortex_cases())
def test_a_cortex_m_traps_where_it_does(
    name: str, core: tuple[str, str], left: int, tmp_path: Path
) -> None:
    text = cortex_program(core, CORTEX_CASES[name][0], ON_ATOLL, 0x1000_0000)
    written_for = "armv6-m" if core == M0 else "armv7e-m+fp.dp"
    result = run_program(tmp_path, *core, text, written_for=written_for)
    assert (result.stop, result.exit_status) == (Stop.EXIT, expected_of(core, left))


def qemu_status(core: tuple[str, str], text: str, folder: Path) -> int:
    """Run a program of `cortex_program` on QEMU; return the lowest byte of its status."""
    origin = qemu_ram(core) - 0x8000
    source = folder / "test.S"
    source.write_text(f".word {origin + 0x8800:#x}, _start\n" + text)
    elf = link(source, script_of(origin), folder, instruction_set("armv7e-m+fp.dp"))
    words = ["qemu-system-arm", "-M", MACHINES[core[0]], "-nographic", "-monitor", "none"]
    words += ["-semihosting-config", "enable=on,target=native", "-serial", "none"]
    words += ["-kernel", str(elf)]
    return subprocess.run(words, check=False, timeout=20, capture_output=True).returncode


def qemu_ram(core: tuple[str, str]) -> int:
    """Return where a program on QEMU has its data: behind itself."""
    return 0x1000_8000 if core[0] == "cortex_m33" else 0x8000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "core", "left"), qemu_cases())
def test_qemu_traps_there_too(name: str, core: tuple[str, str], left: int, tmp_path: Path) -> None:
    if not shutil.which("qemu-system-arm"):
        pytest.skip("qemu-system-arm is not installed")
    text = cortex_program(core, CORTEX_CASES[name][0], ON_QEMU, qemu_ram(core))
    assert qemu_status(core, text, tmp_path) == expected_of(core, left) & 0xFF
