# SPDX-License-Identifier: Apache-2.0
"""K2: stack bounds from machine code, on code whose frames are known."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from elftools.elf.elffile import ELFFile
from tests.effort import in_gate

from atoll.bsp.interface import Firmware
from atoll.bsp.toolchain import Link
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import PlanError
from atoll.isa.find import instruction_set
from atoll.resolve.soc import Cpu, ResolvedSoc, StackLimit
from atoll.stack.elf_bounds import bounds
from atoll.stack.elf_check import check_stack
from atoll.stack.elf_stack import Program

SCRIPT = """SECTIONS {
  .text 0x100 : { KEEP(*(.text)) }
  .atoll.calls 0 (INFO) : { KEEP(*(.atoll.calls)) }
  .riscv.attributes 0 : { *(.riscv.attributes) }
  .symtab 0 : { *(.symtab) }
  .strtab 0 : { *(.strtab) }
  .shstrtab 0 : { *(.shstrtab) }
  /DISCARD/ : { *(.comment .data* .bss* .*rodata* .llvm_addrsig .note.*) }
}
"""
FUNCTION = ".globl {0}\n.type {0}, @function\n{0}:\n{1}\n.size {0}, . - {0}\n"


@pytest.fixture
def assemble(tmp_path: Path) -> Callable[..., Path]:
    """Link functions that are given as assembly text; the first one is the entry."""

    def run(**functions: str) -> Path:
        text = "".join(FUNCTION.format(*item) for item in functions.items())
        (tmp_path / "code.S").write_text(
            f".text\n.set atoll_reset, {next(iter(functions))}\n{text}"
        )
        (tmp_path / "script.ld").write_text(SCRIPT)
        (tmp_path / "obj").mkdir(exist_ok=True)
        tools = Zig(instruction_set("rv32imc"))
        tools.compile("code.S", tmp_path / "code.o", folder=tmp_path)
        link = Link(
            folder=tmp_path, objects=("code.o",), script="script.ld", elf="code.elf", map="code.map"
        )
        assert tools.link(link) == ""
        return tmp_path / "code.elf"

    return run


def frame(size: int, body: str = "") -> str:
    enter = f"addi sp, sp, -{size}\nsw ra, {size - 4}(sp)"
    leave = f"lw ra, {size - 4}(sp)\naddi sp, sp, {size}\nret"
    return f"{enter}\n{body}\n{leave}"


def calls(*names: str) -> str:
    """Annotate pairs (caller, callee), as `ATOLL_STACK_CALLS` does."""
    words = ", ".join(names)
    return f'\n.pushsection .atoll.calls, "a"\n.word {words}\n.popsection\n'


POINTER_CALL = frame(16, "lw a5, 0(a0)\njalr a5")

BOUNDS: dict[str, tuple[dict[str, str], int]] = {
    "leaf": ({"a": "ret"}, 0),
    "compressed frame": ({"a": frame(32)}, 32),
    "deepest of two calls": (
        {"a": frame(16, "call b\ncall c"), "b": frame(48), "c": frame(32)},
        64,
    ),
    "call before the frame is there": (
        {
            "a": "mv s1, ra\ncall b\nmv ra, s1\naddi sp, sp, -64\naddi sp, sp, 64\nret",
            "b": frame(96),
        },
        96,
    ),
    "tail call after the frame is gone": (
        {"a": "addi sp, sp, -16\naddi sp, sp, 16\ntail b", "b": frame(64)},
        64,
    ),
    "jump into another function": ({"a": "addi sp, sp, -16\nj b", "b": "1: j 1b"}, 16),
    "frame of several steps": (
        {"a": "addi sp, sp, -2032\naddi sp, sp, -512\naddi sp, sp, 1536\naddi sp, sp, 1008\nret"},
        2544,
    ),
    "frame from a register": (
        {"a": "li t0, 8208\nsub sp, sp, t0\nli t0, 8208\nadd sp, sp, t0\nret"},
        8208,
    ),
    "frame pointer": (
        {"a": frame(32, "addi s0, sp, 32\ncall b\naddi sp, s0, -32")} | {"b": frame(16)},
        48,
    ),
    "early return": (
        {"a": "beqz a0, 1f\naddi sp, sp, -64\naddi sp, sp, 64\n1: ret"},
        64,
    ),
    "function through a register": ({"a": frame(16, "la a5, b\njalr a5"), "b": frame(32)}, 48),
    "code after a function that never returns": (
        {"a": "addi sp, sp, -16\ncall b\naddi sp, sp, -1024\n1: j 1b", "b": "1: j 1b"},
        16,
    ),
    "loop": ({"a": frame(16, "1: call b\nbnez a0, 1b"), "b": frame(16)}, 32),
    "end by trap": ({"a": "addi sp, sp, -16\nunimp"}, 16),
    "annotated call": (
        {"a": POINTER_CALL + calls("a", "b", "a", "c"), "b": frame(32), "c": frame(64)},
        80,
    ),
    "annotated call beside a deeper one": (
        {"a": frame(16, "jalr a0\ncall c") + calls("a", "b"), "b": frame(32), "c": frame(64)},
        80,
    ),
    "annotated tail call": (
        {"a": "lw a5, 0(a0)\njr a5" + calls("a", "b"), "b": frame(48)},
        48,
    ),
    "code after an annotated tail call": (
        {"a": frame(16, "call t"), "t": "jr a0" + calls("t", "b"), "b": frame(48)},
        64,
    ),
    "call on the stack of another thread": (
        {
            "a": frame(32, "mv s0, sp\nlui sp, 0x12345\ncall b\nmv sp, s0\ncall c")
            + "\n.globl atoll_io_stack_top\n.set atoll_io_stack_top, 0x12345000"
            + "\n.globl atoll_stack_top\n.set atoll_stack_top, 0x12346000",
            "b": frame(512),
            "c": frame(16),
        },
        48,
    ),
    "link in a register that the callee keeps": (
        {"a": "mv t0, ra\ncall b\njr t0", "b": "addi sp, sp, -16\naddi sp, sp, 16\nret"},
        16,
    ),
    "falling through": ({"a": "addi sp, sp, -16", "b": "addi sp, sp, -32\n1: j 1b"}, 48),
}


def test_an_image_is_read_once_for_each_content_and_question(
    assemble: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    reader = Program.read

    def counted(path: Path) -> Program:
        read.append(path)
        return reader(path)

    monkeypatch.setattr(Program, "read", counted)
    elf = assemble(a=frame(16, "call b"), b=frame(48))
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    first = bounds(elf, ("a", "b"), ("c",))
    assert first == {"a": reader(elf).bound("a"), "b": reader(elf).bound("b")}
    assert bounds(elf, ("a", "b"), ("c",)) == first
    assert len(read) == 1
    assert bounds(elf, ("b",)) == {"b": first["b"]}
    with monkeypatch.context() as outside:
        outside.delenv("ATOLL_CACHE")
        changed = assemble(a=frame(32, "call b"), b=frame(48))
    assert bounds(changed, ("a", "b"), ("c",))["a"].bytes == 80
    assert len(read) == 3


@pytest.mark.parametrize("case", BOUNDS)
def test_k2_bound(assemble: Callable[..., Path], case: str) -> None:
    functions, size = BOUNDS[case]
    bound = Program.read(assemble(**functions)).bound("a")
    assert bound.bytes == size
    assert sum(held for _, held in bound.path) == size
    assert bound.path[0][0] == "a"


REFUSALS: dict[str, tuple[dict[str, str], str]] = {
    "recursion": (
        {"a": frame(16, "call b"), "b": frame(16, "call c"), "c": frame(16, "call b")},
        "b > c > b",
    ),
    "recursion by tail call": (
        {"a": "beqz a0, 1f\ntail b\n1: ret", "b": "tail a"},
        "a > b",
    ),
    "an address that the code stores and restores": (
        {"a": "addi sp, sp, -16\nlw t1, 0(a0)\nsw t1, 12(sp)\nlw ra, 12(sp)\naddi sp, sp, 16\nret"},
        "a jumps at 0x",
    ),
    "an address in the link register": ({"a": "lw ra, 0(a0)\nret"}, "a jumps at 0x"),
    "a callee that returns by another register": (
        {"a": frame(16, "lw t0, 0(a0)\ncall b"), "b": "jr t0"},
        "a jumps at 0x",
    ),
    "call through a table": ({"a": frame(16, "lw a5, 0(a0)\njalr a5")}, "a jumps at 0x"),
    "switch": ({"a": "lw a5, 0(a0)\njr a5"}, "a jumps at 0x"),
    "annotated switch": (
        {"a": "lw a5, 0(a0)\njr a5\naddi sp, sp, -64\n1: j 1b" + calls("a", "b"), "b": "ret"},
        "a jumps at 0x",
    ),
    "annotation without a call": (
        {"a": frame(16, "call b") + calls("a", "b"), "b": "ret"},
        "ATOLL_STACK_CALLS says what a calls, but it calls nothing through a pointer",
    ),
    "annotation of no function": (
        {"a": POINTER_CALL + calls("a", "a + 4")},
        "ATOLL_STACK_CALLS says that a calls 0x0+104, where no function starts",
    ),
    "annotation that recurs": (
        {"a": POINTER_CALL + calls("a", "b"), "b": frame(16, "call a")},
        "a > b > a",
    ),
    "fault on another stack": (
        {
            "a": frame(32, "mv s0, sp\nlui sp, 0x12345\ncall b\nmv sp, s0")
            + "\n.globl atoll_io_stack_top\n.set atoll_io_stack_top, 0x12345000",
            "b": POINTER_CALL,
        },
        "b jumps at 0x",
    ),
    "half an annotation": ({"a": POINTER_CALL + calls("a")}, "has 4 bytes, no list of pairs"),
    "no function there": ({"a": frame(16, "la a5, a + 0x1000\njalr a5")}, "no function is there"),
    "link in a register that the callee changes": (
        {"a": "mv t0, ra\ncall b\njr t0", "b": "li t0, 1\nret"},
        "a jumps at 0x",
    ),
    "link in a register that the callee's callee changes": (
        {"a": "mv t0, ra\ncall b\njr t0", "b": "tail c", "c": "li t0, 1\nret"},
        "a jumps at 0x",
    ),
    "alloca": ({"a": "sub sp, sp, a0\nadd sp, sp, a0\nret"}, "a loses track"),
    "alloca in a loop": ({"a": "1: addi sp, sp, -16\nbnez a0, 1b\nunimp"}, "a loses track"),
    "no way back": ({"a": "addi sp, sp, -16\nret"}, "a loses track"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_k2_refusal(assemble: Callable[..., Path], case: str) -> None:
    functions, words = REFUSALS[case]
    with pytest.raises(PlanError, match=words) as caught:
        Program.read(assemble(**functions)).bound("a")
    assert {fault.code for fault in caught.value.faults} == {"E076"}


def test_an_image_whose_start_up_code_goes_elsewhere_is_refused(
    assemble: Callable[..., Path],
) -> None:
    """Start-up code of one's own, that never goes on with Atoll's."""
    with pytest.raises(PlanError, match="no 'atoll_start'") as caught:
        bounds(assemble(atoll_reset_of_ones_own="j atoll_reset"), ["atoll_start"])
    (fault,) = caught.value.faults
    assert fault.code == "E076"
    assert fault.remedy == "let start-up code of your own go on with 'atoll_start'"


def test_k2_all_faults_are_reported_and_unreachable_ones_are_not(
    assemble: Callable[..., Path],
) -> None:
    functions = {
        "a": frame(16, "call b\ncall c"),
        "b": frame(16, "jalr a0"),
        "c": frame(16, "call c"),
        "unused": frame(16, "call unused"),
    }
    with pytest.raises(PlanError) as caught:
        Program.read(assemble(**functions)).bound("a")
    messages = sorted(fault.message for fault in caught.value.faults)
    assert [message.split()[0] for message in messages] == ["b", "recursion"]


def random_program(seed: int) -> str:
    """Return C of functions that call only later ones, with arrays of up to 3000 bytes."""
    choice = random.Random(seed)
    count = 6
    parts = [f"__attribute__((noinline, unused)) static int f{n}(int);" for n in range(count)]
    for number in range(count):
        size = choice.choice([1, 16, 100, 900, 2040, 2100, 3000])
        later = range(number + 1, count)
        called = choice.sample(later, min(len(later), choice.randint(1, 3)))
        calls = "".join(f" sum += f{n}(sum) + sum;" for n in called)
        parts.append(
            f"static int f{number}(int x) {{ volatile char a[{size}]; a[0] = (char)x;"
            f" a[{size - 1}] = 1; int sum = x;{calls} return sum + a[x & 0]; }}"
        )
    return "\n".join(parts) + "\nRUN { (void)in; (void)out; return f0(1) & 0; }"


@pytest.mark.parametrize("seed", in_gate(range(4), 0, 1))
def test_k5_compiled_programs_use_what_the_bound_says(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
    platform: ModuleType,
    seed: int,
) -> None:
    """Every path is taken, so the watermark reaches the bound but for padding of one frame."""
    soc = make_soc(cpu=make_cpu(stack_size=0x3000))
    firmware = build(random_program(seed), soc)
    core, console = platform.power_on(soc, firmware, [1, 2], {3: platform.Reef()})
    core.run()
    assert console.results == [0]
    used = platform.watermark(soc, core)
    assert used <= firmware.stack.bytes < used + 16


HANDLERS = """
#include "atoll_stack.h"
static int32_t shallow(int32_t x) { volatile char a[40]; a[x & 7] = 1; return a[x & 7]; }
static int32_t deep(int32_t x) { volatile char a[700]; a[x & 7] = 1; return a[x & 7]; }
typedef int32_t (*handler_t)(int32_t);
static const volatile handler_t handlers[] = {shallow, deep};
static int32_t __attribute__((noinline)) handle(int32_t number, int32_t x) {
  return handlers[number](x) + 1;
}
RUN { (void)in; (void)out; return handle(0, 1) + handle(1, 2) - 4; }
"""
NAMED = "ATOLL_STACK_CALLS(handle, shallow);\nATOLL_STACK_CALLS(handle, deep);\n"


def test_k2_k5_calls_through_a_table_are_in_the_bound_once_the_source_names_them(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
    platform: ModuleType,
) -> None:
    """Following the remedy of the refusal, and nothing else, makes a firmware that is checked."""
    soc = make_soc(cpu=make_cpu(stack_size=0x3000))
    with pytest.raises(PlanError, match="handle jumps at") as caught:
        build(HANDLERS, soc)
    assert "ATOLL_STACK_CALLS of atoll_stack.h" in str(caught.value)
    firmware = build(HANDLERS.replace("RUN {", f"{NAMED}RUN {{"), soc)
    assert [name for name, _ in firmware.stack.path][-2:] == ["handle", "deep"]
    core, console = platform.power_on(soc, firmware, [1, 2], {3: platform.Reef()})
    core.run()
    assert console.results == [0]
    used = platform.watermark(soc, core)
    assert used <= firmware.stack.bytes < used + 16


def test_k2_annotations_take_no_room_in_the_image(
    build: Callable[..., Firmware], make_soc: Callable[..., ResolvedSoc]
) -> None:
    firmware = build(HANDLERS.replace("RUN {", f"{NAMED}RUN {{"), make_soc())
    with firmware.elf.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".atoll.calls")
        assert section is not None
        assert section.data_size == 16
        assert not section["sh_flags"] & 2


DEEP = """
RUN {
  volatile char a[900];
  (void)out;
  a[in->image_[0] & 7] = 0;
  return a[in->image_[0] & 7];
}
"""


def _limited(cpu: Cpu, limit: int) -> Cpu:
    return replace(cpu, max_stack_size=StackLimit(value=limit, layer="islet.yaml:9:5"))


def test_k2_a_run_beyond_max_stack_size_is_refused_with_the_limit_that_fits(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    cpu = make_cpu()
    with pytest.raises(
        PlanError, match=r"max_stack_size is 1024 B \(from islet.yaml:9:5\)"
    ) as fail:
        build(DEEP, make_soc(cpu=_limited(cpu, 1024)))
    (fault,) = fail.value.faults
    assert fault.code == "E066"
    assert fault.remedy is not None
    need = int(fault.remedy.split()[-4])
    firmware = build(DEEP, make_soc(cpu=_limited(cpu, need)))
    assert f"digits_run {need - cpu.interrupt_reserve}" in str(firmware.stack)
    with pytest.raises(PlanError):
        check_stack(_limited(cpu, need - 1), firmware.elf, {"digits_run": ""})


def test_k2_a_stack_that_is_too_small_for_the_firmware_is_refused(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    small = _limited(make_cpu(stack_size=1168), 4096)
    with pytest.raises(PlanError, match="the stack has 1168 B") as caught:
        build(DEEP, make_soc(cpu=small))
    (fault,) = caught.value.faults
    assert fault.remedy is not None
    size = int(fault.remedy.split()[-4])
    build(DEEP, make_soc(cpu=_limited(make_cpu(stack_size=size), 4096)))
