# SPDX-License-Identifier: Apache-2.0
"""Images that Atoll did not link, and files that are no images."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.effort import cases

from atoll.cli import main
from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll_image.check import disagreements
from atoll_image.elf import read_image, refuse_damage
from atoll_image.needs import extensions

M33 = ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main")
SOURCE = """
extern char _estack[];
static volatile int count = 1, zero[16];
void reset(void) { for (;;) count += zero[2]; }
__attribute__((section(".isr_vector"), used))
static void *const vectors[] = {_estack, (void *)reset, (void *)reset, (void *)reset};
"""
SCRIPT = """
ENTRY(reset)
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 128K
         STACK (rw) : ORIGIN = 0x10000000, LENGTH = 8K
         RAM (rw) : ORIGIN = 0x10002000, LENGTH = 4K }
_estack = ORIGIN(STACK) + LENGTH(STACK);
SECTIONS {
  .isr_vector : { KEEP(*(.isr_vector)) } > FLASH
  .text : { *(.text*) *(.rodata*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss (NOLOAD) : { *(.bss*) } > RAM
  ._user_heap_stack (NOLOAD) : { . = . + 0x400; } > STACK
  /DISCARD/ : { *(.ARM.ex*) *(.comment) }
}
"""


def vendors(folder: Path, script: str = SCRIPT) -> Path:
    """Link as a vendor's example does: its own names, no start-up code of Atoll's."""
    (folder / "main.c").write_text(SOURCE)
    (folder / "chip.ld").write_text(script)
    target = ["-target", "thumb-freestanding-eabi", "-mcpu=cortex_m33-dsp-vfp2sp"]
    words = [
        "-nostdlib",
        "-ffreestanding",
        "-O1",
        "-Wl,-T,chip.ld,-e,reset",
        "main.c",
        "-o",
        "image.elf",
    ]
    command = [sys.executable, "-m", "ziglang", "cc", *target, *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "image.elf"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("LENGTH = 8K", "LENGTH = 4K", "'_estack' is 0x10001000, and should be 0x10002000"),
        ("> RAM\n  ._user", "> STACK\n  ._user", "section '.bss'"),
        ("0x10002000, LENGTH = 4K", "0x20000000, LENGTH = 4K", "overlaps pool 'shared'"),
        ("ORIGIN = 0,", "ORIGIN = 0x100,", "no vectors are loaded at 0x00000000"),
    ],
)
def test_an_image_that_atoll_did_not_link(old: str, new: str, said: str, tmp_path: Path) -> None:
    soc = load_soc("lagoon", M33)
    image = read_image(vendors(tmp_path, SCRIPT.replace(old, new) if old else SCRIPT))
    found = [fault.message for fault in disagreements(soc, "cpu", image)]
    assert any(said in message for message in found) if said else not found, found


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("rv32imc", "mc"),
        ("rv32i2p1_m2p0_c2p0_zmmul1p0_zca1p0", "mc"),
        ("rv32imac_zicsr_zifencei", "mac"),
        ("rv64gc", "mafdc"),
        ("rv32e1p9_m2p0", "m"),
    ],
)
def test_extensions_of_an_architecture(name: str, letters: str) -> None:
    assert extensions(name) == frozenset(letters)


def test_long_extensions_count() -> None:
    assert extensions("rv32imc_zba1p0_zbb1p0") == {"m", "c", "zba", "zbb"}


@pytest.mark.parametrize("count", [cases(60), pytest.param(500, marks=pytest.mark.slow)])
def test_damaged_images_are_refused_or_judged(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mutant has an error with a remedy for each disagreement, or one that says it is none."""
    original, chance = vendors(tmp_path).read_bytes(), random.Random(7)
    refused = judged = 0
    for _ in range(count):
        data = bytearray(original)
        for _ in range(chance.randint(1, 4)):
            at = chance.choice((chance.randrange(52), chance.randrange(len(data))))
            data[at] = chance.randrange(256)
        cut = data[: chance.randrange(len(data))] if chance.random() < 0.2 else data
        (tmp_path / "mutant.elf").write_bytes(cut)
        words = [word for each in M33 for word in ("--set", each)]
        status = main(["check-image", "lagoon", str(tmp_path / "mutant.elf"), *words])
        said = capsys.readouterr().err
        assert said.count("error[E1") == said.count("  help: ")
        assert status == (1 if said else 0)
        refused, judged = refused + ("E141" in said), judged + ("E141" not in said)
    assert refused
    assert judged


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no whole ELF file"),
        (b"\x7fELF", "ELF file"),
        (b"#!/bin/sh\n", "no whole ELF file"),
    ],
)
def test_no_image(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(data)
    with pytest.raises(UsageError, match=said) as caught:
        read_image(tmp_path / "image")
    assert caught.value.faults[0].code == "E141"


def test_an_object_is_no_image(tmp_path: Path) -> None:
    vendors(tmp_path)
    command = [sys.executable, "-m", "ziglang", "cc", "-c", "main.c", "-o", "main.o"]
    target = ["-target", "thumb-freestanding-eabi", "-ffreestanding"]
    subprocess.run([*command, *target], cwd=tmp_path, check=True)
    with pytest.raises(UsageError, match="which no core runs as it is"):
        read_image(tmp_path / "main.o")


def test_an_offset_that_no_file_can_have_is_a_damaged_image(tmp_path: Path) -> None:
    """Seeking there is an error of the operating system."""
    with pytest.raises(UsageError, match="damaged"), refuse_damage(tmp_path / "image"):
        raise OSError(22, "Invalid argument")
