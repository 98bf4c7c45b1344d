# SPDX-License-Identifier: Apache-2.0
"""Where a planted fault is: buffer, address, and the line of the description to look at."""

import re
from collections.abc import Iterator

from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll.resolve.soc import Region
from atoll_sim.mutate.mutant import Mutant

QUOTED = re.compile(r"'([^']+)'")
WRITTEN = re.compile(r"0x[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a fault is.

    Attributes:
        buffer: that is wrong, or that is touched wrongly; empty if it is none.
        address: of the buffer in the wrong build, or of the window, region or byte.
        at: ``FILE:LINE:COLUMN`` of the pool, region or device; empty if nothing sets it.
    """

    buffer: str
    address: int | None
    at: str

    def __str__(self) -> str:
        parts = [f"buffer '{self.buffer}'"] if self.buffer else []
        parts += [f"address {self.address:#010x}"] if self.address is not None else []
        parts += [self.at] if self.at else []
        return ", ".join(parts)


def place_of(mutant: Mutant) -> Place:
    """Return where a mutant's fault is."""
    wrong = mutant.built
    buffer = next(_buffers(mutant), "")
    if buffer:
        pool = wrong.plan.placements[buffer].pool
        address = wrong.plan.address(buffer)
        return Place(buffer=buffer, address=address, at=wrong.soc.first_setting(f"pools.{pool}."))
    near = next(_addresses(mutant), None)
    return Place(buffer="", address=near, at=next(_origins(mutant), ""))


def _buffers(mutant: Mutant) -> Iterator[str]:
    """Yield the buffers that a fault is about, the most telling first."""
    compiled = mutant.built
    names = (mutant.subject, *QUOTED.findall(mutant.sentence))
    yield from (name for name in names if name in compiled.plan.placements)
    for op in compiled.graph.operators:
        if op.name in names:
            yield from (each for each in op.outputs if each in compiled.plan.placements)


def _addresses(mutant: Mutant) -> Iterator[int]:
    """Yield addresses that a fault without a buffer is about."""
    yield from (first for first, last in mutant.windows.values() if first <= last)
    yield from (int(text, 16) for text in WRITTEN.findall(mutant.sentence))
    yield from _edited_addresses(mutant)
    yield from (
        region.origin
        for region in _regions(mutant.built)
        if mutant.subject in (region.name, region.name.rpartition(".")[2])
    )


def _regions(compiled: Compiled) -> tuple[Region, ...]:
    cpu = compiled.soc.host_cpu
    return (*cpu.code_regions, cpu.data, *cpu.stacks)


def _edited_addresses(mutant: Mutant) -> Iterator[int]:
    """Yield the addresses that an edited linker script has and the right one has not."""
    for right, wrong in mutant.script:
        known = set(re.findall(r"0x[0-9a-fA-F]+", right))
        yield from (int(n, 16) for n in re.findall(r"0x[0-9a-fA-F]+", wrong) if n not in known)


def _origins(mutant: Mutant) -> Iterator[str]:
    """Yield where the description says something about the pool, device or stack of a fault."""
    soc = mutant.built.soc
    names = (mutant.subject, *QUOTED.findall(mutant.sentence))
    for name in names:
        for section in ("pools", "devices", "memories"):
            if at := soc.first_setting(f"{section}.{name}."):
                yield at
    if "stack" in (mutant.subject, *mutant.sentence.split()):
        yield soc.first_setting(f"devices.{soc.host}.stack.")
    yield soc.first_setting(f"devices.{soc.host}.")
