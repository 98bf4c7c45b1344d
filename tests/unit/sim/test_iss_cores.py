# SPDX-License-Identifier: Apache-2.0
"""What Unicorn leaves to Atoll, by small programs: traps, interrupts, sleep, counters, watchdog."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cached_chips import CORE
from tests.iss_program import run_program

from atoll.bsp.render import FOLDER
from atoll.cost.counted import CLASSES
from atoll.description.core_files import find_core
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.protocol import Trace
from atoll.resolve import load_soc
from atoll.utils.children import LIMIT_VARIABLE
from atoll_sim.iss import core as iss_core
from atoll_sim.iss.chip import IssChip
from atoll_sim.iss.clock import CoreClock
from atoll_sim.iss.core import IssCore
from atoll_sim.iss.devices import BUSY, DONE, MAILBOX, Mailbox
from atoll_sim.iss.native import IssModel
from atoll_sim.iss.riscv import load_target
from atoll_sim.iss.supported import check_chip
from atoll_sim.iss.tally import Tally
from atoll_sim.protocol.records import AccessKind
from atoll_sim.runs.checked_run import CpuKind, check_kinds
from atoll_sim.trace.simulation import SimResult, Stop

pytest.importorskip("unicorn")

ROOT = Path(__file__).parents[3]
HEAD = """
    .equ CONSOLE, 0xF0000000
    .equ GUARD, 0xF0000800
    .equ LOCAL, 0x02000000
    .equ RAM, 0x10000000
    .macro put register, address
    li t6, \\address
    sw \\register, 0(t6)
    .endm
    .macro leave value
    li t5, \\value
    put t5, CONSOLE + 4
    j .
    .endm
    .macro letter value
    li t5, \\value
    put t5, CONSOLE
    .endm
    .globl _start
_start:
"""
ISAS = {"ibex": "rv32imc", "picorv32": "rv32imc", "vexriscv": "rv32im"}

Run = Callable[..., SimResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Assemble a program, and run it on lagoon with a core."""

    def run_one(core: str, text: str, **changes: Any) -> SimResult:
        return run_program(tmp_path, core, ISAS[core], HEAD + text, written_for="rv32im", **changes)

    return run_one


@pytest.fixture
def run64(tmp_path: Path) -> Run:
    """Likewise with a core of 64 bits."""

    def run_one(text: str, **changes: Any) -> SimResult:
        return run_program(tmp_path, "riscv", "rv64imac", HEAD + text, **changes)

    return run_one


TRAPS = {
    "ecall": ("2: ecall", 11),
    "ebreak": ("2: ebreak", 3),
    "illegal": ("2: .word 0xffffffff", 2),
    "nothing_there": ("li t0, 0x90000000\n 2: lw t1, 0(t0)", 5),
    "read_only": ("2: sw zero, 0(zero)", 7),
    "register": ("li t0, CONSOLE + 0x40\n 2: lw t1, 0(t0)", 5),
    "byte_of_a_register": ("li t0, CONSOLE\n 2: sb zero, 0(t0)", 7),
}


