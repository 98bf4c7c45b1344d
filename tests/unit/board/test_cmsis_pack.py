# SPDX-License-Identifier: Apache-2.0
"""The device family of a pack has the chip's cores and memories, and names files that are there."""

from xml.etree import ElementTree

import pytest
from tests.effort import in_gate

from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll_board.package import Board, package_files

CHIPS = ["rp2040", "stm32h747", "imxrt1176", "corstone300"]


def reached(soc: ResolvedSoc, core: Cpu) -> set[tuple[str, int, int, str]]:
    """Return what a core reaches, out of the reach matrix: name, address, size and access."""
    own = {core.code.memory, core.data.memory, *(stack.memory for stack in core.stacks)}
    own |= {p.region.memory for p in soc.pools if p.reach[core.name] is not Access.NONE}
    return {
        (name, device_address(soc, core.name, memory.origin), memory.size, access)
        for name in own
        for memory in [soc.memory(name)]
        for access in ["rx" if memory.kind == "rom" else "rwx"]
    }


@pytest.mark.parametrize("name", CHIPS)
def test_cores_and_memories_are_the_chips(name: str) -> None:
    soc = load_soc(name)
    ((path, entry),) = package_files(Board(soc=soc), ["cmsis-pack"])["cmsis-pack"].items()
    assert path == f"{name}.pdsc"
    device = ElementTree.fromstring(entry.data).find("devices/family/device")
    assert device is not None
    found: dict[str, set[tuple[str, int, int, str]]] = {}
    for memory in device.findall("memory"):
        span = int(memory.attrib["start"], 0), int(memory.attrib["size"], 0)
        of = found.setdefault(memory.get("Pname", soc.host), set())
        of.add((memory.attrib["name"], *span, memory.attrib["access"]))
    assert found == {core.name: reached(soc, core) for core in soc.cpus}
    cores = {each.get("Pname", soc.host): each.attrib for each in device.findall("processor")}
    assert {each: int(words["Dclock"]) for each, words in cores.items()} == {
        core.name: core.clock for core in soc.cpus
    }


@pytest.mark.parametrize("name", in_gate(CHIPS, 0))
def test_what_it_names_is_in_the_package(name: str) -> None:
    files = package_files(Board(soc=load_soc(name)))
    paths = {path for each in files.values() for path in each}
    root = ElementTree.fromstring(files["cmsis-pack"][f"{name}.pdsc"].data)
    named = {each.attrib["name"] for each in root.iter("file") if each.get("category") != "include"}
    named |= {each.attrib["svd"] for each in root.iter("debug")}
    assert named <= paths
    assert named & {path for path in paths if path.endswith(".S")}


def test_a_riscv_chip_has_no_pack() -> None:
    assert not package_files(Board(soc=load_soc("lagoon")), ["cmsis-pack"])["cmsis-pack"]
