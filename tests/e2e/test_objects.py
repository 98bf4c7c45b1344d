# SPDX-License-Identifier: Apache-2.0
"""`atoll build --objects`: another firmware links what is there, and it runs (docs/objects.md)."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import compile_models
from atoll.ops import reference
from atoll.plugins.loading import load
from atoll.resolve import load_soc
from atoll.utils.cache import cache_folder

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
DOCUMENT = (ROOT / "docs" / "objects.md").read_text()
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
RISCV = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c", "-mabi=ilp32")
RESULT = 0x9000_0000

OTHER = """
#include <stdint.h>
int32_t classify(const int8_t *, int8_t *);
int8_t given[144], made[10];
void work(void);
__attribute__((naked)) void start(void) { __asm__("lui sp, 0x80040\\n j work"); }
void work(void) {
  for (int turn = 0; turn < 2; turn++) {
    *(volatile uint32_t *)0x90000000 = (uint32_t)classify(given, made);
  }
  *(volatile uint32_t *)0x90000004 = 1;
}
"""
SCRIPT = """
MEMORY {{ ram (rwx) : ORIGIN = 0x80000000, LENGTH = 256K
          flash (r) : ORIGIN = 0, LENGTH = 1M }}
SECTIONS {{
  .all : {{ *(.text .text.* .rodata .rodata.* .srodata* .data* .sdata* .bss* .sbss*) }} > ram
{pools}
  /DISCARD/ : {{ *(.eh_frame* .comment .note*) }}
}}
"""


ENGINE = """
#include "atoll_port.h"
#include "digits_int8.h"
void atoll_trace_begin(int32_t device, int32_t number) { (void)device, (void)number; }
void atoll_trace_end(int32_t device, int32_t number) { (void)device, (void)number; }
int32_t atoll_guard_check(int32_t status) { return status; }
int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count) {
  *(volatile uint32_t *)0x90000008 = (uint32_t)(uintptr_t)commands;
  *(volatile uint32_t *)0x9000000c = (uint32_t)count;
  return device == 77 ? 0 : -99;
}
int32_t classify(const int8_t *image, int8_t *scores);
int32_t classify(const int8_t *image, int8_t *scores) {
  const struct digits_int8_inputs inputs = {.image = image};
  const struct digits_int8_outputs outputs = {.softmax_9_out = scores};
  const struct digits_int8_devices devices = {.npu = 77};
  return digits_int8_run(&inputs, &outputs, &devices);
}
"""


@dataclass
class Log:
    """Registers at which the firmware reports, and hands command lists to an engine."""

    halt: type[Exception]
    engine: Callable[[int, int], object] | None = None
    words: list[int] = field(default_factory=list)
    commands: int = 0
    lists: int = 0

    def read(self, offset: int) -> int:
        raise AssertionError(f"nothing to read at {offset}")

    def write(self, offset: int, value: int) -> None:
        if offset == 4:
            raise self.halt
        if offset == 0:
            self.words.append(value)
        elif offset == 8:
            self.commands = value
        else:
            assert self.engine is not None
            self.lists += 1
            self.engine(self.commands, value)


@dataclass
class Bus:
    """The memory of the core in Python as an accelerator sees it."""

    memory: Any

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory.read(address + offset, 1) for offset in range(size))

    def write(self, address: int, data: bytes) -> None:
        for offset, byte in enumerate(data):
            self.memory.write(address + offset, byte, 1)


@pytest.fixture(scope="module")
def machine() -> ModuleType:
    """The module of a RISC-V core in Python, which tests of the BSP use."""
    for name in ("operations", "machine"):
        qualified = f"tests.unit.bsp.{name}"
        if qualified not in sys.modules:
            path = ROOT / "tests" / "unit" / "bsp" / f"{name}.py"
            spec = importlib.util.spec_from_file_location(qualified, path)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[qualified] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[qualified])
    return sys.modules["tests.unit.bsp.machine"]


def fenced(language: str) -> str:
    """Return the only example of docs/objects.md in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert isinstance(found, str)
    return found


