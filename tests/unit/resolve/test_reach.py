# SPDX-License-Identifier: Apache-2.0
"""Who reaches what: a pool's entry, its others, the device's default, the memory's default."""

import random
from pathlib import Path
from typing import Any

import pytest

from atoll.resolve import load_soc
from atoll.resolve.explain import explain
from atoll.resolve.export import to_json, without_positions
from atoll.resolve.soc import ResolvedSoc

DMA = {
    "kind": "dma",
    "engine": "ripple",
    "registers": 0x4001_0000,
    "irq": 4,
    "moves": [["flash", "sram"]],
}
OTHERS = {
    "pools.weights": {"memory": "flash", "role": "constants", "others": "ro"},
    "pools.shared": {"memory": "sram", "role": "workspace", "others": "rw"},
}


def reach(soc: ResolvedSoc, pool: str) -> dict[str, str]:
    """Return the access of each device to a pool."""
    return {name: access.value for name, access in soc.pool(pool).reach.items()}


def test_others_decide_for_all_devices_that_a_pool_does_not_name(chip: Any) -> None:
    soc = chip({**OTHERS, "devices.dma": DMA})
    assert reach(soc, "weights") == {"cpu": "ro", "npu": "ro", "dma": "ro"}
    assert reach(soc, "shared") == {"cpu": "rw", "npu": "rw", "dma": "rw"}


@pytest.mark.parametrize(
    ("entry", "others", "device", "memory", "access", "layer"),
    [
        ("ro", "rw", "none", "none", "ro", "chip.yaml:"),
        (None, "ro", "rw", "none", "ro", "pools.extra.others, "),
        (None, None, "ro", "rw", "ro", "devices.npu.reach, "),
        (None, None, None, "ro", "ro", "memories.sram.reach, "),
    ],
)
def test_the_strongest_layer_wins_and_is_named(
    chip: Any,
    entry: str | None,
    others: str | None,
    device: str | None,
    memory: str | None,
    access: str,
    layer: str,
) -> None:
    extra: dict[str, Any] = {"memory": "sram", "size": 64, "role": "workspace"}
    extra["reach"] = {"cpu": "rw", **({"npu": entry} if entry else {})}
    changes: dict[str, Any] = {"pools.extra": extra | ({"others": others} if others else {})}
    changes |= {"devices.npu.reach": device} if device else {}
    changes |= {"memories.sram.reach": memory} if memory else {}
    soc = chip(changes)
    assert reach(soc, "extra")["npu"] == access
    assert layer in soc.layers["pools.extra.reach.npu"]
    (row,) = [
        row
        for table in explain(soc)
        if table.key == "reach_layers"
        for row in table.rows
        if row[:2] == ("extra", "npu")
    ]
    assert row == ("extra", "npu", access, soc.layers["pools.extra.reach.npu"])


def test_a_default_of_rw_reads_what_is_rom(chip: Any, refused: Any) -> None:
    """A device that reaches everything reads a ROM; a pool that says rw of one is wrong."""
    weights = {"memory": "flash", "role": "constants", "reach": {"cpu": "ro"}}
    soc = chip({"pools.weights": weights, "devices.npu.reach": "rw"})
    assert reach(soc, "weights") == {"cpu": "ro", "npu": "ro"}
    assert "devices.npu.reach, as ro of a rom, " in soc.layers["pools.weights.reach.npu"]
    assert refused({"pools.weights": {**weights, "others": "rw"}}) == [
        "E034 'npu' cannot write pool 'weights', because memory 'flash' is rom"
    ]
    assert refused({"memories.flash.reach": "rw"}) == [
        "E034 memory 'flash' is rom, and its 'reach' lets devices write it"
    ]


def test_undecided_devices_are_one_fault_of_each_pool(refused: Any) -> None:
    bare = {"pools.weights.reach": None, "pools.shared.reach": {"npu": "rw"}}
    assert refused({**bare, "devices.dma": DMA}) == [
        "E033 pool 'weights' does not say whether 'cpu', 'npu' and 'dma' reach it",
        "E033 pool 'shared' does not say whether 'cpu' and 'dma' reach it",
    ]


def test_a_device_that_a_file_adds_is_shown_where_it_is_added(tmp_path: Path) -> None:
    top = tmp_path / "top.yaml"
    top.write_text(
        "extends: lagoon\ndevices:\n  dma: {kind: dma, engine: ripple, registers: 0x4001_0000,"
        " irq: 4, moves: [[flash, sram]], reach: rw}\n"
    )
    soc = load_soc(top)
    assert reach(soc, "weights") == {"cpu": "ro", "npu": "ro", "dma": "ro"}
    assert reach(soc, "private")["dma"] == "rw"
    top.write_text(top.read_text().replace(", reach: rw", ""))
    with pytest.raises(Exception, match="E033") as caught:
        load_soc(top)
    places = {fault.at.path for fault in caught.value.faults}  # type: ignore[attr-defined]
    assert places == {top}


def test_a_typo_in_reach_is_one_fault(refused: Any) -> None:
    assert refused({"pools.shared.reach": {"cpu": "rw", "nqu": "rw"}}) == [
        "E021 'pools.shared.reach' names device 'nqu', which is not described"
    ]


def test_the_host_fills_constants_in_ram_whoever_says_so(chip: Any, refused: Any) -> None:
    fast = {"memory": "sram", "size": "4 KiB", "role": "constants"}
    assert reach(chip({"pools.fast": {**fast, "others": "rw"}}), "fast")["cpu"] == "rw"
    assert refused({"pools.fast": {**fast, "others": "ro"}}) == [
        "E034 pool 'fast' is for constants in RAM, which 'cpu' cannot fill at start"
    ]


def test_d4_order_of_entries_and_defaults_never_matters(tmp_path: Path) -> None:
    parts = {
        "soc": "chip",
        "version": "1",
        "devices": "{npu: {reach: ro, kind: npu, accelerator: reef, registers: 0x4000_0000,"
        " irq: 3}, cpu: {kind: cpu, isa: rv32imc, reach: rw, stack: {memory: sram, size: 8 KiB}}}",
        "memories": "{sram: {reach: none, origin: 0x2000_0000, size: 64 KiB, kind: ram},"
        " flash: {origin: 0, size: 1 MiB, kind: rom}}",
        "pools": "{a: {others: rw, memory: sram, role: workspace, reach: {cpu: rw}},"
        " b: {memory: flash, role: constants}}",
    }
    path, seen = tmp_path / "chip.yaml", set()
    chance = random.Random("reach")
    for _ in range(20):
        lines = [f"{key}: {value}" for key, value in parts.items()]
        chance.shuffle(lines)
        path.write_text("\n".join(lines))
        seen.add(to_json(without_positions(load_soc(path))))
    assert len(seen) == 1
