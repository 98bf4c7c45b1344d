# SPDX-License-Identifier: Apache-2.0
"""Pack contracts as the table that the shadow memory loads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from zlib import crc32

from atoll.contract.areas import Area
from atoll.contract.contract import Contract
from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, Device, Engine, Pool, ResolvedSoc
from atoll_sim.chip.plan import beat_bytes
from atoll_sim.protocol.layout import U32
from atoll_sim.shadow.device_rows import device_rows, register_rows
from atoll_sim.shadow.packer import AREA_KINDS, Covered, Packer, span_row
from atoll_sim.shadow.records import (
    FILLED,
    HEAD,
    MAGIC,
    MASTER,
    MODEL,
    NONE,
    SECTIONS,
    SPAN,
    VERSION,
)

_ALL_OF_EACH: Mapping[str, int] = MappingProxyType({})
_NO_CODE: Mapping[str, bytes] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowTable:
    """A packed contract, and the names of its numbers.

    Attributes:
        words: what the shadow memory loads.
        masters: devices by number.
        buffers: by number.
        operators: (number of the contract, operator) by number.
        models: contracts.
    """

    words: bytes
    masters: tuple[str, ...]
    buffers: tuple[Covered, ...]
    operators: tuple[tuple[int, str], ...]
    models: int


def shadow_table(
    soc: ResolvedSoc,
    contracts: Sequence[Contract],
    contents: Sequence[Mapping[str, bytes]] = (),
    data: Mapping[str, int] = _ALL_OF_EACH,
    code: Mapping[str, bytes] = _NO_CODE,
    *,
    beats: bool = True,
) -> ShadowTable:
    """Pack the contracts of the networks that one image runs in turn.

    Args:
        soc: the chip.
        contracts: at least one.
        contents: for each contract what constants must hold, by name; those not named may hold
            anything.
        data: bytes at the start of a core's data region that its image takes; else all.
        code: what the code regions of cores must hold that start-up code fills, as far as known.
        beats: engines read whole beats, as in RTL; else what is seen is what they asked for.
    """
    masters = bus_masters(soc)
    packer = Packer(soc, [device.name for device in masters])
    for number, contract in enumerate(contracts):
        packer.add(contract, contents[number] if contents else {})
    packer.add_areas(_limit(area, data) for area in contracts[0].areas if area.kind in AREA_KINDS)
    widths = [
        beat_bytes(each) or 1 if beats and isinstance(each, Engine) else 1 for each in masters
    ]
    sections: Mapping[str, Sequence[object]] = {
        "masters": [MASTER.row(beat=width) for width in widths],
        "memories": [
            SPAN.row(origin=memory.low.start, size=len(memory.low))
            for memory in soc.memories
            if memory.low
        ],
        "pools": [packer.pool(pool) for pool in soc.pools],
        "buffers": packer.buffers,
        "models": packer.models,
        "operators": packer.operators,
        "filled": [*_filled_pools(soc, packer), *_filled_code(soc, packer, code)],
        "contents": packer.contents,
        "successions": packer.successions,
        "devices": [row for engine in soc.engines for row in device_rows(engine, packer.masters)],
        "registers": [
            row for engine in soc.engines for row in register_rows(engine, packer.masters)
        ],
        "lists": packer.lists,
    }
    return ShadowTable(
        words=_pack(packer.masters[soc.host], sections),
        masters=tuple(packer.masters),
        buffers=tuple(packer.covered),
        operators=tuple(packer.named),
        models=len(contracts),
    )


def ports_table(soc: ResolvedSoc) -> ShadowTable:
    """Pack what accelerators are held to at their ports, and nothing of memories and networks."""
    masters = {device.name: number for number, device in enumerate(bus_masters(soc))}
    sections: Mapping[str, Sequence[object]] = {
        **dict.fromkeys(SECTIONS, ()),
        "masters": [MASTER.row(beat=1) for _ in masters],
        "models": [MODEL.row(first=0, count=0)],
        "devices": [row for engine in soc.engines for row in device_rows(engine, masters)],
        "registers": [row for engine in soc.engines for row in register_rows(engine, masters)],
    }
    return ShadowTable(
        words=_pack(masters[soc.host], sections),
        masters=tuple(masters),
        buffers=(),
        operators=(),
        models=1,
    )


def _filled_pools(soc: ResolvedSoc, packer: Packer) -> Iterator[object]:
    for pool in soc.pools:
        if _is_filled(pool, soc):
            writer = packer.masters[soc.host]
            yield FILLED.row(span=span_row(pool.region), writer=writer, code=NONE, size=0, crc=0)


def _filled_code(soc: ResolvedSoc, packer: Packer, code: Mapping[str, bytes]) -> Iterator[object]:
    """Yield the code regions that a core or its host fills; what is known of one bounds it."""
    for cpu in soc.cpus:
        if not (cpu.load or cpu.is_held):
            continue
        data = code.get(cpu.name, b"")
        region = replace(cpu.code, size=len(data) or cpu.code.size)
        yield FILLED.row(
            span=span_row(region),
            writer=packer.masters[soc.host if cpu.is_held else cpu.name],
            code=packer.areas[cpu.code.name],
            size=len(data),
            crc=crc32(data),
        )


def _is_filled(pool: Pool, soc: ResolvedSoc) -> bool:
    """Tell whether the host has to write the constants of a pool before the first run."""
    lost_at_reset = soc.memory(pool.region.memory).kind == "ram"
    return pool.holds_constants and lost_at_reset and pool.reach[soc.host] is Access.WRITE


def _limit(area: Area, data: Mapping[str, int]) -> Area:
    """Return an area without what the image of a core leaves free of its data region."""
    if area.kind != "data" or area.device not in data:
        return area
    return replace(area, size=data[area.device], limit=data[area.device])


def _pack(host: int, sections: Mapping[str, Sequence[object]]) -> bytes:
    head = HEAD.row(magic=MAGIC, version=VERSION, host=host)
    parts = [HEAD.pack([head])]
    for name, layout in SECTIONS.items():
        rows = sections[name]
        parts += [U32.pack([len(rows)]), layout.pack(rows)]
    return b"".join(parts)


def bus_masters(soc: ResolvedSoc) -> tuple[Device, ...]:
    """Return the devices that make accesses, in the order of the monitors' numbers."""
    return tuple(device for device in soc.devices if isinstance(device, (Cpu, Engine)))
