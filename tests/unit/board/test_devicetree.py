# SPDX-License-Identifier: Apache-2.0
"""The host's devicetree, read by parsers that are not ours and held against the chip."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.trees import (
    CHIPS,
    blob,
    cells,
    groups,
    nodes,
    number,
    parsed,
    span,
    strings,
    width,
    written,
)

from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by, device_address
from atoll.resolve.soc import Access, Region, RegionKind, ResolvedSoc
from atoll_board.devicetree.node import Node, Reference, source
from atoll_board.register_blocks import Block, blocks_of

GOLDEN = Path(__file__).parents[2] / "golden" / "board"
SOME_SLOW = [
    chip if chip == "lagoon" else pytest.param(chip, marks=pytest.mark.slow) for chip in CHIPS
]
DTC_CHECKS = [
    "addr_size_cells",
    "avoid_default_addr_size",
    "avoid_unnecessary_addr_size",
    "dma_ranges_format",
    "interrupt_provider",
    "interrupts_extended_property",
    "interrupts_property",
    "node_name_chars_strict",
    "node_name_format",
    "node_name_vs_property_name",
    "property_name_chars_strict",
    "reg_format",
    "simple_bus_bridge",
    "simple_bus_reg",
    "unique_unit_address",
    "unit_address_format",
    "unit_address_vs_reg",
]


def lines_of(soc: ResolvedSoc) -> dict[str, list[int]]:
    """Return the cells that name the interrupt of each block; rules of the cores' controllers."""
    controller = soc.host_cpu.spec.controller
    if controller is None:
        return {}
    lines = {**soc.irqs, "atoll_guard": soc.host_cpu.spec.bus_error_line}
    if controller == "nvic":
        return {name: [line, 0] for name, line in lines.items()}
    return {name: [line + (14 if controller == "fast" else 0)] for name, line in lines.items()}


def check_regions(soc: ResolvedSoc, found: dict[str, Any]) -> None:
    """Hold every region in the memories that the host reaches against what it may do there."""
    windows = soc.windows(soc.host_cpu)
    access = {each.name: kind for each, kind in windows if isinstance(each, Region)}
    reached = {soc.memory(each.memory).name for each in soc.regions() if each.name in access}
    assert {label for label in found if label.startswith("memory_")} == {
        f"memory_{name}" for name in reached
    }
    below: dict[str, Any] = {}
    for name in reached:
        memory, node = soc.memory(name), found[f"memory_{name}"]
        assert span(node) == (memory.origin, memory.size)
        assert ("rom" in strings(node, "compatible")[0]) == (memory.kind == "rom")
        below |= {strings(each, "label")[0]: each for each in node.nodes.values()}
    regions = {each.name: each for each in soc.regions() if each.memory in reached and each.size}
    assert below.keys() == regions.keys()
    for name, region in regions.items():
        assert span(below[name]) == (region.origin, region.size)
        assert ("status" in below[name].props) == (name not in access)
        assert ("read-only" in below[name].props) == (access.get(name) is Access.READ)
        if region.kind is RegionKind.POOL:
            assert strings(below[name], "atoll,role") == [soc.pool(name).role]


def label_of(block: Block) -> str:
    prefix = {"console": "", "guard": "", "mailbox": "mailbox_"}.get(block.kind, "device_")
    return prefix + block.name


def check_blocks(soc: ResolvedSoc, found: dict[str, Any]) -> None:
    lines = lines_of(soc)
    for block in blocks_of(soc):
        node = found[label_of(block)]
        assert span(node) == (block.origin, block.size)
        wanted = lines.get(block.name)
        assert wanted == (cells(node, "interrupts") if "interrupts" in node.props else None)


def check_engines(chip: ResolvedSoc, soc: ResolvedSoc, found: dict[str, Any]) -> None:
    """Hold parameters, pools and translated addresses of engines against the chip."""
    for engine in soc.engines:
        node = found[f"device_{engine.name}"]
        named = strings(node, "atoll,parameter-names")
        assert dict(zip(named, cells(node, "atoll,parameters"), strict=True)) == engine.params
        pools = {
            pool.name: pool
            for pool in soc.pools
            if pool.reach[engine.name] is not Access.NONE
            and f"memory_{pool.region.memory}" in found
        }
        by_phandle = {
            number(each, "phandle"): each for each in found.values() if "phandle" in each.props
        }
        regions = cells(node, "memory-region") if "memory-region" in node.props else []
        assert [strings(by_phandle[each], "label")[0] for each in regions] == [*pools]
        for pool in pools.values():
            on_bus = chip.pool(pool.name).region.origin
            assert translated(node, device_address(chip, engine.name, on_bus)) == pool.region.origin


