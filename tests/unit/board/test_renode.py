# SPDX-License-Identifier: Apache-2.0
"""Platform and script for Renode: read again by `atoll import`, and held against the chip."""

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll_board.package import Board, package_files
from atoll_import.facts import Facts
from atoll_import.reader import Given
from atoll_import.repl import IMPORTER

ROOT = Path(__file__).parents[3]
OWN = [ROOT / "tests" / "data" / name for name in ("shore.yaml", "bay.yaml")]
CHIPS = [path for path in sorted([*(ROOT / "socs").glob("*.yaml"), *OWN]) if path.stem != "zynqmp"]
TAG = re.compile(r'^sysbus Tag <(0x\w+) (0x\w+)> "(\w+)"(.*)$', re.M)


def emitted(soc: ResolvedSoc) -> tuple[str, str]:
    """Return the platform and the script."""
    files = package_files(Board(soc=soc), ["renode"])["renode"]
    assert {*files} == {f"renode/{soc.name}.repl", f"renode/{soc.name}.resc"}
    repl, resc = (files[f"renode/{soc.name}.{kind}"].data.decode() for kind in ("repl", "resc"))
    return repl, resc


def facts(repl: str) -> Facts:
    given = Given(Path("a.repl"), repl.encode())
    assert IMPORTER.recognises(given)
    return IMPORTER.read(given)


def reaches(soc: ResolvedSoc, core: Cpu, memory: str) -> bool:
    own = {core.code.memory, core.data.memory, *(stack.memory for stack in core.stacks)}
    pools = [pool for pool in soc.pools if pool.region.memory == memory]
    return memory in own or any(pool.reach[core.name] is not Access.NONE for pool in pools)


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: path.stem)
def test_what_is_imported_is_the_chip(path: Path) -> None:
    soc = load_soc(path)
    repl, _ = emitted(soc)
    found = facts(repl)
    assert [(core.name, core.core) for core in found.cores] == [
        (core.name, core.spec.name) for core in soc.cpus
    ]
    assert "Renode has no model" not in repl
    for read, core in zip(found.cores, soc.cpus, strict=True):
        assert core.isa in read.isas
    memories = {memory.name: memory for memory in found.memories}
    assert all(cores_and_addresses(soc, name) for name in memories)
    assert {
        name: (
            memory.size,
            {*memory.cores},
            {memory.origin, *memory.others, *(at for _, at in memory.views)},
        )
        for name, memory in memories.items()
    } == {
        memory.name: (memory.size, *cores_and_addresses(soc, memory.name))
        for memory in soc.memories
        if memory.name in memories or any(reaches(soc, core, memory.name) for core in soc.cpus)
    }


def cores_and_addresses(soc: ResolvedSoc, name: str) -> tuple[set[str], set[int]]:
    """Return who sees a memory, and where; one that no core reaches is on the bus."""
    memory = soc.memory(name)
    cores = {core.name for core in soc.cpus if reaches(soc, core, name)}
    at = {device_address(soc, core, memory.origin) for core in cores}
    at |= {
        alias.device_range(core).start
        for alias in soc.aliases
        if alias.memory == name and alias.regions
        for core in cores.intersection(alias.devices)
    }
    return (cores, at) if cores else ({core.name for core in soc.cpus}, {memory.origin})


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: path.stem)
def test_the_script_has_what_has_no_model(path: Path) -> None:
    soc = load_soc(path)
    _, resc = emitted(soc)
    tags = [(int(at, 16), int(size, 16), name, how) for at, size, name, how in TAG.findall(resc)]
    assert len(tags) == resc.count("sysbus Tag")
    for (one, size, *_), (other, other_size, *_) in combinations(tags, 2):
        assert one + size <= other or other + other_size <= one
    starts = {at for at, *_ in tags}
    for block in soc.register_blocks.values():
        assert device_address(soc, soc.host, block.origin) in starts
    assert (soc.console.origin + 4, 4, "atoll_console_exit", " 0 true") in tags
    assert soc.guard.origin in starts


@pytest.mark.parametrize("name", ["twin", "rp2040", "quad"])
def test_images_start_and_other_cores_halt(name: str) -> None:
    soc = load_soc(name)
    board = Board(soc=soc)
    _, resc = emitted(soc)
    images = dict(re.findall(r"^\$image_(\w+) \?= \$ORIGIN/\.\./build/zig/(\S+)$", resc, re.M))
    assert {*images} == {core.name for core in board.cores}
    cmake = package_files(board, ["cmake"])["cmake"]["cmake/atoll.cmake"].data.decode()
    for core in soc.cpus:
        if image := images.get(core.name):
            assert f"set(ATOLL_{core.name}_IMAGE {image})" in cmake
            start = f"PC 0x{core.reset_address:08X}"
            vectors = f"VectorTableOffset 0x{core.code.origin:08X}"
            lines = [f"sysbus LoadELF $image_{core.name} cpu={core.name}"]
            lines.append(f"sysbus.{core.name} {start if 'rv32' in core.isa else vectors}")
            assert "\n".join(f"    {line}\n" for line in lines).replace("\n\n", "\n") in resc
        else:
            assert f"    sysbus.{core.name} IsHalted true\n" in resc


def test_no_name_is_a_word_of_renode(tmp_path: Path) -> None:
    """A core called `reset`, memories called as its controller, a value and the console."""
    text = (ROOT / "socs" / "rp2040.yaml").read_text()
    others = (("core0", "reset"), ("sram", "reset_nvic"), ("boot", "nullified"))
    for name, other in (*others, ("scratch_y", "core_reset_nvic")):
        text = re.sub(rf"\b{name}\b", other, text)
    path = tmp_path / "chip.yaml"
    path.write_text(re.sub(r"\bscratch_x\b", "atoll_console", text))
    soc = load_soc(path)
    repl, resc = emitted(soc)
    names = re.findall(r"^(\w+): ", repl, re.M)
    assert len(names) == len({*names})
    assert {*names} >= {"core_reset", "core_reset_nvic", "memory_nullified", "uart_atoll_console"}
    assert {*names} >= {"memory_reset_nvic", "memory_core_reset_nvic"}
    assert "cpu=core_reset\n" in resc
    assert {core.name for core in facts(repl).cores} == {"core_reset", "core1"}


def test_entries_are_apart() -> None:
    """Renode's prelexer takes attributes by their indentation."""
    repl, _ = emitted(load_soc("stm32h747"))
    for line, following in pairwise(repl.splitlines()):
        entry = re.match(r"\w+: [A-Z]", following)
        assert not entry or line == ""


def test_a_chip_whose_host_renode_cannot_run_has_no_platform() -> None:
    assert not package_files(Board(soc=load_soc("zynqmp")), ["renode"])["renode"]
