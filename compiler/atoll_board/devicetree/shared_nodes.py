# SPDX-License-Identifier: Apache-2.0
"""The nodes of memories and devices, which the trees of host and system share.

Addresses are those of the chip that is given: the bus's, or a device's (`as_seen_by`).
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from atoll.records import dataclass
from atoll.resolve.soc import (
    Access,
    Cpu,
    Dma,
    Engine,
    Memory,
    Pool,
    Region,
    RegionKind,
    ResolvedSoc,
)
from atoll_board.devicetree.core_nodes import device_properties
from atoll_board.devicetree.node import Node, Reference, Value, cells, quantity, to_dashes
from atoll_board.register_blocks import Block, blocks_on_bus

SHARED_MAILBOX = "atoll,shared-mailbox"
"""What a mailbox in memory is called; one of registers is a block."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Makes the nodes of one chip.

    Attributes:
        soc: the chip, with the addresses that the nodes have.
        access: of each region that has a node, by its name; None where no viewer limits them.
    """

    soc: ResolvedSoc
    access: Mapping[str, Access] | None = None

    @cached_property
    def address_cells(self) -> int:
        """Cells of an address, and of a size."""
        placed = (*self.soc.address_blocks(), self.soc.console)
        seen = (part.device_range(device.name) for part in placed for device in self.soc.devices)
        return 2 if max(each.stop for each in seen) > 1 << 32 else 1

    @property
    def widths(self) -> dict[str, Value]:
        """The properties that say how wide addresses and sizes of children are."""
        return {"#address-cells": (self.address_cells,), "#size-cells": (self.address_cells,)}

    def number(self, value: int) -> tuple[int, ...]:
        """Return the cells of an address or a size."""
        return cells(value, self.address_cells)

    def span(self, origin: int, size: int) -> tuple[int, ...]:
        """Return the cells of ``reg``."""
        return (*self.number(origin), *self.number(size))

    def memories(self) -> Iterator[Node]:
        """Yield each memory that the viewer has a region in."""
        for memory in self.soc.memories:
            regions = self.regions(memory)
            if self.access is None or any(each.name in self.access for each in regions):
                yield self._memory(memory, regions)

    def regions(self, memory: Memory) -> list[Region]:
        """Return the regions of a memory by address."""
        found = (each for each in self.soc.regions() if each.memory == memory.name and each.size)
        return sorted(found, key=lambda each: each.origin)

    def _memory(self, memory: Memory, regions: list[Region]) -> Node:
        rom = memory.kind == "rom"
        return Node(
            name=f"{'rom' if rom else 'sram'}@{memory.origin:x}",
            label=f"memory_{memory.name}",
            properties={
                "compatible": "atoll,rom" if rom else "mmio-sram",
                "reg": self.span(memory.origin, memory.size),
                "label": memory.name,
                **self.widths,
                "ranges": (*self.number(0), *self.span(memory.origin, memory.size)),
            },
            children=tuple(self._region(memory, region) for region in regions),
        )

    def _region(self, memory: Memory, region: Region) -> Node:
        """Return a node below its memory; one that the viewer may not touch is reserved."""
        offset = region.origin - memory.origin
        properties: dict[str, Value] = {
            "compatible": f"atoll,{region.kind}",
            "reg": self.span(offset, region.size),
            "label": region.name,
        }
        if region.kind is RegionKind.MAILBOX:
            properties["compatible"] = SHARED_MAILBOX
            properties |= self._device(region.name.partition(".")[0])
        if region.kind is RegionKind.POOL:
            properties["atoll,role"] = self.soc.pool(region.name).role
        if self.access is not None and region.name not in self.access:
            properties["status"] = "reserved"
        elif self.access is not None and self.access[region.name] is Access.READ:
            properties["read-only"] = True
        return Node(name=f"{region.kind}@{offset:x}", label=label_of(region), properties=properties)

    def registers(self, interrupts: Mapping[str, Mapping[str, Value]]) -> Iterator[Node]:
        """Yield each block of registers.

        Args:
            interrupts: properties that say where a block's interrupt goes, by the block's name.
        """
        engines = {engine.name: engine for engine in self.soc.engines}
        for block in blocks_on_bus(self.soc):
            engine = engines.get(block.name)
            node = self._block(block, engine, interrupts.get(block.name, {}))
            yield self._behind_its_bus(node, engine) if engine else node

    def _block(self, block: Block, engine: Engine | None, line: Mapping[str, Value]) -> Node:
        what = block.kind
        if engine:
            what = "dma" if isinstance(engine, Dma) else "accelerator"
        return Node(
            name=f"{what}@{block.origin:x}",
            label=block_label(self.soc, block.name),
            properties={
                "compatible": f"atoll,engine-{to_dashes(engine.spec.name)}"
                if engine
                else f"atoll,{block.kind}",
                "reg": self.span(block.origin, block.size),
                "label": block.label or block.name,
                **self._device(block.name),
                **line,
                **(self._engine(engine) if engine else {}),
            },
        )

    def _device(self, name: str) -> Mapping[str, Value]:
        """Return what the table of devices says of the one whose registers these are."""
        device = next((each for each in self.soc.devices if each.name == name), None)
        if device is None:
            return {}
        if not isinstance(device, Cpu):
            return device_properties(device)
        kind: dict[str, Value] = {"atoll,core": device.spec.name, "atoll,isa": device.isa}
        return kind | device_properties(device)

    def _engine(self, engine: Engine) -> Mapping[str, Value]:
        pools = [Reference(label_of(pool.region)) for pool in self.pools_of(engine)]
        properties: dict[str, Value] = {"clock-frequency": quantity(engine.clock)}
        if pools:
            properties["memory-region"] = tuple((pool,) for pool in pools)
        if engine.params:
            properties["atoll,parameters"] = tuple(engine.params[name] for name in names_of(engine))
            properties["atoll,parameter-names"] = names_of(engine)
        return properties

    def pools_of(self, engine: Engine) -> tuple[Pool, ...]:
        """Return the pools that an engine reaches and that have nodes."""
        memories = {each.label for each in self.memories()}
        return tuple(
            pool
            for pool in self.soc.pools
            if pool.reach[engine.name] is not Access.NONE
            and f"memory_{pool.region.memory}" in memories
        )

    def _behind_its_bus(self, node: Node, engine: Engine) -> Node:
        """Put an engine that sees memories elsewhere on a bus that translates its addresses."""
        regions = [pool.region for pool in self.pools_of(engine)]
        names = {each.memory for each in regions if not self.soc.alias_for(each)}
        memories = [memory for memory in self.soc.memories if memory.name in names]
        aliases = {each.name: each for each in map(self.soc.alias_for, regions) if each}
        seen = [
            *((memory.device_range(engine.name), memory.origin) for memory in memories),
            *((alias.device_range(engine.name), alias.byte) for alias in aliases.values()),
        ]
        if all(span.start == byte for span, byte in seen):
            return node
        translated = tuple(
            (*self.number(span.start), *self.span(byte, len(span))) for span, byte in seen
        )
        return Node(
            name=f"{to_dashes(engine.name)}-bus",
            properties={
                "compatible": "simple-bus",
                **self.widths,
                "ranges": True,
                "dma-ranges": translated,
            },
            children=(node,),
        )


def label_of(region: Region) -> str:
    """Return the label of a region's node."""
    if region.kind is RegionKind.POOL:
        return f"pool_{region.name}"
    if region.name.count(".") == 1:
        return f"region_{region.name.replace('.', '_')}"
    return f"thread_{region.name.replace('_', '__').replace('.', '_')}"


def block_label(soc: ResolvedSoc, name: str) -> str:
    """Return the label of a block's node; the bench's blocks have names that no device has."""
    if any(name == core.name for core in soc.cpus):
        return f"mailbox_{name}"
    return f"device_{name}" if name in soc.register_blocks else name


def names_of(engine: Engine) -> tuple[str, ...]:
    """Return the names of an engine's parameters, in the order of their values."""
    return tuple(sorted(engine.params))
