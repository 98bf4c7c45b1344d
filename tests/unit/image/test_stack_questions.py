# SPDX-License-Identifier: Apache-2.0
"""What `check-image` says of stacks and loads of somebody else's firmware, and what it is asked."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.foreign_images import SCRIPT as PLAIN_SCRIPT
from tests.foreign_images import Compiler, environment
from tests.stack_measure import measure

from atoll.cli import main
from atoll.stack.bound import Depth, StackBound
from atoll.stack.elf_stack import Program
from atoll.stack.frame_sizes import read_usage
from atoll.utils.cache import cache_folder
from atoll_image.elf import read_image
from atoll_image.image_stacks import Questions, stack_of

GOLDEN = Path(__file__).parents[2] / "golden/image/stacks.txt"
CHIP = """\
soc: m4
version: 1
devices:
  cpu:
    kind: cpu
    core: cortex_m4
    isa: armv7e-m+fp
    stack: {memory: sram, size: 4 KiB, interrupts: 256}
    code: {memory: flash, size: 256 KiB}
    data: {memory: sram, size: 16 KiB}
memories:
  flash: {origin: 0x0800_0000, size: 1 MiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 128 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw}, provided: application}
host: cpu
"""
SCRIPT = """
ENTRY(Reset_Handler)
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 256K
         RAM (rwx) : ORIGIN = 0x20001000, LENGTH = 16K }
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } > FLASH
  .text : { *(.text*) *(.rodata*) } > FLASH
  .extra : { KEEP(*(.extra)) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss (NOLOAD) : { *(.bss*) } > RAM
  /DISCARD/ : { *(.ARM.ex*) *(.comment) }
}
"""
SOURCE = """
#define ALONE __attribute__((noinline))
volatile int t[4] = {1, 2, 3, 4};
__attribute__((section(".extra"), used)) const int extra[8] = {9};
ALONE int deep(int n) {
  volatile char a[3000]; for (int i = 0; i < 3000; i++) a[i] = n; return a[n & 2047]; }
#if defined(RECURSION)
int odd(int n);
ALONE int even(int n) { t[0] = n; return n ? odd(n - 1) + t[1] : 1; }
ALONE int odd(int n) { t[1] = n; return n ? even(n - 1) + t[2] : 0; }
int main(void) { return even(t[2]); }
#elif defined(LARGE)
ALONE int more(int n) { volatile char a[1500]; a[n & 1023] = 1; return deep(n) + a[3]; }
int main(void) { return more(t[2]); }
#elif defined(ELSEWHERE)
int main(void) { __asm__ volatile("ldr r0, =0x20010000\\n mov sp, r0\\n b .\\n .ltorg"); return 0; }
#elif defined(SWITCH)
#define TEXT(word) #word
#define AT(place) "mov r4, sp\\n ldr r1, =other + " TEXT(place) "\\n mov r5, lr\\n mov sp, r1\\n"
char other[4096];
__attribute__((naked, noinline)) int gate(int n) {
  __asm__(AT(SWITCH) "bl deep\\n mov sp, r4\\n bx r5\\n .ltorg"); }
int main(void) { return gate(t[2]); }
#elif defined(SECOND)
int main(void) { __asm__ volatile("msr psp, %0" : : "r"(t[1])); return deep(t[2]); }
#elif defined(VTOR)
void Later(void) { deep(t[1]); }
void *FIXED more[5] __attribute__((aligned(128))) = {0, 0, 0, (void *)Later, 0};
int main(void) { *(volatile unsigned *)0xE000ED08 = (unsigned)more; return t[2]; }
#else
int main(void) { return deep(t[2]); }
#endif
#ifdef PACKAGE  // an application of a package's own, that runs no models on a thread
void atoll_interrupt(void) {}
__attribute__((alias("Reset_Handler"))) void atoll_reset(void);
#endif
void Reset_Handler(void) { main(); for (;;) t[3]++; }
void Handler(void) { volatile char a[HANDLED]; a[t[0] & 15] = 1; t[1] = a[t[0] & 15]; }
void Other(void) { volatile char a[60]; a[t[0] & 31] = 1; t[1] = a[t[0] & 31]; }
__attribute__((section(".isr_vector"), used)) const void *const table[] = {
  (void *)0x20001000, (void *)Reset_Handler, (void *)Handler, 0, (void *)Other, (void *)Handler};