def objects(folder: Path, *words: str) -> dict[str, Any]:
    assert main(["build", *words, "--objects", "-o", str(folder)]) == 0
    found = json.loads((folder / "objects.json").read_text())
    assert isinstance(found, dict)
    return found


def zig(*words: str, folder: Path) -> None:
    cache = str(cache_folder() / "zig")
    environment = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    command = [sys.executable, "-m", "ziglang", "cc", *words]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | environment)


def link(folder: Path, sources: dict[str, str], pools: str) -> Path:
    """Link objects of a folder with other sources by another linker script."""
    for name, text in sources.items():
        (folder / name).write_text(text)
    (folder / "other.ld").write_text(SCRIPT.format(pools=pools))
    files = (*sources, *(path.name for path in sorted(folder.glob("*.o"))))
    flags = ("-Oz", "-g", "-std=c11", "-ffreestanding", *STRICT[:3], "-nostdlib", "-Wl,-e,start")
    runtime = ROOT / "compiler" / "atoll" / "bsp" / "runtime" / "memory.c"
    own = ("-fno-builtin", str(runtime))
    zig(*RISCV, *flags, "-T", "other.ld", *files, *own, "-o", "other.elf", folder=folder)
    return folder / "other.elf"


def symbols(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}


def run(
    machine: ModuleType, elf: Path, given: bytes, engine: Any = None
) -> tuple[list[int], bytes]:
    """Run the other firmware on a core in Python; return what it reports and made.

    `engine` makes of a bus what runs command lists.
    """
    ram = {0: 1 << 20, 0x1000_0000: 1 << 16, 0x2000_0000: 1 << 18, 0x8000_0000: 1 << 18}
    log = Log(machine.HaltError)
    memory = machine.Memory({at: bytearray(size) for at, size in ram.items()}, {RESULT: log})
    core = machine.Machine(memory, pc=memory.load(elf))
    log.engine = engine(Bus(memory)) if engine else None
    at = symbols(elf)
    for offset, byte in enumerate(given):
        memory.write(at["given"] + offset, byte, 1)
    core.run()
    assert bool(log.lists) == (engine is not None)
    return log.words, bytes(memory.read(at["made"] + offset, 1) for offset in range(10))


def test_a_firmware_of_its_own_runs_the_network_of_the_document(
    tmp_path: Path, machine: ModuleType
) -> None:
    """With the program and the linker script that docs/objects.md shows."""
    folder = tmp_path / "objects"
    objects(folder, "lagoon", str(SAMPLER), "--no-accelerators")
    elf = link(folder, {"other.c": OTHER, "classify.c": fenced("c")}, fenced("ld"))
    (model,) = compile_models(load_soc("lagoon"), (SAMPLER,))
    for seed in (1, 2):
        (sample,) = random_sample(model.graph, seed)
        (given,) = sample.values()
        expected = reference.run(model.graph, sample)[model.graph.outputs[0]]
        assert run(machine, elf, given.tobytes()) == ([0, 0], expected.tobytes())


def test_a_pool_elsewhere_is_noticed_by_the_test_above(tmp_path: Path, machine: ModuleType) -> None:
    folder = tmp_path / "objects"
    objects(folder, "lagoon", str(SAMPLER), "--no-accelerators")
    wrong = fenced("ld").replace("0x10003000", "0x30003000")
    assert wrong != fenced("ld")
    elf = link(folder, {"other.c": OTHER, "classify.c": fenced("c")}, wrong)
    with pytest.raises(AssertionError, match="nothing at 0x3000"):
        run(machine, elf, bytes(144))


def test_two_networks_lie_where_the_description_says(tmp_path: Path, machine: ModuleType) -> None:
    """Objects in their order put both networks' constants at the addresses of objects.json."""
    folder, again = tmp_path / "objects", tmp_path / "again.tflite"
    shutil.copyfile(SAMPLER, again)
    found = objects(folder, "lagoon", str(again), str(SAMPLER), "--no-accelerators")
    elf = link(folder, {"other.c": OTHER, "classify.c": fenced("c")}, fenced("ld"))
    at = symbols(elf)
    first, second = (each["sections"][0] for each in found["objects"])
    assert at["atoll_pool_weights"] == first["address"] == 0x2_0000
    assert at["sampler_pool_weights"] == second["address"] >= 0x2_0000 + first["size_bytes"]
    assert second["address"] != first["address"]
    assert found["pools"]["weights"]["used_bytes"] == (
        second["address"] + second["size_bytes"] - 0x2_0000
    )
    (model,) = compile_models(load_soc("lagoon"), (SAMPLER,))
    (sample,) = random_sample(model.graph)
    (given,) = sample.values()
    expected = reference.run(model.graph, sample)[model.graph.outputs[0]]
    assert run(machine, elf, given.tobytes()) == ([0, 0], expected.tobytes())


