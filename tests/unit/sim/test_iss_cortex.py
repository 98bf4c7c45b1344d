# SPDX-License-Identifier: Apache-2.0
"""What Unicorn leaves to Atoll of a Cortex-M, by small programs: timer, lines, sleep, faults."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cached_chips import CORTEX_M7, cached_lagoon
from tests.iss_program import run_program

from atoll.bsp.startup import startup_files
from atoll.resolve import load_soc
from atoll_sim.trace.simulation import SimResult, Stop

pytest.importorskip("unicorn")

CORES = {
    "cortex_m0plus": "armv6-m",
    "cortex_m23": "armv8-m.base",
    "cortex_m3": "armv7-m",
    "cortex_m4": "armv7e-m+fp",
    "cortex_m33": "armv8-m.main+dsp",
}
HEAD = """
    .syntax unified
    .thumb
    .equ CONSOLE, 0xF0000000
    .equ SYSTICK, 0xE000E010
    .equ ICSR, 0xE000ED04
    .equ RAM, 0x10000000
    .macro put register, address
    ldr r7, =\\address
    str \\register, [r7]
    .endm
    .macro leave register
    put \\register, CONSOLE + 4
    b .
    .endm
    .globl _start
    .type _start, %function
    .thumb_func
_start:
    cpsid i
    ldr r0, =RAM + 0x1000
    mov sp, r0
