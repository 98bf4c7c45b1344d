# SPDX-License-Identifier: Apache-2.0
"""Random tables of protection units let through on simulated cores what RTL and QEMU do."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.iss_program import run_program
from tests.unit.sim.test_iss_rules import (
    M3,
    M4F,
    M33D,
    ON_ATOLL,
    ON_QEMU,
    RISCV,
    TABLE,
    WRITTEN_FOR,
    cortex_program,
    qemu_ram,
    qemu_status,
    rtl_of,
)

from atoll_sim.trace.simulation import Stop

pytest.importorskip("unicorn")
pytestmark = pytest.mark.slow

RAM, SIZE, PROBES = 0x1000_0000, 0x200, 24

COUNTED = "slli t3, s1, 5\n sub s1, t3, s1\n add s1, s1, t1\n"
GOES_ON = f"csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n csrr t1, mcause\n {COUNTED} mret"
"""The handler: s1 becomes 31 times itself and the cause, and the program goes on."""


def pmp_program(draw: random.Random) -> str:
    """Return a program that writes a table, and then loads and stores here and there."""
    text = (
        f"li t0, {SIZE + 64}\n 2: addi t0, t0, -4\n add t2, s0, t0\n sw t0, 0(t2)\n bnez t0, 2b\n"
    )
    config = 0
    for number in range(4):
        kind = draw.choice([0, 1, 2, 3] if number else [0, 2, 3])
        size = 8 << draw.randrange(6)
        at = RAM + draw.randrange(0, SIZE, 4)
        address = (at & -size | size // 2 - 1) >> 2 if kind == 3 else at >> 2
        config |= (draw.choice([0x80, 0x80, 0]) | kind << 3 | draw.randrange(8)) << 8 * number
        text += f"li t0, {address}\n csrw pmpaddr{number}, t0\n"
    text += f"li t0, {config}\n csrw pmpcfg0, t0\n csrr t1, pmpcfg0\n {COUNTED}"
    for _ in range(PROBES):
        word = draw.choice(["lw", "lw", "lhu", "lbu", "sw", "sh", "sb"])
        unit = draw.choice([1, 4]) if word[0] == "l" else {"w": 4, "h": 2, "b": 1}[word[1]]
        offset = draw.randrange(0, SIZE, unit)
        text += f"li t2, {RAM + offset}\n li t4, {offset}\n li t1, 1\n"
        text += f"{word} {'t1' if word[0] == 'l' else 't4'}, 0(t2)\n {COUNTED}"
    end = "srli a0, s1, 1\n j leave"
    return RISCV.format(table=TABLE, text=text + end, trapped=GOES_ON)


@pytest.mark.rtl
@pytest.mark.parametrize("seed", range(6))
def test_pmp(seed: int, tmp_path: Path) -> None:
    text = pmp_program(random.Random(seed))
    result = run_program(tmp_path, "ibex", "rv32imc", text, written_for=WRITTEN_FOR)
    assert result.stop is Stop.EXIT
    hardware = rtl_of(tmp_path, "ibex", "rv32imc", text)
    assert (hardware.stop, hardware.exit_status) == (Stop.EXIT, result.exit_status)


def regions(draw: random.Random, base: int, *, v8: bool) -> Iterator[tuple[int, int]]:
    """Yield the two words of some regions of an MPU.

    The first, behind all accesses, keeps QEMU from taking the rest of a page for one answer where
    parts of regions are switched off.
    """
    yield base + 0x300, base + 0x301 if v8 else 0x0300_0009
    for _ in range(4):
        if v8:
            first = draw.randrange(0, SIZE, 32)
            last = draw.randrange(first, SIZE + 64, 32)
            yield base + first | draw.randrange(4) << 1, base + last | draw.choice([1, 1, 0])
            continue
        bits = draw.randrange(5, 10)
        at = draw.randrange(0, SIZE, 2 << bits - 1)
        parts = draw.randrange(256) if bits >= 8 else 0
        access = draw.choice([0, 1, 2, 3, 5, 6]) << 24
        yield base + at, access | parts << 8 | bits - 1 << 1 | draw.choice([1, 1, 0])


def mpu_program(draw: random.Random, base: int, *, v8: bool) -> str:
    """Return the body of a program likewise; r6 becomes 31 times itself and what was loaded."""
    text = "movw r1, #0x300\n 2: subs r1, #4\n str r1, [r4, r1]\n bne 2b\n adds r5, #0x90\n"
    for number, (first, second) in enumerate(regions(draw, base, v8=v8)):
        for offset, value in ((8, number), (12, first), (16, second)):
            text += f"ldr r0, ={value:#x}\n str r0, [r5, #{offset}]\n"
    text += "movs r0, #5\n str r0, [r5, #4]\n dsb\n isb\n"
    for _ in range(PROBES):
        word = draw.choice(["ldr.w", "ldrh.w", "ldrb.w", "str.w", "strh.w", "strb.w"])
        unit = 4 if "r." in word else 2 if "h" in word else 1
        offset = draw.randrange(0, SIZE, unit)
        text += f"movw r1, #{offset}\n movs r0, #{offset % 199}\n add.w r2, r4, r1\n"
        text += f"{word} r0, [r2]\n rsb r6, r6, r6, lsl #5\n add r6, r0\n"
    return text + "uxtb r6, r6\n b leave\n"


SKIPS = """
    ldr r0, [sp, #24]
    adds r0, #4
    str r0, [sp, #24]
    movs r0, #77
    str r0, [sp]
    ldr r0, =0xE000ED28
    ldr r1, [r0]
    str r1, [r0]
    bx lr
    .ltorg
"""
"""The handler: the load has 77, and the program goes on."""


@pytest.mark.parametrize("core", [M3, M4F, M33D])
@pytest.mark.parametrize("seed", range(6))
def test_mpu(core: tuple[str, str], seed: int, tmp_path: Path) -> None:
    if not shutil.which("qemu-system-arm"):
        pytest.skip("qemu-system-arm is not installed")
    found: list[int | None] = []
    for on_qemu in (False, True):
        base = qemu_ram(core) if on_qemu else RAM
        body = mpu_program(random.Random(seed), base, v8=core is M33D)
        text = cortex_program(core, body, ON_QEMU if on_qemu else ON_ATOLL, base)
        text = text.replace("handler:", f"handler:\n{SKIPS}")
        if on_qemu:
            found.append(qemu_status(core, text, tmp_path))
            continue
        result = run_program(tmp_path, *core, text, written_for="armv7e-m+fp.dp")
        assert result.stop is Stop.EXIT
        found.append(result.exit_status)
    assert found[0] == found[1]