def test_the_firmware_drives_the_accelerator_as_it_likes(
    tmp_path: Path, machine: ModuleType
) -> None:
    """With a driver of its own, which hands the command lists to the accelerator's model."""
    folder = tmp_path / "objects"
    objects(folder, "lagoon", str(DIGITS))
    pools = fenced("ld") + "  atoll_pool_shared = 0x20000000;\n"
    elf = link(folder, {"other.c": OTHER, "classify.c": ENGINE}, pools)
    (model,) = compile_models(load_soc("lagoon"), (DIGITS,))
    (npu,) = model.soc.npus

    def engine(bus: Bus) -> Callable[[int, int], object]:
        player = load(npu.spec.model)(npu)
        return lambda address, count: player.run(bus, address, count)

    (sample,) = random_sample(model.graph)
    (given,) = sample.values()
    expected = reference.run(model.graph, sample)[model.graph.outputs[0]]
    assert run(machine, elf, given.tobytes(), engine) == ([0, 0], expected.tobytes())


def test_there_are_objects_headers_and_plans_alone(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    objects(folder, "lagoon", str(DIGITS))
    texts = {"build.json", "contract.json", "graph.txt", "module.tir", "placement.txt"}
    texts |= {"plan.json", "resolved.json", "digits_int8.tflite", "objects.json"}
    headers = {"atoll_devices.h", "atoll_pools.h", "atoll_port.h", "atoll_status.h"}
    files = {path.name for path in folder.iterdir()}
    assert files == {"digits_int8.o", "digits_int8.h", *headers, *texts}


@pytest.mark.parametrize("chip", ["lagoon", "twin"])
def test_the_objects_are_those_of_the_simulated_firmware(tmp_path: Path, chip: str) -> None:
    models = compile_models(load_soc(chip), (DIGITS, SAMPLER))
    tree = build(models, tmp_path / "firmware")
    found = objects(tmp_path / "objects", chip, str(DIGITS), str(SAMPLER))
    cores = {core.name for core in models[0].soc.cpus}
    assert {each["core"] for each in found["objects"]} == cores
    for each in found["objects"]:
        home = "obj" if each["core"] == models[0].soc.host else f"obj/{each['core']}"
        linked = tree.folder / home / f"{each['network']}_model.o"
        assert (tmp_path / "objects" / each["file"]).read_bytes() == linked.read_bytes()
        for section in each["sections"]:
            plan = models[[m.graph.name for m in models].index(each["network"])].plan
            assert section["size_bytes"] == plan.use[section["pool"]].used


LANGUAGES = [("cc", "c99", "c"), ("c++", "c++11", "cpp")]


@pytest.mark.parametrize(("compiler", "standard", "suffix"), LANGUAGES)
@pytest.mark.parametrize("chip", ["lagoon", "twin"])
def test_headers_compile_with_another_compiler(
    tmp_path: Path, chip: str, compiler: str, standard: str, suffix: str
) -> None:
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"needs {compiler} for this machine")
    folder = tmp_path / "objects"
    needed = objects(folder, chip, str(DIGITS), str(SAMPLER))
    headers = sorted(path.name for path in folder.glob("*.h"))
    includes = "\n".join(f'#include "{name}"' for name in headers)
    used = {n for each in needed["objects"] for n in each["needs"]}
    calls = sorted(n for n in used if n.startswith("atoll_") and "_pool_" not in n)
    assert len(calls) >= 4
    table = "".join(f"  (void){name};\n" for name in calls)
    source = folder / f"use.{suffix}"
    source.write_text(f"{includes}\n{includes}\nvoid use(void);\nvoid use(void) {{\n{table}}}\n")
    flags = (f"-std={standard}", *STRICT, "-fsyntax-only")
    subprocess.run((found, *flags, source.name), cwd=folder, check=True)