"""
TICK = """
    ldr r0, =SYSTICK
    ldr r1, =3000
    str r1, [r0, #4]
    str r1, [r0, #8]
    movs r1, #7
    str r1, [r0]
"""
Run = Callable[..., SimResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Assemble a program, and run it on lagoon with a core."""

    def run_one(core: str, text: str) -> SimResult:
        return run_program(tmp_path, core, CORES[core], f"{HEAD}{text}\n    .ltorg\n")

    return run_one


@pytest.mark.parametrize("core", CORES)
def test_a_core_sleeps_until_its_timer(core: str, run: Run) -> None:
    result = run(core, f"{TICK}\n wfi\n ldr r0, =ICSR\n ldr r1, [r0]\n lsrs r1, #26\n leave r1")
    assert (result.stop, result.exit_status) == (Stop.EXIT, 1)
    assert 3000 < result.cycles < 3100


@pytest.mark.parametrize("core", CORES)
def test_a_timer_that_was_seen_is_forgotten_and_comes_again(core: str, run: Run) -> None:
    forgets = "ldr r0, =ICSR\n ldr r1, =0x2000000\n str r1, [r0]\n ldr r2, [r0]\n"
    result = run(core, f"{TICK}\n wfi\n {forgets} wfi\n ldr r3, [r0]\n subs r3, r3, r2\n leave r3")
    assert (result.stop, result.exit_status) == (Stop.EXIT, 1 << 26)
    assert 6000 < result.cycles < 6100


def test_a_timer_without_interrupts_wakes_nobody(run: Run) -> None:
    silent = TICK.replace("movs r1, #7", "movs r1, #5")
    assert run("cortex_m33", f"{silent}\n wfi\n leave r1").stop is Stop.STALL


FAULTS = {
    "undefined": "udf #0",
    "call of a supervisor": "svc #0",
    "breakpoint": "bkpt #0",
    "nothing there": "ldr r0, =0x90000000\n ldr r1, [r0]",
    "read-only": "movs r0, #0\n str r0, [r0]",
    "no code there": "ldr r0, =0x90000001\n bx r0",
    "register": "ldr r0, =CONSOLE + 0x40\n ldr r1, [r0]",
}


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_the_end(core: str, fault: str, run: Run) -> None:
    result = run(core, f"{FAULTS[fault]}\n movs r6, #5\n leave r6")
    assert result.exit_status is None
    assert result.trapped is not None


@pytest.mark.parametrize("core", ["cortex_m3", "cortex_m4", "cortex_m33"])
def test_an_access_under_a_condition_leaves_none_behind(core: str, run: Run) -> None:
    """Else the first instruction of the next block is skipped."""
    result = run(
        core,
        """
        ldr r0, =RAM
        movs r4, #7
        it ne
        ldrne r2, [r0]
        movs r3, #0
        b 1f
    1:  movs r4, #1
        leave r4
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 1)


def test_instructions_are_counted_by_their_size(run: Run) -> None:
    text = "ldr.w r1, [sp]\n adds r1, #1\n add.w r1, r1, #1\n" * 100
    result = run("cortex_m33", f"{text} movs r6, #5\n leave r6")
    assert 300 < result.cycles < 320


STORED = """
    ldr r0, =0x20000100
    movs r1, #77
    str r1, [r0]
"""
FORGET = """
    ldr r0, =0xE000EF60
    ldr r1, =0xE000ED80
    ldr r1, [r1]
    ldr r2, =0x0007E019
    cmp r1, r2
    bne 9f
    movs r1, #63
1:  lsls r2, r1, #5
    str r2, [r0]
    orr r2, r2, #0x40000000
    str r2, [r0]
    eor r2, r2, #0xC0000000
    str r2, [r0]
    orr r2, r2, #0x40000000
    {last}
    subs r1, #1
    bpl 1b
"""
TURN_ON = """
    ldr r0, =0xE000ED14
    mov r1, #0x10000
    str r1, [r0]
    ldr r0, =0x20000100
    ldr r0, [r0]
    lsrs r0, r0, #1
    leave r0
9:  leave r7
"""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (STORED, 0xC5C5_C5C5),
        (STORED + FORGET.format(last=""), 0xC5C5_C5C5),
        (STORED + FORGET.format(last="str r2, [r0]"), 77),
    ],
)
def test_a_cache_turned_on_holds_what_was_not_forgotten_before(
    text: str, read: int, tmp_path: Path
) -> None:
    """Until then loads and stores are memory's; the second program leaves one of four ways."""
    whole = f"{HEAD}{text}{TURN_ON}\n    .ltorg\n"
    settings = ("devices.cpu.cache.line=32",)
    result = run_program(tmp_path, "cortex_m7", "armv7e-m", whole, overrides=settings)
    assert (result.stop, result.exit_status) == (Stop.EXIT, read >> 1)


def test_start_up_code_turns_the_cache_on_before_it_uses_the_stack() -> None:
    text = startup_files(cached_lagoon(), (), {})["startup.S"]
    order = ("str     r1, [r0, #0x260]", "bpl     1b", "orr     r1, r1, #0x10000", "@ Paint")
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    without = startup_files(load_soc("lagoon", CORTEX_M7[:2]), (), {})["startup.S"]
    assert "DCISW" not in without


HANDLED = """
    ldr r0, =table
    ldr r1, =0xE000ED08
    str r0, [r1]
    movs r4, #5
    movs r5, #6
    ldr r0, =0x30000000
    movs r3, #9
    cmp r3, #9
    ldr r2, [r0]
    beq 1f
    movs r5, #99
1:  adds r4, r4, r5
    adds r4, r4, r3
    leave r4
    .ltorg
    .balign 4
table:
    .word 0, 0, 0
    .word handler + 1
    .balign 4
handler:
    mov r0, sp
    ldr r1, [r0, #24]
    adds r1, r1, #2
    str r1, [r0, #24]
    movs r5, #7
    movs r3, #0
    cmp r3, #1
    {more}
    bx lr
    .ltorg
"""
"""A load of nothing: the handler goes on behind it. Its r5 stays; r3 and flags come back."""


@pytest.mark.parametrize("core", CORES)
def test_a_fault_has_a_handler(core: str, run: Run) -> None:
    result = run(core, HANDLED.replace("{more}", ""))
    assert (result.stop, result.exit_status) == (Stop.EXIT, 5 + 7 + 9)


@pytest.mark.parametrize("core", ["cortex_m3", "cortex_m33"])
def test_a_fault_tells_its_address(core: str, run: Run) -> None:
    asks = "ldr r2, =0xE000ED38\n ldr r5, [r2]\n lsrs r5, r5, #24"
    result = run(core, HANDLED.replace("{more}", asks))
    assert (result.stop, result.exit_status) == (Stop.EXIT, 5 + 0x30 + 9)


@pytest.mark.parametrize("core", CORES)
def test_a_fault_in_the_handler_is_the_end(core: str, run: Run) -> None:
    result = run(core, HANDLED.replace("{more}", "ldr r2, =0x30000000\n ldr r2, [r2]"))
    assert result.stop is Stop.TRAP