def translated(node: Any, address: int) -> int:
    """Return where the host sees what a bus master sees at an address."""
    if "dma-ranges" not in node.parent.props:
        return address
    bits = width(node.parent)
    ((child, parent),) = [
        (child, parent)
        for child, parent, size in groups(cells(node.parent, "dma-ranges"), bits, bits, bits)
        if child <= address < child + size
    ]
    return address - child + parent


@pytest.mark.parametrize("name", CHIPS)
def test_the_tree_is_the_chip(name: str, tmp_path: Path) -> None:
    chip = load_soc(name)
    tree = parsed(written(chip, "devicetree", tmp_path) / "devicetree" / f"{chip.name}.dts")
    found = nodes(tree)
    soc = as_seen_by(chip, chip.host)
    assert number(found[f"device_{chip.host}"], "clock-frequency") == chip.host_cpu.clock
    check_regions(soc, found)
    check_blocks(soc, found)
    check_engines(chip, soc, found)


def messages(folder: Path, chip: str) -> str:
    """Return what dt-schema has to say of bindings and tree."""
    bindings = folder / "devicetree" / "bindings"
    tree = folder / "tree.dtb"
    tree.write_bytes(blob(parsed(folder / "devicetree" / f"{chip}.dts")))
    tools = Path(sys.executable).parent
    said = ""
    for command in (
        [str(tools / "dt-doc-validate"), str(bindings)],
        [str(tools / "dt-validate"), "-m", "-s", str(bindings), str(tree)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said += done.stdout + done.stderr
    return said


@pytest.mark.parametrize("name", SOME_SLOW)
def test_dt_schema_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    chip = load_soc(name)
    assert messages(written(chip, "devicetree", tmp_path), chip.name) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("reg = <0x40000000 0x1000>;", ""),
        ('compatible = "atoll,guard"', 'compatible = "atoll,gard"'),
        ('"workspace"', '"workshop"'),
        ("#interrupt-cells = <1>", "#interrupt-cells = <2>"),
    ],
)
@pytest.mark.slow
def test_dt_schema_names_what_is_wrong(right: str, wrong: str, tmp_path: Path) -> None:
    path = written("lagoon", "devicetree", tmp_path) / "devicetree" / "lagoon.dts"
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    assert messages(tmp_path, "lagoon")


@pytest.mark.skipif(shutil.which("dtc") is None, reason="needs dtc")
@pytest.mark.parametrize("name", CHIPS)
def test_dtc_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    chip = load_soc(name)
    path = written(chip, "devicetree", tmp_path) / "devicetree" / f"{chip.name}.dts"
    checks = [word for check in DTC_CHECKS for word in ("-W", check)]
    command = ["dtc", "-@", *checks, "-I", "dts", "-O", "dtb", "-o", str(tmp_path / "b"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("soc", ["lagoon", "twin"])
def test_golden(soc: str, golden: Any, tmp_path: Path) -> None:
    path = written(soc, "devicetree", tmp_path) / "devicetree" / f"{soc}.dts"
    golden(GOLDEN / f"{soc}.dts", path.read_text())


def test_a_clock_may_need_two_cells(tmp_path: Path) -> None:
    written("zynqmp", "devicetree", tmp_path, "devices.apu.clock=5 GHz")
    found = nodes(parsed(tmp_path / "devicetree" / "zynqmp.dts"))
    assert cells(found["device_apu"], "clock-frequency") == [1, 5 * 10**9 - 2**32]


def test_any_text_is_a_string_of_the_format(tmp_path: Path) -> None:
    text = 'a"; }; / { x = "\\ \n\t é */ // ${HOME} `id` \x01f'
    low = Node(name="low", label="low", properties={"to": (Reference("low"), 10)})
    root = Node(name="/", properties={"model": text}, children=(low,))
    (tmp_path / "a.dts").write_text(source(root, "first\n/ { injected; };"))
    tree = parsed(tmp_path / "a.dts")
    assert strings(tree.root, "model") == [text]
    assert "injected" not in tree.root.props
