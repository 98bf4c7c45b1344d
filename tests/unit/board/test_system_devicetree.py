# SPDX-License-Identifier: Apache-2.0
"""The System Devicetree: each core's map is what it reaches, and Lopper makes trees of domains."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.test_devicetree import DTC_CHECKS
from tests.unit.board.trees import (
    CHIPS,
    cells,
    groups,
    nodes,
    number,
    parsed,
    span,
    strings,
    written,
)

from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Access, Cpu, ResolvedSoc

GOLDEN = Path(__file__).parents[2] / "golden" / "board"


def tree_of(chip: ResolvedSoc, folder: Path) -> Any:
    return parsed(source_of(chip, folder))


def source_of(chip: ResolvedSoc, folder: Path) -> Path:
    written(chip, "system-devicetree", folder)
    return folder / "devicetree" / f"{chip.name}_system.dts"


def reached_by(chip: ResolvedSoc, core: Cpu) -> set[tuple[int, int, int]]:
    """Return (address that the core sees, address on the bus, bytes) of all that it reaches."""
    seen = as_seen_by(chip, core.name)
    there = next(each for each in seen.cpus if each.name == core.name)
    found = {
        (seen.pool(pool.name).region.origin, pool.region.origin, pool.region.size)
        for pool in chip.pools
        if pool.reach[core.name] is not Access.NONE
    }
    regions = zip(
        (there.code, there.data, *there.stacks), (core.code, core.data, *core.stacks), strict=True
    )
    found |= {(own.origin, bus.origin, bus.size) for own, bus in regions if bus.size}
    for own, bus in zip(seen.cpus, chip.cpus, strict=True):
        if own.shared_mailbox and bus.shared_mailbox and core.name in (own.name, chip.host):
            box = bus.shared_mailbox
            found.add((own.shared_mailbox.origin, box.origin, box.size))
    blocks = {name: (seen.register_blocks[name], on) for name, on in chip.register_blocks.items()}
    if core.name == chip.host:
        blocks["console"] = (chip.console, chip.console)
    return found | {
        (own.origin, on.origin, on.size)
        for name, (own, on) in blocks.items()
        if core.name in (chip.host, name)
    }


@pytest.mark.parametrize("name", CHIPS)
def test_maps_are_what_each_core_reaches(name: str, tmp_path: Path) -> None:
    chip = load_soc(name)
    found = nodes(tree_of(chip, tmp_path))
    bus = number(found["bus"], "phandle")
    for core in chip.cpus:
        cluster = found[f"cluster_{core.name}"]
        width = number(cluster, "#ranges-address-cells")
        quartets = groups(cells(cluster, "address-map"), width, 1, width, width)
        mapped: dict[int, set[tuple[int, int, int]]] = {}
        for seen, where, origin, size in quartets:
            mapped.setdefault(where, set()).add((seen, origin, size))
        assert mapped.pop(bus) == reached_by(chip, core)
        own = found.get(f"private_{core.name}")
        ((_, registers),) = own.nodes.items() if own else ((None, None),)
        expected = {} if own is None else {number(own, "phandle"): registers}
        assert mapped.keys() == expected.keys()
        for phandle, node in expected.items():
            ((address, size),) = groups(cells(node, "reg"), width, width)
            assert mapped[phandle] == {(address, address, size)}


@pytest.mark.parametrize("name", CHIPS)
def test_everything_is_where_the_bus_has_it(name: str, tmp_path: Path) -> None:
    chip = load_soc(name)
    found = nodes(tree_of(chip, tmp_path))
    for memory in chip.memories:
        node = found[f"memory_{memory.name}"]
        assert span(node) == (memory.origin, memory.size)
        for child in node.nodes.values():
            (label,) = strings(child, "label")
            region = next(each for each in chip.regions() if each.name == label)
            assert span(child) == (region.origin, region.size)
    for owner, block in chip.register_blocks.items():
        is_core = any(owner == core.name for core in chip.cpus)
        node = found[f"mailbox_{owner}" if is_core else f"device_{owner}"]
        assert span(node) == (block.origin, block.size)


@pytest.mark.skipif(shutil.which("dtc") is None, reason="needs dtc")
@pytest.mark.parametrize("name", CHIPS)
def test_dtc_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    path = source_of(load_soc(name), tmp_path)
    checks = [word for check in DTC_CHECKS for word in ("-W", check)]
    command = ["dtc", "-@", *checks, "-I", "dts", "-O", "dtb", "-o", str(tmp_path / "b"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


DOMAINS = [
    (name, core.name)
    for name in CHIPS
    for core in load_soc(name).cpus
    if name.endswith(("twin", "bay.yaml")) or core.name == load_soc(name).host
]


@pytest.mark.skipif(shutil.which("dtc") is None, reason="Lopper calls dtc and cpp")
@pytest.mark.parametrize(
    ("name", "core"),
    [
        pair if pair == ("twin", "dsp") else pytest.param(*pair, marks=pytest.mark.slow)
        for pair in DOMAINS
    ],
)
def test_lopper_makes_the_tree_of_a_domain(name: str, core: str, tmp_path: Path) -> None:
    """What is left are the regions that the core reaches, and those of the engines it starts."""
    chip = load_soc(name)
    path, made = source_of(chip, tmp_path), tmp_path / "domain.dts"
    lopper = str(Path(sys.executable).parent / "lopper")
    target = f"/domains/{core.replace('_', '-')}"
    command = [lopper, "-f", str(path), str(made), "--", "domain_access", "-t", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    is_host = core == chip.host
    reach = {core} | ({engine.name for engine in chip.engines} if is_host else set())
    wanted = {
        pool.name for pool in chip.pools if any(pool.reach[who] is not Access.NONE for who in reach)
    }
    device = next(each for each in chip.cpus if each.name == core)
    wanted |= {each.name for each in (device.code, device.data, *device.stacks) if each.size}
    shared = (each.shared_mailbox for each in chip.cpus if is_host or each.name == core)
    wanted |= {each.name for each in shared if each}
    left = [node for node in parsed(made).node_iter() if "reg" in node.props]
    regions = [node for node in left if node.parent.name.startswith(("rom@", "sram@"))]
    assert {strings(node, "label")[0] for node in regions} == wanted
    names = {node.name.partition("@")[2] for node in left}
    registers = {f"{engine.registers.origin:x}" in names for engine in chip.engines}
    assert registers <= {is_host}


@pytest.mark.parametrize("soc", ["lagoon", "twin"])
def test_golden(soc: str, golden: Any, tmp_path: Path) -> None:
    golden(GOLDEN / f"{soc}_system.dts", source_of(load_soc(soc), tmp_path).read_text())
