# SPDX-License-Identifier: Apache-2.0
"""What a core may touch, as spans of addresses."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.core_instances import local_of
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees, steps_by
from atoll.resolve.register_steps import register_spans
from atoll.resolve.soc import Access, Cpu, Region, Registers, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Addresses that a core may touch in one way.

    Attributes:
        begin, end: first address, and first past it.
        writes: it may write there as well as read.
        runs: it may run what is there.
        registers: it is no memory.
        kept: how the core's data cache keeps it: ``back`` for write-back, ``through``; "" if it
            keeps none of it.
        names: of the regions and register blocks that lie here, by address.
    """

    begin: int
    end: int
    writes: bool
    runs: bool
    registers: bool
    kept: str = ""
    names: tuple[str, ...]

    @property
    def access(self) -> str:
        """``ro``, ``rw`` or ``rx``."""
        return "rx" if self.runs else "rw" if self.writes else "ro"


def areas_of(soc: ResolvedSoc, cpu: Cpu, granule: int) -> tuple[Area, ...]:
    """Return what `cpu` may touch, by the address at which it sees it.

    What adjoins and may be touched alike is one.
    It is what its firewall lets through, and the registers that it keeps to itself where its
    protection unit sees them: that of an Arm core does not. Regions begin at multiples of
    `granule`, so that the bytes between the end of one and the next multiple hold nothing.
    """
    merged: list[Area] = []
    soc = as_seen_by(soc, cpu.name)
    cpu = core_as_it_sees(soc, cpu)
    for area in sorted(_areas(soc, cpu, granule), key=lambda area: area.begin):
        last = merged[-1] if merged else None
        if last and last.end == area.begin and _alike(last, area):
            merged[-1] = replace(last, end=area.end, names=(*last.names, *area.names))
        else:
            merged.append(area)
    assert all(low.end <= high.begin for low, high in pairwise(merged)), "regions overlap"
    return tuple(merged)


def _alike(one: Area, other: Area) -> bool:
    return (one.access, one.registers, one.kept) == (other.access, other.registers, other.kept)


def _areas(soc: ResolvedSoc, cpu: Cpu, granule: int) -> Iterator[Area]:
    for window, access in soc.windows(cpu):
        yield Area(
            begin=window.origin,
            end=-(-(window.origin + window.size) // granule) * granule,
            writes=access is Access.WRITE and window not in cpu.code_regions,
            runs=window in cpu.code_regions,
            registers=isinstance(window, Registers),
            kept=_owner_text(soc, cpu, window),
            names=(_name(soc, window),),
        )
    for span in _registers_of_steps(soc, cpu, granule):
        yield _own_registers(span, f"{cpu.name}.steps")
    local = local_of(cpu.spec)
    if local and cpu.instructions.family is Family.RISCV:
        yield _own_registers(local, f"{cpu.name}.local")


def _own_registers(span: range, name: str) -> Area:
    return Area(
        begin=span.start, end=span.stop, writes=True, runs=False, registers=True, names=(name,)
    )


def _registers_of_steps(soc: ResolvedSoc, cpu: Cpu, granule: int) -> Iterator[range]:
    """Yield the registers of a core's sequences, in whole granules."""
    end, local = 0, local_of(cpu.spec)
    for span in register_spans(each for each in steps_by(soc, cpu) if each.address not in local):
        begin, stop = max(end, span.start & -granule), -(-span.stop // granule) * granule
        if begin < stop:
            yield range(begin, stop)
        end = max(end, stop)


def _owner_text(soc: ResolvedSoc, cpu: Cpu, window: Region | Registers) -> str:
    if cpu.cache is None or isinstance(window, Registers) or not soc.memory(window.memory).cached:
        return ""
    return "back" if cpu.cache.write_back else "through"


def _name(soc: ResolvedSoc, window: Region | Registers) -> str:
    if isinstance(window, Region):
        return window.name
    blocks = {core.mailbox: f"{core.name}.mailbox" for core in soc.cpus if core.mailbox}
    blocks |= {engine.registers: f"{engine.name}.registers" for engine in soc.engines}
    return blocks.get(window, "console")