@pytest.mark.parametrize("name", TRAPS)
def test_exceptions_tell_cause_and_place(name: str, run: Run) -> None:
    instruction, cause = TRAPS[name]
    result = run(
        "ibex",
        f"""
        la t0, handler
        csrw mtvec, t0
        csrsi mstatus, 8
        j 1f
        .balign 4
    1:  {instruction}
        leave 100
        .balign 4
    handler:
        csrr a0, mcause
        csrr a1, mepc
        la a2, 2b
        bne a1, a2, 3f
        csrr a3, mstatus
        andi a4, a3, 0x88
        li a5, 0x80
        bne a4, a5, 3f
        la a1, after
        csrw mepc, a1
        mret
    3:  leave 99
    after:
        csrr a3, mstatus
        andi a4, a3, 8
        beqz a4, 3b
        put a0, CONSOLE + 4
        j .
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, cause)


VIEWS = (
    "memories.flash.views={cpu: 0x0800_0000}",
    "memories.dtcm.views={cpu: 0x0}",
)
"""Code is not at 0; the memory of the core is, and nothing is where the bus has it."""


def test_a_core_has_its_memory_at_its_view_and_nothing_where_the_bus_has_it(run: Run) -> None:
    result = run(
        "ibex",
        """
        la t0, handler
        csrw mtvec, t0
        li a0, 0x1234
        li t1, 0x3F00
        sw a0, 0(t1)
        lw a1, 0(t1)
        bne a0, a1, 3f
        li t0, RAM + 0x3F00
        j 2f
        .balign 4
    2:  lw t1, 0(t0)
    3:  leave 99
        .balign 4
    handler:
        csrr a1, mepc
        la a2, 2b
        bne a1, a2, 3b
        lui a3, 0x8000
        bltu a1, a3, 3b
        csrr a1, mtval
        bne a1, t0, 3b
        csrr a0, mcause
        put a0, CONSOLE + 4
        j .
        """,
        overrides=VIEWS,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 5)


def test_what_a_core_stores_where_it_sees_nothing_is_nowhere(run: Run) -> None:
    result = run(
        "picorv32",
        """
        li a0, 0x1234
        li t0, RAM + 0x3F00
        li t1, 0x3F00
        sw zero, 0(t1)
        sw a0, 0(t0)
        lw a1, 0(t1)
        lw a2, 0(t0)
        or a1, a1, a2
        put a1, CONSOLE + 4
        j .
        """,
        overrides=VIEWS,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0)


@pytest.mark.parametrize(
    "instruction", ["ecall", "ebreak", ".word 0xffffffff", "li t0, 0x90000000\n jr t0"]
)
def test_every_exception_ends_picorv32(instruction: str, run: Run) -> None:
    result = run("picorv32", f"letter 65\n {instruction}\n letter 66\n leave 1")
    assert (result.stop, result.trapped, result.text) == (Stop.TRAP, "cpu", "A")


@pytest.mark.parametrize("core", ["picorv32", "vexriscv"])
def test_a_failed_access_of_a_core_that_ignores_it_reads_0_and_stores_nothing(
    core: str, run: Run
) -> None:
    result = run(
        core,
        """
        li t0, 0x90000000
        li a0, 77
        lw a0, 0(t0)
        sw t0, 4(t0)
        sw t0, 8(zero)
        lw a1, 8(zero)
        beq a1, t0, 1f
        bnez a0, 1f
        put zero, CONSOLE + 4
        j .
    1:  leave 1
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0)


def test_what_a_core_touched_is_known_to_the_byte_on_the_bus(run: Run) -> None:
    result = run(
        "ibex",
        """
        li t0, 0x3F00
        sb t0, 3(t0)
        sh t0, 8(t0)
        sw t0, 16(t0)
        lbu t1, 32(t0)
        la t2, word
        lw t1, 0(t2)
        put t1, CONSOLE + 4
        j .
        .balign 4
    word:
        .word 77
        """,
        overrides=VIEWS,
    )
    assert result.exit_status == 77
    (phase,) = result.phases
    touched = {each.kind: each.spans for each in phase.touched}
    code = touched[AccessKind.FETCH][0]
    assert touched[AccessKind.WRITE] == tuple(
        range(0x1000_3F00 + at, 0x1000_3F00 + at + size) for at, size in ((3, 1), (8, 2), (16, 4))
    )
    assert touched[AccessKind.READ] == (
        range(code.stop, code.stop + 4),
        range(0x1000_3F20, 0x1000_3F21),
    )


WAITS = """
    .equ atoll_core_local, LOCAL
    .equ atoll_core_compare, LOCAL + 0x4000
    j atoll_start
    .balign 16
    j atoll_interrupt
    .globl atoll_start
atoll_start:
    li sp, RAM + 0x8000
    li a0, 5
    li a1, 100000
    call atoll_wait_interrupt
    mv s0, a0
    rdcycle s1
    li a0, 6
    li a1, 500
    call atoll_wait_interrupt
    rdcycle s2
    slli s1, s1, 16
    slli s2, s2, 2
    slli a0, a0, 1
    add a0, a0, s0
    add a0, a0, s1
    add a0, a0, s2
    put a0, CONSOLE + 4
    j .
#include "{startup}"
"""


