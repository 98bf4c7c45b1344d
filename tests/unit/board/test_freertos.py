# SPDX-License-Identifier: Apache-2.0
"""The configuration of FreeRTOS and its glue, read by a C compiler and held against the chip."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from atoll.resolve import load_soc
from atoll_board.freertos.files import tasks_of
from atoll_board.freertos.ports import port_of, why_not
from atoll_board.package import Board, package_files

IBEX = ("devices.cpu.core=ibex",)
M33 = ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp")
M23 = ("devices.cpu.core=cortex_m23", "devices.cpu.isa=armv8-m.base")
THREADS = ("devices.cpu.stack.size=2KiB", "devices.cpu.stack.threads.io=4KiB")
HANDLERS = {11: "SVC_Handler", 14: "PendSV_Handler", 15: "SysTick_Handler"}
"""Exceptions of the kernel (Armv7-M Architecture Reference Manual, B1.5.2)."""


def written(chip: str, overrides: tuple[str, ...], folder: Path) -> Path:
    board = Board(soc=load_soc(chip, overrides))
    for path, entry in package_files(board, ["freertos"])["freertos"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(entry.data)
    return folder / "freertos"


def zig(*words: str) -> None:
    command = [sys.executable, "-m", "ziglang", "cc", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.parametrize(
    ("chip", "overrides", "folder"),
    [
        ("lagoon", IBEX, "RISC-V"),
        ("lagoon", M33, "ARM_CM33_NTZ/non_secure"),
        ("lagoon", M23, "ARM_CM23_NTZ/non_secure"),
        ("rp2040", (), "ARM_CM0"),
        ("stm32h747", (), "ARM_CM7/r0p1"),
        ("corstone300", (), "ARM_CM55_NTZ/non_secure"),
    ],
)
def test_the_configuration_is_the_chip_s(
    chip: str, overrides: tuple[str, ...], folder: str, tmp_path: Path
) -> None:
    host = load_soc(chip, overrides).host_cpu
    assert port_of(host).folder == folder
    claims = [f"configCPU_CLOCK_HZ == {host.clock}"]
    if folder == "RISC-V":
        claims += ["configMTIME_BASE_ADDRESS == 0x0200BFF8"]
        claims += ["configMTIMECMP_BASE_ADDRESS == 0x02004000"]
    elif "CM23" in folder:
        claims += ["configENABLE_FPU == 0", "configENABLE_TRUSTZONE == 0"]
    elif folder != "ARM_CM0":
        claims += ["configMAX_SYSCALL_INTERRUPT_PRIORITY == 0x20"]
    if "55" in folder:
        claims += ["configENABLE_MVE == 1", "configENABLE_FPU == 1"]
    own = written(chip, overrides, tmp_path)
    source = tmp_path / "claims.c"
    text = "".join(f'_Static_assert({claim}, "{claim}");\n' for claim in claims)
    source.write_text(f'#include "FreeRTOSConfig.h"\n{text}')
    words = ("-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{own}", "-c", str(source))
    zig(*words, "-o", str(tmp_path / "claims.o"))


def test_a_core_that_the_kernel_does_not_run_on_has_no_files() -> None:
    soc = load_soc("lagoon")
    assert why_not(soc.host_cpu) == "nothing here serves the interrupt controller 'picorv32'"
    assert not package_files(Board(soc=soc), ["freertos"])["freertos"]


def test_nothing_saves_vector_registers_between_tasks() -> None:
    soc = load_soc("lagoon", ("devices.cpu.core=riscv", "devices.cpu.isa=rv32imafdc_zve32x"))
    expected = "its port saves no vector registers between tasks, and 'cpu' has some"
    assert why_not(soc.host_cpu) == expected


def test_threads_of_the_description_are_tasks(tmp_path: Path) -> None:
    soc = load_soc("lagoon", (*IBEX, *THREADS, "devices.cpu.stack.runs=io"))
    (task,) = tasks_of(soc.host_cpu, ["io", "io"])
    assert (task.name, task.runs, task.words) == ("io", True, 0)
    soc = load_soc("lagoon", (*IBEX, *THREADS))
    assert [(each.name, each.runs, each.words) for each in tasks_of(soc.host_cpu, [""])] == [
        ("networks", True, 512),
        ("io", False, 0),
    ]


def test_networks_on_several_threads_are_served_by_their_tasks() -> None:
    soc = load_soc("lagoon", (*IBEX, *THREADS))
    tasks = tasks_of(soc.host_cpu, ["io", ""])
    assert [(each.name, each.runs, each.serves) for each in tasks] == [
        ("networks", True, False),
        ("io", False, True),
    ]


def test_no_two_tasks_have_one_name() -> None:
    threads = "devices.cpu.stack.threads.networks=2KiB"
    soc = load_soc("lagoon", (*IBEX, "devices.cpu.stack.size=2KiB", threads))
    assert [each.name for each in tasks_of(soc.host_cpu, [""])] == ["networks_", "networks"]


def test_exceptions_of_a_cortex_m_go_to_the_kernel(tmp_path: Path) -> None:
    own = written("lagoon", M33, tmp_path)
    target = tmp_path / "vectors.o"
    words = ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m33", "-std=c99", "-Wall")
    source = str(own / "vectors_arm.c")
    zig(*words, "-Wextra", "-Werror", "-c", "-fno-pic", source, "-o", str(target))
    with target.open("rb") as file:
        image: Any = ELFFile(file)
        table = image.get_section_by_name(".symtab")
        (vectors,) = (each for each in table.iter_symbols() if each.name == "vectors")
        section = image.get_section(vectors["st_shndx"])
        found = {
            (each["r_offset"] - vectors["st_value"]) // 4: table.get_symbol(each["r_info_sym"]).name
            for each in image.get_section_by_name(f".rel{section.name}").iter_relocations()
        }
    assert section["sh_addralign"] == 256
    assert {number: found[number] for number in HANDLERS} == HANDLERS
    assert (found[0], found[1], len(found)) == ("atoll_stack_top", "atoll_reset", 48)


def test_each_cause_of_a_risc_v_core_goes_to_the_port(tmp_path: Path) -> None:
    own = written("lagoon", IBEX, tmp_path)
    target = tmp_path / "vectors.o"
    words = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c", "-c")
    zig(*words, str(own / "vectors_riscv.S"), "-o", str(target))
    with target.open("rb") as file:
        image: Any = ELFFile(file)
        section = image.get_section_by_name(".rela.text.atoll_freertos_vectors")
        table = image.get_section_by_name(".symtab")
        found = [
            (each["r_offset"], table.get_symbol(each["r_info_sym"]).name)
            for each in section.iter_relocations()
        ]
    jumps = [offset for offset, name in found if name == "freertos_risc_v_trap_handler"]
    assert jumps == [4 * cause for cause in range(32)]
