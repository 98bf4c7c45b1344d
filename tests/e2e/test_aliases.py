# SPDX-License-Identifier: Apache-2.0
"""Chips with memories at several addresses: plans hold, and a wrong address is noticed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.utils.scratch import temporary_folder
from atoll_image.check import disagreements
from atoll_image.elf import read_image
from atoll_sim.build.model import build_model
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.kinds import KINDS, draw_mutants

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LONG_LIVED = "conv_2d_0_out"
PINS = {
    "esp32p4": f"{LONG_LIVED}=own",
    "imxrt1170": f"{LONG_LIVED}=work",
    "mcxn947": f"{LONG_LIVED}=more",
    "rp2350": f"{LONG_LIVED}=low",
    "stm32n6": f"{LONG_LIVED}=near_s",
}
"""By chip, what puts live tensors at two addresses of a memory, where it has pools at both."""
KIND = "alias taken for memory"


def chip(name: str) -> Path:
    return ROOT / "tests" / "data" / "chips" / f"{name}.yaml"


def digits(name: str) -> Compiled:
    options = BuildOptions(requests=load_requests(None, pin=[PINS[name]]))
    return compile_file(load_soc(chip(name)), DIGITS, options)


@pytest.mark.parametrize("name", PINS)
def test_what_is_planned_at_two_addresses_has_no_byte_in_common(name: str) -> None:
    compiled = digits(name)
    soc = compiled.soc
    assert any(alias.regions for alias in soc.aliases)
    seen = as_seen_by(soc, soc.host)
    for bus, own in zip(soc.regions(), seen.regions(), strict=True):
        alias = soc.alias_for(bus)
        assert own.memory == (alias.name if alias else bus.memory)
        shift = alias.origin - alias.byte if alias else own.origin - bus.origin
        assert own.origin - bus.origin == shift


@pytest.mark.parametrize("name", PINS)
def test_firmware_runs_where_the_core_touches_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    arguments = [str(chip(name)), str(DIGITS), "--pin", PINS[name], "--cpu", "iss"]
    assert main(["run", *arguments, "--accelerator", "model", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bit_exact"]
    assert not result["placement"]["violations"]


def test_the_header_has_the_addresses_of_the_alias(tmp_path: Path) -> None:
    build((digits("stm32n6"),), tmp_path)
    header = (next(tmp_path.rglob("atoll_pools.h"))).read_text()
    assert "#define ATOLL_POOL_NEAR_ORIGIN UINT32_C(0x24200000)" in header
    assert "#define ATOLL_POOL_NEAR_S_ORIGIN UINT32_C(0x34230000)" in header
    script = next(tmp_path.rglob("*.ld")).read_text()
    assert "ORIGIN = 0x34100000" in script


@pytest.mark.rtl
@pytest.mark.parametrize("name", in_gate(["mcxn947", "esp32p4"]))
def test_two_addresses_taken_for_two_memories_are_noticed(name: str) -> None:
    compiled = digits(name)
    with temporary_folder() as folder:
        right, report = run_right(compiled, build_model(compiled.soc), folder)
        assert report.passed
        mutants = draw_mutants(right, 6, 1, kinds={KIND: KINDS[KIND]})
        assert len(mutants) == 6
        trials = [try_mutant(right, mutant) for mutant in mutants]
    assert [str(trial) for trial in trials if not trial.result.caught] == []


FLASH = """
soc: twice
version: 1
devices:
  cpu:
    kind: cpu
    core: cortex_m4
    isa: armv7e-m
    toolchain: gcc
    stack: {memory: sram, size: 4 KiB, interrupts: 1 KiB}
    code: {memory: flash, size: 32 KiB}
memories:
  flash: {origin: 0x0800_0000, size: 128 KiB, kind: rom}
  boot: {origin: 0x0000_0000, alias_of: flash}
  sram: {origin: 0x2000_0000, size: 32 KiB, kind: ram}
pools:
  weights: {memory: boot, role: constants, others: ro}
  work: {memory: sram, role: workspace, others: rw}