@pytest.mark.parametrize(
    ("core", "startup"),
    [
        ("ibex", "riscv_fast"),
        ("picorv32", "picorv32"),
        ("vexriscv", "vexriscv"),
        ("riscv", "riscv_fast"),
    ],
)
def test_a_wait_ends_with_its_own_line_or_in_time(
    core: str, startup: str, run: Run, run64: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line 5 rises in cycle 3000; line 6 never does."""
    monkeypatch.setattr(IssChip, "_lines", lambda self, cpu: {5: 3000})
    text = WAITS.replace("{startup}", str(FOLDER / "startup" / f"{startup}.S"))
    result = run64(text) if core == "riscv" else run(core, text)
    assert result.exit_status is not None
    first, second = result.exit_status >> 16, (result.exit_status & 0xFFFF) >> 2
    assert result.exit_status & 3 == 0b01
    assert 3000 <= first < 3100
    assert first + 500 <= second < first + 700


WAIT_FAST = """
    li a1, LOCAL + 0xBFF8
    lw a2, 0(a1)
    addi a2, a2, 1000
    li a1, LOCAL + 0x4000
    sw zero, 4(a1)
    sw a2, 0(a1)
    li a3, 0x80
    csrw mie, a3
    csrr s0, mcycle
    wfi
    csrr s1, mcycle
    csrr a4, mip
    sub s1, s1, s0
"""


def test_a_core_sleeps_until_its_timer(run: Run) -> None:
    result = run(
        "ibex", WAIT_FAST + "andi a4, a4, 0x80\n add a0, a4, s1\n put a0, CONSOLE + 4\n j ."
    )
    assert result.exit_status is not None
    assert 0x80 + 950 < result.exit_status <= 0x80 + 1000
    assert result.cycles > 1000
    assert sum(phase.instructions or 0 for phase in result.phases) < 100


def test_an_interrupt_is_taken_at_its_time_through_its_vector(run: Run) -> None:
    """The core spins with interrupts on; the machine timer is vector 7."""
    result = run(
        "ibex",
        """
        la t0, vectors + 1
        csrw mtvec, t0
        li a1, LOCAL + 0x4000
        li a2, 5000
        sw zero, 4(a1)
        sw a2, 0(a1)
        li a3, 0x80
        csrw mie, a3
        csrsi mstatus, 8
    1:  addi s0, s0, 1
        j 1b
        .balign 4
    vectors:
        .rept 7
        j 9f
        .endr
        j 8f
    9:  leave 1
    8:  csrr a0, mcause
        slli a0, a0, 1
        csrr a1, mcycle
        add a0, a0, a1
        put a0, CONSOLE + 4
        j .
        """,
    )
    assert result.exit_status is not None
    assert 14 + 5000 <= result.exit_status < 14 + 5020


@pytest.mark.parametrize(
    ("instruction", "cause", "value"),
    [
        (".balign 4\n 2: ecall", 11, 0),
        ("li t0, 0x100000100\n .balign 4\n 2: ld t1, 0(t0)", 5, 0x1_0000_0100),
        ("li t0, 0x100000100\n .balign 4\n 2: sd t1, 0(t0)", 7, 0x1_0000_0100),
        ("li t0, CONSOLE + 0x40\n .balign 4\n 2: sd zero, 0(t0)", 7, 0),
        ("li t0, 0x110000000\n la t1, 2f\n sd t1, 8(sp)\n 2: jr t0", 1, 0x1_1000_0000),
    ],
)
def test_exceptions_of_64_bits_tell_cause_and_place(
    instruction: str, cause: int, value: int, run64: Run
) -> None:
    """A fetch that fails is about the address that the core went to; that is where `mepc` is."""
    place = "li a2, 0x110000000" if cause == 1 else "la a2, 2b"
    result = run64(
        f"""
        li sp, RAM + 0x1000
        la t0, handler
        csrw mtvec, t0
        {instruction}
        .balign 4
    handler:
        csrr a0, mcause
        csrr a1, mepc
        {place}
        bne a1, a2, 3f
        csrr a1, mtval
        li a2, {value:#x}
        beqz a2, 1f
        bne a1, a2, 3f
    1:  put a0, CONSOLE + 4
        j .
    3:  leave 99
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, cause)


@pytest.mark.parametrize("wrong", [0x7_FFFF_FFF8, 0x8_0004_0000, 0x9_0000_0000, 0x2000_0000])
def test_a_view_past_4_gibibytes_has_both_its_ends(wrong: int, run64: Run) -> None:
    """What lies beside it traps, as does where the bus has the memory."""
    result = run64(
        f"""
        la t0, handler
        csrw mtvec, t0
        li t1, 0x1122334455667788
        li t0, 0x800000000
        sd t1, 0(t0)
        li t2, 0x80003FFF8
        sd t1, 0(t2)
        lw a0, 0(t0)
        li a1, 0x55667788
        bne a0, a1, 3f
        ld a0, 0(t2)
        bne a0, t1, 3f
        li a2, {wrong:#x}
        ld a0, 0(a2)
        leave 98
        .balign 4
    handler:
        csrr a1, mtval
        bne a1, a2, 3f
        leave 7
    3:  leave 99
        """,
        overrides=("memories.sram.views={cpu: 0x8_0000_0000}",),
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 7)


@pytest.mark.parametrize(("half", "target"), [(0x6080, 8), (0x6502, 10)])
def test_a_doubleword_is_loaded_where_with_32_bits_a_float_is(half: int, target: int) -> None:
    data = half.to_bytes(2, "little")  # c.ld s0, 0(s1) and c.ldsp a0, 0(sp)
    assert (load_target(data, 64), load_target(data, 32)) == (target, 0)


def test_an_interrupt_of_64_bits_is_bit_63_of_its_cause(run64: Run) -> None:
    """The timer takes doublewords."""
    result = run64(
        """
        la t0, vectors + 1
        csrw mtvec, t0
        li a1, LOCAL + 0xBFF8
        ld a2, 0(a1)
        addi a2, a2, 1000
        li a1, LOCAL + 0x4000
        sd a2, 0(a1)
        ld a3, 0(a1)
        bne a2, a3, 9f
        li a3, 0x80
        csrw mie, a3
        csrsi mstatus, 8
    1:  addiw s0, s0, 1
        j 1b
        .balign 4
    vectors:
        .option push
        .option norvc
        .rept 7
        j 9f
        .endr
        j 8f
        .option pop
    9:  leave 99
    8:  csrr a0, mcause
        li a1, 0x8000000000000007
        bne a0, a1, 9b
        csrr a0, mcycle
        put a0, CONSOLE + 4
        j .
        """
    )
    assert result.exit_status is not None
    assert 1000 < result.exit_status < 1030


def test_picorv32_waits_for_its_timer_and_takes_its_interrupt_once(run: Run) -> None:
    result = run(
        "picorv32",
        """
        j begin
        .balign 16
        li s5, 1                       # the interrupt's place: reset + 0x10
        .insn r 0x0B, 0, 2, x0, x0, x0 # retirq
    begin:
        li a1, 500
        .insn r 0x0B, 6, 5, x0, a1, x0 # timer
        .insn r 0x0B, 4, 4, a0, x0, x0 # waitirq
        li t0, 1
        bne a0, t0, 1f
        li t0, -2
        .insn r 0x0B, 6, 3, a2, t0, x0 # maskirq
        nop
        beqz s5, 1f
        li t0, -1
        .insn r 0x0B, 6, 3, a3, t0, x0
        rdcycle a4
        put a4, CONSOLE + 4
        j .
    1:  leave 1
        """,
    )
    assert result.exit_status is not None
    assert 500 < result.exit_status < 540


def test_picorv32_returns_the_mask_that_it_had(run: Run) -> None:
    """All interrupts are masked after the reset."""
    result = run(
        "picorv32",
        """
        li t0, 0x28
        .insn r 0x0B, 6, 3, a1, t0, x0 # maskirq
        .insn r 0x0B, 6, 3, a2, x0, x0 # maskirq
        addi a1, a1, 1
        add a1, a1, a2
        put a1, CONSOLE + 4
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0x28)


def test_the_watchdog_restarts_the_chip(run: Run) -> None:
    result = run(
        "picorv32",
        """
        li t0, GUARD
        lw a0, 0x10(t0)
        bnez a0, 1f
        letter 65
        li a1, 3000
        sw a1, 8(t0)
        j .
    1:  letter 66
        li t5, 0x1000000
        put t5, CONSOLE + 8
        leave 5
        """,
    )
    assert (result.stop, result.exit_status, result.text) == (Stop.EXIT, 5, "AB")
    assert 3000 < result.cycles < 3100
    counts = [phase.instructions or 0 for phase in result.phases]
    assert counts[0] > 2900, "those that it ran before the restart count too"
    assert min(counts) >= 0


def test_the_watchdog_restarts_a_chip_that_sleeps(run: Run) -> None:
    result = run(
        "ibex",
        """
        li t0, GUARD
        lw a0, 0x10(t0)
        bnez a0, 1f
        li a1, 3000
        sw a1, 8(t0)
        csrw mie, zero
        wfi
    1:  leave 5
        """,
    )
    assert (result.stop, result.exit_status) == (Stop.EXIT, 5)
    assert 3000 < result.cycles < 3100


def test_a_core_that_does_nothing_more_is_noticed(run: Run) -> None:
    sleeping = run("ibex", "csrw mie, zero\n wfi\n leave 1")
    assert sleeping.stop is Stop.STALL
    spinning = run("ibex", "j .", stall_cycles=10_000)
    assert spinning.stop is Stop.STALL
    ended = run("ibex", "j .", max_cycles=5_000)
    assert (ended.stop, ended.cycles >= 5_000) == (Stop.LIMIT, True)


def test_a_run_that_takes_too_long_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "0.001")
    with pytest.raises(SimulationError, match="E088"):
        run("ibex", "j .", stall_cycles=10**12, max_cycles=10**12)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("isa: rv32imc\n", "isa: rv32imc_zba_zbb_zbs\n", "has zba, zbb, zbs"),
        (", controller: fast", "", "does not say what its interrupt controller is"),
        ("origin: 0x2000_0000", "origin: 0x2000_0800", "is not a multiple of 4096 bytes"),
    ],
)
def test_a_chip_that_no_simulator_runs_is_refused(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    core = (find_core("ibex", "cpu", Path(), None)).read_text()
    chip = (ROOT / "socs" / "lagoon.yaml").read_text()
    assert (old in core) != (old in chip)
    (tmp_path / "mine.yaml").write_text(core.replace(old, new))
    text = chip.replace(old, new).replace("core: picorv32", "core: ./mine.yaml")
    (tmp_path / "chip.yaml").write_text(text)
    with pytest.raises(SimulationError, match="E102") as caught:
        check_chip(load_soc(str(tmp_path / "chip.yaml"), ()))
    assert said in str(caught.value)


def test_a_core_with_vectors_is_left_to_qemu() -> None:
    words = ("devices.cpu.core=riscv", "devices.cpu.isa=rv32imafdc_zve32x")
    with pytest.raises(SimulationError, match="E102") as caught:
        check_chip(load_soc("lagoon", words))
    (fault,) = caught.value.faults
    assert "'rv32imafdc_zve32x' has vectors, which Unicorn does not run" in fault.message
    assert fault.remedy == "use --cpu qemu"


@pytest.mark.parametrize("own", [62_700_000, 97_300_000, 100_000_000, 1_000_000_000])
def test_no_core_sees_what_comes_later_by_its_clock(own: int) -> None:
    clock = CoreClock(own, 100_000_000)
    for at in (0, 1, 7, 1_000_003):
        seen = clock.from_host(at)
        assert clock.to_host(seen) >= at > clock.to_host(seen - 1)


def test_a_mailbox_answers_when_the_other_core_has_ended() -> None:
    """A core may be ahead of the host, which asks at its own time."""
    box = Mailbox("cpu")
    box.write(MAILBOX["COMMAND"], 5, "cpu", 10)
    box.write(MAILBOX["RESULT"], 7, "dsp", 100)
    assert [box.read(MAILBOX["STATUS"], "cpu", now) for now in (50, 99, 100)] == [BUSY, BUSY, DONE]


def test_without_unicorn_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atoll_sim.iss.iss_run.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"E070.*'unicorn'") as caught:
        check_kinds(CpuKind.ISS)
    assert "pip install 'atoll[iss]'" in str(caught.value)


class Counts(Tally):
    """What the core had counted at each TRACE event, and at which addresses."""

    def __init__(self, spans: Sequence[range] = ()) -> None:
        super().__init__(())
        self.spans = spans
        self.found: list[tuple[tuple[int, ...], int, Sequence[tuple[int, ...]]]] = []

    def note(self, trace: Trace, turn: int, cores: Mapping[str, IssCore], model: IssModel) -> None:
        state = cores["cpu"].state
        touches = model.touches(state, len(self.spans)) if self.found else ()
        self.found.append((tuple(state.ran), state.lines, touches))
        model.count_touches(state, self.spans)


TRACED = """
    put zero, CONSOLE + 8
    j 3f
3:  li a0, {rounds}
    .balign 32
1:
    .rept {nops}
    nop
    .endr
    addi a0, a0, -1
    beqz a0, 2f
    j 1b
2:  put zero, CONSOLE + 8
    leave 0
"""


@pytest.mark.parametrize(
    ("words", "lines"),
    [(256, 32), (1024, 128 * 10), (640, 80 + 9 * 32)],
    ids=["fits", "twice as large", "a quarter too large"],
)
def test_an_instruction_cache_has_one_place_for_each_line(
    words: int, lines: int, tmp_path: Path
) -> None:
    """Of 2 KiB with lines of 32 bytes; what overwrites is overwritten in each round."""
    counts, text = Counts(), HEAD + TRACED.format(rounds=10, nops=words - 3)
    run_program(tmp_path, "vexriscv", "rv32im", text, tally=counts)
    (_, before, _), (_, after, _) = counts.found
    assert after - before == pytest.approx(lines, abs=4)


def test_instructions_of_each_class_and_accesses_of_spans_are_counted(tmp_path: Path) -> None:
    text = """
    put zero, CONSOLE + 8
    j 3f
3:  li a0, RAM
    .rept 5
    lw a1, 16(a0)
    .endr
    .rept 3
    sw a1, 32(a0)
    .endr
    sb a1, 35(a0)
    lb a1, 40(a0)
    mul a1, a1, a1
    divu a1, a1, a0
    slli a1, a1, 8
    beqz zero, 2f
    nop
2:  put zero, CONSOLE + 8
    leave 0
    """
    ram = 0x1000_0000
    counts = Counts([range(ram + 16, ram + 20), range(ram + 32, ram + 36), range(2**32 - 1)])
    run_program(tmp_path, "ibex", "rv32im", HEAD + text, tally=counts)
    (before, _, _), (after, _, touches) = counts.found
    ran = dict(zip(CLASSES, map(int.__sub__, after, before), strict=True))
    assert (ran["multiply"], ran["divide"], ran["branch"], ran["shifted"]) == (1, 1, 1, 7)
    written_last = 2  # by the block that begins with the store to TRACE
    assert (ran["load"], ran["store"], ran["taken"]) == (6, 4 + written_last, 1)
    assert touches[:2] == [(5, 0, 0, 0), (0, 4, 0, 0)]
    assert touches[2][0] == 1


LINES = """
    put zero, CONSOLE + 8
    j 3f
3:  li a0, {first}
    li a3, {rounds}
1:  mv a1, a0
    li a2, {accesses}
2:  {access} zero, 0(a1)
    addi a1, a1, {step}
    addi a2, a2, -1
    bnez a2, 2b
    {then}
    addi a3, a3, -1
    bnez a3, 1b
    put zero, CONSOLE + 8
    leave 0
"""
CLEANED, FORGOTTEN = ".insn i 0x0F, 2, x0, a0, 1", ".insn i 0x0F, 2, x0, a0, 0"


@pytest.mark.parametrize(
    ("values", "write_back", "lines"),
    [
        ({"accesses": 256, "step": 4}, True, (32, 0)),
        ({"accesses": 288, "step": 4}, True, (32 + 4 + 2 * 12, 0)),
        ({"accesses": 2, "step": 512}, True, (2, 0)),
        ({"accesses": 3, "step": 512}, True, (9, 0)),
        ({"accesses": 3, "step": 256}, True, (3, 0)),
        ({"accesses": 64, "step": 4, "access": "sw"}, True, (8, 8)),
        ({"accesses": 64, "step": 4, "access": "sw"}, False, (0, 0)),
        ({"accesses": 64, "step": 4, "access": "sw", "then": CLEANED}, True, (8, 8 + 2)),
        ({"accesses": 64, "step": 4, "access": "sw", "then": FORGOTTEN}, True, (8 + 2, 8 + 2)),
        ({"accesses": 3, "step": 512, "access": "sw"}, True, (9, 9)),
        ({"accesses": 1, "step": 4, "first": "RAM + 30", "access": "lh"}, True, (1, 0)),
    ],
    ids=[
        *("fits", "an eighth too large", "two ways", "three lines in two ways", "two sets"),
        *("stores", "stores through", "cleaned", "forgotten", "dirty lines make room", "one line"),
    ],
)
def test_lines_of_a_data_cache_are_counted(
    values: Mapping[str, object], write_back: bool, lines: tuple[int, int], tmp_path: Path
) -> None:
    """Of 1 KiB in two ways and 16 sets of lines of 32 bytes, three times through an array."""
    span = range(0x1000_0000, 0x1000_4000)
    counts = Counts([span])
    usual = {"first": "RAM", "rounds": 3, "access": "lw", "then": ""}
    cache = {"line": 32, "size": "1 KiB", "ways": 2, "write_back": str(write_back).lower()}
    settings = [f"devices.cpu.cache.{key}={value}" for key, value in cache.items()]
    text = HEAD + LINES.format(**usual | dict(values))
    run_program(tmp_path, str(CORE), "rv32imc", text, overrides=settings, tally=counts)
    _, (_, _, touches) = counts.found
    assert touches[0][2:] == lines


@pytest.mark.parametrize(
    ("instruction", "bits"),
    [
        ("slli t0, t0, 20", 19),
        ("srli t0, t0, 1", 0),
        ("srai t0, t0, 31", 30),
        ("sll t0, t0, t1", 9),
        ("sra t0, t0, t1", 9),
        ("add t0, t0, t1", 0),
        ("sub t0, t0, t1", 0),
        ("mulh t0, t0, t1", 0),
        ("addi t0, t0, 20", 0),
        ("c.slli t0, 5", 4),
        ("c.srli s0, 7", 6),
        ("c.srai s0, 8", 7),
        ("c.andi s0, 8", 0),
        ("c.sub s0, s1", 0),
    ],
)
def test_shifts_cost_by_their_bits(
    run: Run, monkeypatch: pytest.MonkeyPatch, instruction: str, bits: int
) -> None:
    """Each bit beyond the first costs what the description says; a register has ten of them."""
    took = {}
    for cost in (0, 100):
        costs = tuple({"taken": 0, "shifted": cost}.get(name, 1) for name in CLASSES)
        monkeypatch.setattr(iss_core, "costs_of", lambda cpu, costs=costs: costs)
        took[cost] = run("ibex", f".option rvc\n {instruction}\n .option norvc\n leave 0").cycles
    assert took[100] - took[0] == 100 * bits
