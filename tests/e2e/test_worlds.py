# SPDX-License-Identifier: Apache-2.0
"""An image in the non-secure world, which a secure image lets begin, on QEMU's AN505."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from tests.e2e.test_board_packages import cmake

from atoll.bsp.headers import sau_header
from atoll.cli import main
from atoll.resolve import load_soc

DATA = Path(__file__).parents[1] / "data" / "worlds"
CHIP = DATA / "an505_non_secure.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
QEMU = "qemu-system-arm"
SECURE = 0x1000_0000
"""Where the secure world sees what the non-secure one has at 0."""

BOARD = """
static int32_t ask(int32_t what, const void *about) {
  register int32_t r0 __asm("r0") = what;
  register const void *r1 __asm("r1") = about;
  __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void put(char character) {
  ask(3, &character);
}
"""
"""Text by semihosting, in place of the console's."""


def package(folder: Path) -> Path:
    """Build the package of the chip with text by semihosting; return the host's image."""
    assert main(["bsp", str(CHIP), str(DIGITS), "-o", str(folder)]) == 0
    board = folder / "app" / "board.c"
    text = board.read_text()
    begin, end = text.index("static void put("), text.index("void atoll_print(")
    text = text[:begin] + BOARD.lstrip() + "\n" + text[end:]
    exits = "(void)status;\n  ask(0x18, (const void *)0x20026);"
    old = "atoll_write(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_EXIT, (uint32_t)status);"
    assert old in text
    board.write_text(text.replace(old, exits))
    cmake(folder, "zig")
    return folder / "build" / "zig" / "firmware.elf"


def run(image: Path, header: Path, folder: Path, *definitions: str) -> tuple[str, bool]:
    """Return what the image says behind a secure one, and whether it came to its end."""
    (folder / "secure.ld").write_text(
        "SECTIONS { . = 0x10000000;\n"
        ".text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }\n"
        "/DISCARD/ : { *(.ARM.exidx*) } }\n"
        "stack_top = 0x10010000;\n"
    )
    secure = folder / "secure.elf"
    tool = [sys.executable, "-m", "ziglang", "cc", "-target", "thumb-freestanding-eabi"]
    flags = ["-mcpu=cortex_m33", "-Os", "-nostdlib", "-ffreestanding", f"-I{header}", *definitions]
    script = [f"-Wl,-T,{folder / 'secure.ld'}", str(DATA / "secure.c")]
    subprocess.run([*tool, *flags, *script, "-o", str(secure)], check=True)
    parts = []
    with image.open("rb") as file:
        for number, each in enumerate(ELFFile(file).iter_segments("PT_LOAD")):
            if each["p_filesz"]:
                part = folder / f"part{number}"
                part.write_bytes(each.data())
                at = each["p_paddr"] + SECURE
                parts += ["-device", f"loader,file={part},addr={at:#x},force-raw=on"]
    quiet = ["-display", "none", "-serial", "none", "-monitor", "none"]
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    command = [QEMU, "-M", "mps2-an505", "-kernel", str(secure), *parts, *quiet, *semihosting]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as late:
        return (late.stderr or b"").decode(), False
    return ran.stderr + ran.stdout, ran.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which(QEMU), reason=f"{QEMU} is not installed")
def test_a_secure_image_lets_it_begin(tmp_path: Path) -> None:
    image = package(tmp_path / "bsp")
    header = tmp_path / "bsp" / "include"
    said, ended = run(image, header, tmp_path, "-DLEFT_OUT=0")
    assert ended, said
    assert said.startswith("digits_int8.softmax_9_out: ")
    assert said.rstrip().endswith("(right)")
    for wrong in (["-DLEFT_OUT=2"], ["-DLEFT_OUT=0", "-DCLOSED"]):
        said, ended = run(image, header, tmp_path, *wrong)
        assert "(right)" not in said, wrong


def test_areas_are_all_that_its_image_touches() -> None:
    text = sau_header(load_soc(CHIP), load_soc(CHIP).host_cpu)
    rows = [line.split("/* ")[1][:-3] for line in text.splitlines() if line.startswith("    {")]
    assert rows == ["cpu.code, weights", "cpu.stack, cpu.data", "arena", "registers"]
    assert "    {UINT32_C(0x00010000), UINT32_C(0x0032FFE1)}," in text