def test_what_is_needed_is_what_the_port_header_tells(tmp_path: Path) -> None:
    """Each accelerator is started and waited for by functions that the header declares."""
    found = objects(tmp_path / "objects", "atoll2", str(DIGITS))
    needs = set(found["objects"][0]["needs"])
    assert "atoll_npu_run" in needs or {"atoll_npu_start", "atoll_npu_wait"} <= needs
    port = (tmp_path / "objects" / "atoll_port.h").read_text()
    declared = set(re.findall(r"\b(atoll_\w+)\(", port))
    pools = {f"atoll_pool_{name}" for name in re.findall(r"atoll_pool_(\w+) = 0x", port)}
    library = {"memcpy", "memset"}
    assert needs <= declared | pools | library
    assert declared <= needs, "and nothing that these objects do not call"


def test_another_core_has_an_object_of_its_own(tmp_path: Path) -> None:
    words = ["twin", str(SAMPLER), "--place", "mul_5=dsp"]
    host, other = objects(tmp_path / "objects", *words)["objects"]
    assert (other["core"], other["isa"]) == ("dsp", load_soc("twin").remote_cpus[0].isa)
    assert other["defines"] == ["sampler_dsp_step"]
    assert {"atoll_core_run"} == {name for name in host["needs"] if "_core_" in name}
    port = (tmp_path / "objects" / "atoll_port.h").read_text()
    assert "int32_t atoll_core_run(int32_t device, int32_t command);" in port


def test_an_objects_folder_is_replaced_and_not_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "objects"
    objects(folder, "lagoon", str(DIGITS))
    objects(folder, "lagoon", str(DIGITS), str(SAMPLER))
    capsys.readouterr()
    assert main(["simulate", str(folder)]) == 1
    assert "holds objects for another firmware" in capsys.readouterr().err
    assert main(["build", "lagoon", str(DIGITS), "-o", str(folder)]) == 0
    assert not (folder / "objects.json").exists()


def test_no_toolchain_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tool was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    objects(tmp_path / "objects", "lagoon", str(DIGITS))
    capsys.readouterr()
    words = ["build", "lagoon", str(DIGITS), "--objects", "-o", str(tmp_path / "x")]
    assert main([*words, "--toolchain", "zig"]) == 1
    assert "error[E090]: --objects needs no C compiler" in capsys.readouterr().err


@pytest.mark.parametrize("isa", ["rv32i", "rv32ic", "rv32imac", "rv32im_zba", "rv32imc_zbb_zbs"])
def test_objects_of_other_instruction_sets(isa: str, tmp_path: Path) -> None:
    core = (ROOT / "socs" / "cores" / "picorv32.yaml").read_text()
    (tmp_path / "core.yaml").write_text(core.replace("isas: [", f"isas: [{isa}, "))
    chip = f"extends: lagoon\ndevices: {{cpu: {{core: ./core.yaml, isa: {isa}}}}}\n"
    (tmp_path / "chip.yaml").write_text(chip)
    out = tmp_path / "out"
    command = ["build", str(tmp_path / "chip.yaml"), str(DIGITS), "-o", str(out), "--objects"]
    assert main(command) == 0
    (path,) = out.rglob("*.o")
    with path.open("rb") as file:
        elf = ELFFile(file)
        section = elf.get_section_by_name(".riscv.attributes")
        assert section is not None
        attributes = section.data()
        assert bool(elf["e_flags"] & 1) == ("c" in isa)
    said = re.search(rb"rv32[a-z0-9_]+", attributes)
    assert said is not None
    named = {re.sub(r"\d+p\d+$", "", word) for word in said[0].decode().split("_")}
    letters, *extensions = isa.split("_")
    known = {"m", "a", "c", "zba", "zbb", "zbs"}
    assert named & known == {*letters.removeprefix("rv32i"), *extensions}
