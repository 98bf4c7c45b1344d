# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.bsp import doctor
from atoll.bsp.gcc import Gcc
from atoll.bsp.interface import Firmware
from atoll.bsp.toolchain import TOOLCHAINS, Link, find_toolchain
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.isa.find import instruction_set
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.utils.cache import cache_folder
from atoll.utils.tools import cache_file

RV32IMC = instruction_set("rv32imc")
PROGRAM = "riscv64-unknown-elf-gcc"
RUN = "RUN { (void)in; (void)out; return 0; }"


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_every_toolchain_of_the_table_loads(make_cpu: Callable[..., Cpu], name: str) -> None:
    toolchain = find_toolchain(make_cpu(), name)
    assert type(toolchain).__name__.lower() == name
    assert toolchain == type(toolchain)(RV32IMC)  # type: ignore[call-arg]


def test_the_core_chooses_unless_the_user_does(make_cpu: Callable[..., Cpu]) -> None:
    assert isinstance(find_toolchain(make_cpu()), Zig)
    assert isinstance(find_toolchain(replace(make_cpu(), toolchain="gcc")), Gcc)
    assert isinstance(find_toolchain(replace(make_cpu(), toolchain="gcc"), "zig"), Zig)


def test_what_is_not_there_is_refused(make_cpu: Callable[..., Cpu], tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="no toolchain 'icc'") as caught:
        find_toolchain(replace(make_cpu(), toolchain="icc"))
    assert caught.value.faults[0].code == "E071"
    hexagon = replace(make_cpu(), instructions=instruction_set("hexagonv68"), toolchain="gcc")
    with pytest.raises(ToolchainError, match="no GNU tools compile for 'hexagonv68'") as caught:
        find_toolchain(hexagon).compile("main.c", tmp_path / "main.o", folder=tmp_path)
    assert caught.value.faults[0].code == "E071"


def test_a_missing_gcc_is_one_readable_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=f"{PROGRAM} is not on the PATH") as caught:
        Gcc(RV32IMC).compile("main.c", tmp_path / "main.o", folder=tmp_path)
    assert caught.value.faults[0].code == "E070"


def test_a_source_that_does_not_compile_shows_the_end_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int unused(int parameter) { return missing; }")
    with pytest.raises(ToolchainError, match="undeclared identifier 'missing'") as caught:
        Zig(RV32IMC).compile("bad.c", tmp_path / "bad.o", folder=tmp_path)
    assert caught.value.faults[0].code == "E072"


STAND_IN = """#!/bin/sh
# The GNU driver's command line, served by the clang and LLD of the ziglang wheel.
if [ "$1" = -dumpfullversion ]; then echo 0.0.0; exit 0; fi
echo "$*" >> {log}
case " $* " in
  *" -c "*) exec {python} -m ziglang cc -target riscv32-freestanding-none -mcpu=generic_rv32+m+c \
    $(for word in "$@"; do case $word in -march=*|-fno-tree-*) ;; *) echo "$word" ;; esac; done) ;;
esac
for word in "$@"; do
  case $word in
    -Wl,*) set -- "$@" $(echo "$word" | tr , ' ' | sed 's/-Wl//;s/--no-warn-rwx-segments//') ;;
    -march=*|-mabi=*|-nost*|-lgcc) ;;
    *) set -- "$@" "$word" ;;
  esac
  shift
done
exec {python} -m ziglang ld.lld -m elf32lriscv "$@"
"""


def test_gcc_gets_a_command_line_in_its_own_terms(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stand-in takes GNU flags; `test_gcc_itself` runs where the real one is installed."""
    program, log = tmp_path / PROGRAM, tmp_path / "log.txt"
    program.write_text(STAND_IN.format(python=sys.executable, log=log))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    firmware = build(RUN, make_soc(cpu=replace(make_cpu(), toolchain="gcc")))
    assert firmware.toolchain == "gcc 0.0.0 -march=rv32imc_zicsr -mabi=ilp32"
    *compiles, link = log.read_text().splitlines()
    assert all("-march=rv32imc_zicsr -mabi=ilp32" in line for line in compiles)
    assert all("-fno-tree-loop-distribute-patterns" in line for line in compiles)
    assert link.startswith("-march=rv32imc -mabi=ilp32 -nostdlib -nostartfiles -static -Wl,-e,")
    assert link.endswith("obj/digits_model.o -lgcc")


def test_gcc_itself(
    build: Callable[..., Firmware],
    make_soc: Callable[..., ResolvedSoc],
    make_cpu: Callable[..., Cpu],
) -> None:
    if shutil.which(PROGRAM) is None:
        pytest.skip(f"needs {PROGRAM}")
    firmware = build(RUN, make_soc(cpu=replace(make_cpu(), toolchain="gcc")))
    assert firmware.toolchain.startswith("gcc ")


def test_a_second_build_compiles_nothing(
    build: Callable[..., Firmware], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(RUN, folder="one").elf.read_bytes()
    compiled: list[str] = []
    original = Zig.compile

    def counted(self: Zig, source: str, target: Path, *, folder: Path) -> None:
        compiled.append(source)
        original(self, source, target, folder=folder)

    monkeypatch.setattr(Zig, "compile", counted)
    assert build(RUN, folder="two").elf.read_bytes() == first
    assert compiled == ["model.c"], "only the model of the test itself"


def test_other_flags_make_other_objects(
    build: Callable[..., Firmware], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(RUN, folder="one").elf.read_bytes()
    flags = Zig(RV32IMC).flags
    assert "-O2" in flags
    small = tuple("-Os" if flag == "-O2" else flag for flag in flags)
    monkeypatch.setattr(Zig, "flags", property(lambda self: small))
    assert build(RUN, folder="two").elf.read_bytes() != first


def test_the_cache_keeps_whole_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))

    def fail(target: Path) -> None:
        target.write_text("half")
        raise ToolchainError("E072", "broken")

    def succeed(target: Path) -> None:
        target.write_text("whole")

    with pytest.raises(ToolchainError):
        cache_file("a/file", fail)
    assert not (cache_folder() / "a" / "file").exists()
    assert cache_file("a/file", succeed).read_text() == "whole"
    assert cache_file("a/file", fail).read_text() == "whole"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


def test_a_cache_that_cannot_be_written_is_a_readable_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError):
        cache_file("a", lambda target: None)


def test_doctor_finds_the_tools_of_this_machine() -> None:
    checks = {check.name: check for check in doctor.diagnose()}
    assert checks["Python"].ok
    assert checks["zig: firmware"].ok, str(checks["zig: firmware"])
    assert not checks["gcc: firmware"].required
    for check in checks.values():
        assert check.as_json()["ok"] == check.ok
        assert check.ok or check.remedy in str(check)


def test_doctor_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    missing = {check.name for check in doctor.diagnose() if not check.ok}
    assert missing >= {"C++ compiler", "make", "perl", "gcc: firmware"}


def test_doctor_reports_a_zig_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Zig, link: Link) -> str:
        return "ld.lld: error: no space left on device"

    monkeypatch.setattr(Zig, "link", broken)
    (check,) = (check for check in doctor.diagnose() if check.name == "zig: firmware")
    assert not check.ok
    assert str(check) == (
        "missing zig: firmware: ld.lld: error: no space left on device\n"
        "        help: reinstall it: pip install --force-reinstall ziglang"
    )