"""


def linked(folder: Path, *flags: str, script: str = SCRIPT) -> Path:
    (folder / "chip.yaml").write_text(CHIP)
    (folder / "chip.ld").write_text(script)
    (folder / "main.c").write_text(SOURCE)
    target = ["-target", "thumb-freestanding-eabi", "-mcpu=cortex_m4", "-Os", "-ffreestanding"]
    target += ["-fno-sanitize=all", "-fno-stack-protector", "-w"]
    link = ["-m", "armelf", "--no-check-sections", "-T", "chip.ld", "main.o", "-o", "it.elf"]
    cache = str(cache_folder() / "zig")
    paths = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache, "PATH": "/usr/bin:/bin"}
    for words in (
        ["cc", *target, *(flags or ("-DHANDLED=20",)), "-c", "main.c", "-o", "main.o"],
        ["ld.lld", *link],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ziglang", *words],
            cwd=folder,
            env=paths,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return folder / "it.elf"


def held(elf: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["check-image", str(elf.parent / "chip.yaml"), str(elf), *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_stack_of_a_vendors_firmware_is_not_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = held(linked(tmp_path), capsys)
    assert status == 0
    row = next(line for line in out.splitlines() if "cpu.stack" in line)
    assert int(row.split()[5].replace(",", "")) >= 3000 + 256


def test_a_stack_that_nothing_bounds_is_not_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = linked(tmp_path, "-DHANDLED=20", "-DRECURSION")
    status, out, err = held(elf, capsys)
    assert status == 1
    assert "error[E183]: the stack is not bounded: recursion" in err
    assert "even > odd > even" in err
    assert next(line for line in out.splitlines() if "cpu.stack" in line).endswith("not bounded")
    status, out, err = held(elf, capsys, "--json")
    chart = {row["region"]: row for row in json.loads(out)["usage"]}
    assert chart["cpu.stack"]["used_bytes"] is None
    assert chart["cpu.stack"]["free_bytes"] is None
    status, out, err = held(elf, capsys, "--allow-unbounded")
    assert (status, err) == (0, "")
    assert "not known to agree with m4: workspaces of the application are not known" in out
    assert "has a record; its stack is not bounded" in out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("-DHANDLED=20", "-DLARGE"), "the firmware of 'cpu' may use"),
        (("-DHANDLED=400",), "interrupts on 'cpu' may use"),
        (("-DHANDLED=20", "-DELSEWHERE"), "sets the stack pointer to 0x20010000, outside"),
    ],
)
def test_limits_hold_for_a_vendors_firmware(
    flags: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = held(linked(tmp_path, *flags), capsys)
    assert status == 1
    assert said in err


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("AT(ADDR(.extra)) ", "is loaded from"),
        ("AT(ADDR(.extra) + SIZEOF(.extra) + 2) ", "not a multiple of 4"),
        ("AT(0x08050000) ", "outside of 'cpu.code'"),
        ("AT(ADDR(.extra) + SIZEOF(.extra) + 4) ", ""),
    ],
)
def test_where_sections_are_copied_from(
    place: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = SCRIPT.replace(".data : {", f".data : {place}{{").replace("RAM AT > FLASH", "RAM")
    status, _, err = held(linked(tmp_path, script=script), capsys)
    assert status == (1 if said else 0), err
    assert said in err


def test_an_application_that_runs_nothing_on_a_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = SCRIPT.replace("0x20001000", "0x20002000")
    elf = linked(tmp_path, "-DHANDLED=20", "-DPACKAGE", script=moved)
    threads = "interrupts: 256, threads: {net: 4 KiB}, runs: net"
    (tmp_path / "chip.yaml").write_text(CHIP.replace("interrupts: 256", threads))
    status, out, err = held(elf, capsys)
    assert (status, err) == (0, "")
    rows = {line.split()[1]: line for line in out.splitlines() if "stack" in line}
    assert rows["cpu.net.stack"].endswith("not known")
    assert "3,2" in rows["cpu.stack"]


def bytes_of(elf: Path, questions: Questions) -> tuple[int | None, int | None]:
    use = stack_of(elf, read_image(elf), questions)
    return use.entry_bytes, use.interrupt_bytes


def test_vectors_that_the_program_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = linked(tmp_path, "-DHANDLED=20", "-DVTOR", "-DFIXED=const")
    _, size = bytes_of(elf, Questions())
    assert size is not None
    assert size >= 3000 + 36
    elf = linked(tmp_path, "-DHANDLED=20", "-DVTOR", "-DFIXED=")
    assert bytes_of(elf, Questions())[1] is None
    assert main(["check-image", "--stack-only", str(elf)]) == 1
    said = capsys.readouterr()
    assert "sets where exceptions begin to a table at" in said.out
    assert "error[E183]: what interrupts take of the stack is not known: " in said.err
    assert main(["check-image", "--stack-only", str(elf), "--allow-unbounded"]) == 0


def test_on_what_a_bound_rests_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = linked(tmp_path)
    rests = {
        (): ("VTOR leads to the vectors at 0x08000000", "no handler interrupts another one"),
        ("--nested",): ("a handler interrupts none of its own priority",),
        ("--entry", "deep"): ("nothing but deep counts as the program",),
    }
    for options, said in rests.items():
        words = ["check-image", "--stack-only", str(elf), *options]
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        assumes = json.loads(capsys.readouterr().out)["assumes"]
        assert all(any(each.startswith(start) for each in assumes) for start in said)
        assert assumes[-2].startswith("below its stack pointer, a function stores only where its")
        assert assumes[-1].startswith("no store through a pointer changes")
        assert main(words) == 0
        out = capsys.readouterr().out
        assert out.endswith("".join(f"  {each}\n" for each in assumes))
    status, out, _ = held(elf, capsys)
    assert (status, "The bound of the stack assumes\n  VTOR leads to" in out) == (0, True)


def test_interrupts_nest_by_priority_if_asked(tmp_path: Path) -> None:
    elf = linked(tmp_path)
    _, one = bytes_of(elf, Questions())
    _, both = bytes_of(elf, Questions(nested=True))
    _, same = bytes_of(elf, Questions(nested=True, priorities={"Handler": 1, "Other": 1}))
    _, apart = bytes_of(elf, Questions(nested=True, priorities={"Handler": 1, "Other": 2}))
    assert one is not None
    assert both is not None
    assert one < both == apart
    assert one == same
    assert bytes_of(elf, Questions(entries=("deep",)))[0] in range(3000, 3040)


def test_sizes_of_the_compiler_bound_what_code_does_not(tmp_path: Path) -> None:
    elf = Compiler("zig", "rv32", "-Os").link("VLA", tmp_path)
    assert bytes_of(elf, Questions())[0] is None
    bounded = tmp_path / "main.su"
    bounded.write_text(
        "main.c:39:11:vary\t700\tdynamic,bounded\nmain.c:41:11:work\t700\tdynamic,bounded\n"
    )
    size = bytes_of(elf, Questions(usage=(tmp_path,)))[0]
    assert size is not None
    assert size >= max(700, measure(elf, "_start").bytes)
    bounded.write_text("main.c:39:11:vary\t700\tdynamic\nmain.c:41:11:work\t700\tdynamic\n")
    assert bytes_of(elf, Questions(usage=(bounded,)))[0] is None


def test_sizes_of_a_name_that_two_functions_have(tmp_path: Path) -> None:
    elf = Compiler("zig", "rv32", "-Os").link("VLA", tmp_path)
    usage = tmp_path / "main.su"
    usage.write_text("main.c:1:11:vary\t0\tstatic\nmain.c:1:11:work\t700\tstatic\n")
    program = Program.read(elf, read_usage((usage,)))
    twin = next(each for each, name in program.code.names.items() if name == "small")
    start = program.address_of("vary") or program.address_of("work")
    assert start is not None
    names = {**program.code.names, twin: program.code.names[start]}
    program.code = replace(program.code, names=names, sources={})
    causes = program.depth(start).causes
    assert "tells the 2 functions of this name not apart" in causes[0].message


TWINS = {
    "main.c": """