"""
PROGRAM = """
__attribute__((section(".vectors"), used)) const void *vectors[2];
void reset(void);
const void *vectors[2] = {(void *)0x20001000, (void *)reset};
__attribute__((section(".table"), used)) const int table[16] = {1, 2, 3};
void reset(void) { for (;;) ; }
"""
SCRIPT = """
ENTRY(reset)
SECTIONS {{
  .text 0x08000000 : {{ KEEP(*(.vectors)) *(.text*) }}
  .table {at:#x} : {{ KEEP(*(.table)) }}
  /DISCARD/ : {{ *(.ARM.*) *(.comment) }}
}}
"""


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (0x0000_0000, "has bytes of section '.table' (0x00000000 to 0x0000003f)"),
        (0x0000_4000, "has bytes of 'cpu.code', which is touched at 0x08004000"),
        (0x0800_9000, "has bytes of 'weights', which is touched at 0x00009000"),
    ],
)
def test_an_image_is_held_against_bytes_at_whatever_address(
    at: int, said: str, tmp_path: Path
) -> None:
    """Two sections on the same bytes, and bytes of another region, as `cases/import` has them."""
    if not shutil.which("arm-none-eabi-gcc"):
        pytest.skip("arm-none-eabi-gcc is not installed")
    (tmp_path / "chip.yaml").write_text(FLASH)
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "main.ld").write_text(SCRIPT.format(at=at))
    options = ["-mcpu=cortex-m4", "-mthumb", "-Os", "-ffreestanding", "-nostdlib", "-Tmain.ld"]
    command = ["arm-none-eabi-gcc", *options, "main.c", "-o", "main.elf"]
    subprocess.run(command, cwd=tmp_path, check=True)
    image = read_image(tmp_path / "main.elf")
    found = disagreements(load_soc(tmp_path / "chip.yaml"), "cpu", image)
    assert any(said in fault.message for fault in found), found


def test_a_package_has_one_memory_with_both_addresses(tmp_path: Path) -> None:
    """What reads packs, platforms and trees takes two addresses for one memory, as Atoll does."""
    (tmp_path / "chip.yaml").write_text(FLASH)
    only = ["--only", "cmsis-pack,renode,system-devicetree,zephyr,gdb"]
    arguments = [str(tmp_path / "chip.yaml"), str(DIGITS), "-o", str(tmp_path / "bsp")]
    assert main(["bsp", *arguments, *only]) == 0
    written = {path.suffix: path.read_text() for path in (tmp_path / "bsp").rglob("*.*")}
    (pack, platform) = written[".pdsc"], written[".repl"]
    assert 'name="boot"' in pack
    assert 'alias="flash"' in pack
    assert platform.count("Memory.MappedMemory") == 2
    assert "address: 0x08000000; cpu: cpu" in platform
    assert "address: 0x00000000; cpu: cpu" in platform
    tree = (tmp_path / "bsp" / "devicetree" / "twice_system.dts").read_text()
    weights = load_soc(tmp_path / "chip.yaml").pool("weights").region
    seen = weights.origin - 0x0800_0000
    assert f"<{seen:#x} &bus {weights.origin:#x} {weights.size:#x}>" in tree


def test_a_difference_in_what_is_an_alias_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.yaml").write_text(FLASH)
    (tmp_path / "two.yaml").write_text(
        FLASH.replace("alias_of: flash}", "alias_of: flash, cached: false}")
    )
    main(["diff", str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml")])
    assert "boot" in capsys.readouterr().out


CACHED = """
soc: kept
version: 1
devices:
  cpu:
    kind: cpu
    core: cortex_m7
    isa: armv7e-m
    cache: {line: 32}
    stack: {memory: ram, size: 8 KiB, interrupts: 1 KiB}
  npu: {kind: npu, accelerator: reef, registers: 0x4000_0000, irq: 3}
memories:
  flash: {origin: 0x0000_0000, size: 1 MiB, kind: rom}
  ram: {origin: 0x2000_0000, size: 256 KiB, kind: ram, width: 8}
  ram_nc: {origin: 0x3000_0000, alias_of: ram, cached: false}
pools:
  weights: {memory: flash, role: constants, others: ro}
  work: {memory: ram_nc, role: workspace, size: 64 KiB, others: rw}
  more: {memory: ram, role: workspace, size: 64 KiB, others: rw, preference: 1}
"""


def test_a_data_cache_keeps_nothing_of_an_alias_past_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    (tmp_path / "chip.yaml").write_text(CACHED)
    arguments = [str(tmp_path / "chip.yaml"), str(DIGITS), "--pin", f"{LONG_LIVED}=more"]
    assert main(["run", *arguments, "--cpu", "iss", "--accelerator", "model", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"]
