# SPDX-License-Identifier: Apache-2.0
"""A core whose compiler and linker are the user's own command lines, and clang on the PATH."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from atoll.bsp.calling_convention import check_convention
from atoll.bsp.clang import Clang
from atoll.bsp.commands import UserCommands
from atoll.bsp.interface import Firmware
from atoll.bsp.toolchain import find_toolchain
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.find import instruction_set
from atoll.resolve.soc import Commands, Cpu, ResolvedSoc

RUN = "RUN { (void)in; (void)out; return 0; }"
ZIG = f"{sys.executable} -m ziglang"
TARGET = "-target riscv32-freestanding-none -mcpu=generic_rv32+m+c"
COMPILE = f"{ZIG} cc {TARGET} -mabi=ilp32 {{flags}} -c {{source}} -o {{object}}"
LINK = f"{ZIG} ld.lld -m elf32lriscv {{flags}} -T {{script}} -Map={{map}} -o {{elf}} {{objects}}"


@pytest.fixture(autouse=True)
def _cache_of_zig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "zig"))


def own(cpu: Cpu, *, compile: str = COMPILE, link: str = LINK) -> Cpu:
    return replace(cpu, commands=Commands(compile=compile, link=link))


def loaded(firmware: Firmware) -> list[tuple[int, bytes]]:
    """Return addresses and bytes that an image puts into memory."""
    with firmware.elf.open("rb") as file:
        segments = list(ELFFile(file).iter_segments("PT_LOAD"))
        assert segments
        return [(segment["p_paddr"], segment.data()) for segment in segments]


def test_own_commands_make_what_the_toolchain_makes(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    theirs = build(RUN, make_soc(cpu=own(make_cpu())), folder="own")
    ours = build(RUN, make_soc(cpu=make_cpu()), folder="zig")
    assert loaded(theirs) == loaded(ours)
    assert theirs.map.stat().st_size > 0
    assert theirs.toolchain.startswith(Path(sys.executable).name)


def test_the_command_line_wins_over_own_commands(make_cpu: Callable[..., Cpu]) -> None:
    cpu = own(make_cpu())
    assert isinstance(find_toolchain(cpu), UserCommands)
    assert isinstance(find_toolchain(cpu, "zig"), Zig)


def test_names_are_filled_in_alone_and_inside_words(make_cpu: Callable[..., Cpu]) -> None:
    line = "cc -Wl,{flags} {definitions} '-o {object}' {unknown} {source}"
    tools = find_toolchain(own(make_cpu(), compile=line), definitions=("A=1", "B=2"))
    _, flags, first, second, quoted, unknown, _ = tools.flags
    assert flags.startswith("-Wl,-std=c99,-O2,")
    assert flags.endswith(",-DA=1,-DB=2")
    assert (first, second) == ("-DA=1", "-DB=2")
    assert (quoted, unknown) == ("-o {object}", "{unknown}")


def test_other_bytes_of_a_program_are_another_identity(
    make_cpu: Callable[..., Cpu], tmp_path: Path
) -> None:
    program = tmp_path / "cc"

    def identity(text: str) -> str:
        program.write_text(text)
        program.chmod(0o755)
        return find_toolchain(own(make_cpu(), compile=f"{program} {{source}} {{object}}")).identity

    assert identity("#!/bin/sh\n") != identity("#!/bin/sh\nexit 1\n")


def test_what_commands_fail_with_is_told(make_cpu: Callable[..., Cpu], tmp_path: Path) -> None:
    missing = find_toolchain(own(make_cpu(), compile="no_such_cc {source} {object}"))
    with pytest.raises(ToolchainError, match=r"E070.*no_such_cc is not on the PATH"):
        _ = missing.identity
    (tmp_path / "main.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(ToolchainError, match=r"E072.*refused main\.c(?s:.)*undeclared"):
        find_toolchain(own(make_cpu())).compile("main.c", tmp_path / "main.o", folder=tmp_path)


def test_a_linker_that_fails_is_told(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    wrong = own(make_cpu(), link=LINK + " nowhere.o")
    with pytest.raises(ToolchainError, match=r"E073(?s:.)*nowhere\.o"):
        build(RUN, make_soc(cpu=wrong))


def test_another_calling_convention_is_refused_before_linking(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
    tmp_path: Path,
) -> None:
    line = COMPILE.replace("+m+c -mabi=ilp32", "+m+c+f+d -mabi=ilp32d")
    wrong = own(
        make_cpu(), compile=line, link=f"touch {tmp_path}/linked {{script}} {{elf}} {{objects}}"
    )
    with pytest.raises(
        ToolchainError, match=r"E124.* has the calling convention ilp32d; core 'cpu'"
    ):
        build(RUN, make_soc(cpu=wrong))
    assert not (tmp_path / "linked").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("riscv32 -mcpu=generic_rv32+e+m+c -mabi=ilp32e", "has the calling convention ilp32e"),
        ("riscv64 -mcpu=generic_rv64+m+c -mabi=lp64", "is machine code of EM_RISCV, 64 bits"),
        ("thumb -mcpu=cortex_m3", "is machine code of EM_ARM, 32 bits"),
    ],
)
def test_objects_of_another_machine_are_refused(
    make_cpu: Callable[..., Cpu], tmp_path: Path, options: str, message: str
) -> None:
    (tmp_path / "f.c").write_text("int f(int x) { return x; }\n")
    target, _, rest = options.partition(" ")
    line = f"{ZIG} cc -target {target}-freestanding-none {rest} -c {{source}} -o {{object}}"
    cpu = own(make_cpu(), compile=line)
    find_toolchain(cpu).compile("f.c", tmp_path / "f.o", folder=tmp_path)
    with pytest.raises(ToolchainError, match=f"E124.* of f.c {message}; core 'cpu' has rv32imc"):
        check_convention((tmp_path / "f.o").read_bytes(), "f.c", cpu)


@pytest.mark.parametrize(
    ("isa", "options", "abi"),
    [
        ("armv7e-m+fp", "thumb-freestanding-eabi -mcpu=cortex_m4", "aapcs"),
        ("armv7e-m", "thumb-freestanding-eabihf -mcpu=cortex_m4", "aapcs-vfp"),
    ],
)
def test_float_conventions_of_arm_are_told_apart(
    make_cpu: Callable[..., Cpu], tmp_path: Path, isa: str, options: str, abi: str
) -> None:
    (tmp_path / "f.c").write_text("float f(float x) { return x; }\n")
    cpu = replace(make_cpu(), instructions=instruction_set(isa))
    line = f"{ZIG} cc -target {options} -c {{source}} -o {{object}}"
    made = tmp_path / "f.o"
    find_toolchain(own(cpu, compile=line)).compile("f.c", made, folder=tmp_path)
    with pytest.raises(ToolchainError, match=f"has the calling convention {abi}; core 'cpu' has"):
        check_convention(made.read_bytes(), "f.c", cpu)
    other = replace(cpu, instructions=instruction_set("armv7e-m+fp", abi))
    check_convention(made.read_bytes(), "f.c", other)
    with pytest.raises(ToolchainError, match=r"f\.c is no ELF file"):
        check_convention(b"!<arch>\n", "f.c", cpu)


ARM = ("armv6-m", "armv7-m", "armv7e-m+fp", "armv7e-m+fp.dp", "armv8-m.main+dsp")
RISCV = ("rv32im", "rv32imc", "rv32imc_zba_zbb_zbs", "rv32imafc", "rv64gc")


@pytest.mark.parametrize("isa", [*ARM, *RISCV])
def test_clang_itself(make_cpu: Callable[..., Cpu], tmp_path: Path, isa: str) -> None:
    if shutil.which("clang") is None:
        pytest.skip("needs clang")
    cpu = replace(make_cpu(), instructions=instruction_set(isa))
    (tmp_path / "f.c").write_text("int f(int *x) { return *x * 3; }\n")
    tools = find_toolchain(cpu, "clang")
    assert isinstance(tools, Clang)
    assert "clang" in tools.identity
    tools.compile("f.c", tmp_path / "f.o", folder=tmp_path)
    check_convention((tmp_path / "f.o").read_bytes(), "f.c", cpu)


def test_clang_links(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    if not (shutil.which("clang") and shutil.which("ld.lld")):
        pytest.skip("needs clang and ld.lld")
    firmware = build(RUN, make_soc(cpu=replace(make_cpu(), toolchain="clang")))
    assert "clang" in firmware.toolchain
