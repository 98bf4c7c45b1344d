# SPDX-License-Identifier: Apache-2.0
"""The component of IP-XACT, read by a library that is not ours: memories and registers."""

import io
from pathlib import Path

import pytest
from ipyxact.ipyxact import Component

from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll_board.package import Board, package_files
from atoll_board.register_blocks import blocks_of

ROOT = Path(__file__).parents[3]
OWN = [ROOT / "tests" / "data" / name for name in ("shore.yaml", "bay.yaml")]
CHIPS = sorted(map(str, [*(ROOT / "socs").glob("*.yaml"), *OWN]))
ACCESS = {"rom": "read-only", "ram": "read-write"}


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
def test_blocks_are_the_chip_s(path: str) -> None:
    soc = load_soc(path)
    (entry,) = package_files(Board(soc=soc), ["ipxact"])["ipxact"].values()
    component = Component()
    component.load(io.StringIO(entry.data.decode()))
    (space,) = component.memoryMaps.memoryMap
    assert (component.name, space.name) == (soc.name, soc.host)
    found = {each.name: each for each in space.addressBlock}
    memories = {each.name: each for each in as_seen_by(soc, soc.host).memories}
    blocks = {each.name: each for each in blocks_of(soc)}
    assert len(space.addressBlock) == len(memories) + len(blocks)
    assert set(found) == {*memories, *blocks}
    for memory in memories.values():
        block = found[memory.name]
        assert (block.baseAddress, block.range) == (memory.origin, memory.size)
        assert (block.usage, block.access) == ("memory", ACCESS[memory.kind])
    for name, each in blocks.items():
        block = found[name]
        assert (block.baseAddress, block.range) == (each.origin, each.size)
        registers = {register.name: register.addressOffset for register in block.register}
        assert (block.usage, registers) == ("register", dict(each.offsets))
        for register in block.register:
            (field,) = register.field
            assert (register.size, field.bitOffset, field.bitWidth) == (32, 0, 32)