int other(int);
static __attribute__((noinline)) int twin(int n) {
  char a[n]; ((volatile char *)a)[0] = 1; return ((volatile char *)a)[n / 2]; }
__attribute__((used)) void _start(void) { twin(other(40)); for (;;) {} }
""",
    "other.c": """
static __attribute__((noinline)) int twin(int n) { volatile char a[8]; a[n & 7] = 1; return a[3]; }
int other(int n) { return twin(n) + n; }
""",
}


def two_files(folder: Path, *options: str) -> Path:
    """Link two files, each with a function of the same name, of which one has no bound."""
    for name, text in TWINS.items():
        (folder / name).write_text(text)
    (folder / "chip.ld").write_text(PLAIN_SCRIPT)
    words = ("-target", "riscv32-freestanding", "-nostdlib", "-O1", "-fno-sanitize=all")
    command = [sys.executable, "-m", "ziglang", "cc", *words, *options, "-T", "chip.ld", *TWINS]
    done = subprocess.run(
        [*command, "-o", "it.elf"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    return folder / "it.elf"


@pytest.mark.parametrize("options", [(), ("-g",)], ids=["symbols", "debugging information"])
def test_sizes_are_those_of_a_functions_own_file(options: tuple[str, ...], tmp_path: Path) -> None:
    elf = two_files(tmp_path, *options)
    usage = tmp_path / "other.su"
    usage.write_text("other.c:2:44:twin\t16\tstatic\n")
    assert bytes_of(elf, Questions(usage=(usage,)))[0] is None
    usage.write_text("/src/main.c:3:44:twin\t80\tdynamic,bounded\n")
    size = bytes_of(elf, Questions(usage=(usage,)))[0]
    assert size is not None
    assert size >= 80
    usage.write_text("never_linked.c:3:44:twin\t80\tdynamic,bounded\n")
    assert bytes_of(elf, Questions(usage=(usage,)))[0] is None


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--entry", "nothing"), "E184"),
        (("--calls", "deep"), "E184"),
        (("--calls", "deep=nothing"), "E184"),
        (("--priority", "Other=high"), "E184"),
        (("--su", "chip.ld"), "E185"),
        (("--su", "absent.su"), "E185"),
    ],
)
def test_questions_that_mean_nothing(
    words: tuple[str, str],
    code: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linked(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check-image", "--stack-only", "it.elf", *words]) == 1
    said = capsys.readouterr().err
    assert f"error[{code}]" in said
    assert "  help: " in said


def test_messages_are_as_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[Path, str], None],
) -> None:
    for flag, name in (("SWITCH=64", "small.elf"), ("SWITCH=0x10000", "unknown.elf")):
        linked(tmp_path, "-DHANDLED=20", f"-D{flag}").rename(tmp_path / name)
    data = bytearray(linked(tmp_path, "-DHANDLED=20", "-DRECURSION").read_bytes())
    data[18] = 62  # x86
    (tmp_path / "x86.elf").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    said = ""
    for words in (
        ("it.elf",),
        ("it.elf", "--entry", "evem"),
        ("it.elf", "--calls", "even"),
        ("it.elf", "--priority", "Other=high"),
        ("it.elf", "--su", "absent.su"),
        ("it.elf", "--su", "chip.ld"),
        ("x86.elf",),
        ("small.elf",),
        ("unknown.elf",),
    ):
        capsys.readouterr()
        assert main(["check-image", "--stack-only", *words]) == 1
        said += f"$ {' '.join(words)}\n{capsys.readouterr().err}"
    golden(GOLDEN, said)


def test_an_image_of_another_machine_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(linked(tmp_path).read_bytes())
    data[18] = 62  # x86
    (tmp_path / "it.elf").write_bytes(data)
    assert main(["check-image", "--stack-only", str(tmp_path / "it.elf")]) == 1
    assert "error[E186]" in capsys.readouterr().err
    assert main(["check-image", "lagoon"]) == 1
    assert "error[E184]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "code", "said"),
    [
        ("SWITCH=4096", "", ""),
        ("SWITCH=64", "E189", "gate may take 3"),
        ("SWITCH=0x10000", "E188", "gate sets the stack pointer to 0x2"),
        ("SECOND", "E188", " sets the pointer of a second one at 0x08"),
    ],
)
def test_the_room_of_another_stack(
    flag: str, code: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = str(linked(tmp_path, "-DHANDLED=20", f"-D{flag}"))
    capsys.readouterr()
    assert main(["check-image", "--stack-only", elf]) == (1 if code else 0)
    err = capsys.readouterr().err
    assert said in err
    assert f"error[{code}]" in err if code else not err
    assert main(["check-image", "--stack-only", elf, "--allow-unbounded"]) == (code == "E189")


def test_the_other_stacks_are_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    for flag in ("SWITCH=64", "SECOND"):
        elf = str(linked(tmp_path, "-DHANDLED=20", f"-D{flag}"))
        capsys.readouterr()
        assert main(["check-image", "--stack-only", elf, "--json"]) == 1
        (found[flag],) = json.loads(capsys.readouterr().out)["other_stacks"]
    other, second = found["SWITCH=64"], found["SECOND"]
    assert (other["function"], other["room_bytes"], other["bytes"]) == ("gate", 64, 3000)
    assert (second["top_address"], second["room_bytes"], second["bytes"]) == (None, None, None)


@pytest.mark.parametrize("names", ["", "atoll_stack_top", "atoll_stack_top atoll_net_stack_top"])
def test_a_second_stack_is_not_known_whoever_names_the_others(names: str, tmp_path: Path) -> None:
    ends = "".join(f"{name} = {0x2000_1000 + at * 64};\n" for at, name in enumerate(names.split()))
    elf = linked(tmp_path, "-DHANDLED=20", "-DSECOND", script=SCRIPT + ends)
    (fault,) = stack_of(elf, read_image(elf), Questions()).unbounded_faults()
    assert fault.code == "E188"
    assert "--entry" in str(fault.remedy)


@pytest.mark.parametrize(("limit", "codes"), [(0x2001_FF00, []), (0x2001_FFF0, ["E189"])])
def test_a_planned_stack_has_to_have_room_without_a_chip_too(
    limit: int, codes: list[str], tmp_path: Path
) -> None:
    elf = linked(tmp_path, "-DHANDLED=20")
    use = stack_of(elf, read_image(elf), Questions())
    start, top = use.roots.entries[0].address, 0x2002_0000
    names = {"atoll_net_stack_top": top, "atoll_net_stack_limit": limit}
    use.program.code = replace(use.program.code, symbols=names)
    depth = Depth(bound=StackBound(bytes=200, path=((use.program.name(start), 200),)), causes=())
    planned = replace(use, works=((top, depth),))
    assert [*planned.small()] == []
    faults = [*planned.small(planned=True)]
    assert [each.code for each in faults] == codes
    for each in faults:
        assert "give the stack of thread 'net' 208 B or more" in str(each.remedy)
