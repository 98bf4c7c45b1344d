# SPDX-License-Identifier: Apache-2.0
"""The chip as OpenOCD debugs it: a tap or debug port, a target for each core, banks of flash.

Source: OpenOCD User's Guide 0.12, "TAP Declaration", "CPU Configuration", "Flash Commands".
"""

from collections.abc import Iterator, Mapping

from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Access, Cpu, Memory, Region, ResolvedSoc
from atoll_board.cortex_m import is_cortex_m
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.reached import memories_of
from atoll_board.render import render

_LARGEST_WORK_AREA = 16 * 1024
_DEBUGGED = (Family.THUMB, Family.RISCV)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A core as a target.

    Attributes:
        name: of the core.
        cortex_m: it is behind a port of the debug port, not a hart of a debug module.
        number: among the targets of its kind.
        work_area: where OpenOCD may write while it works: address and bytes.
        scratch: nothing of what was there has to be kept.
    """

    name: str
    cortex_m: bool
    number: int
    work_area: tuple[int, int]
    scratch: bool


def openocd_files(board: Board) -> Mapping[str, Entry]:
    """Return ``openocd.cfg``; none if the host is neither a RISC-V core nor a Cortex-M."""
    soc = board.soc
    if soc.host_cpu.instructions.family not in _DEBUGGED:
        return {}
    targets = tuple(_targets(soc))
    banks = tuple(_banks(soc))
    return {
        "openocd.cfg": generated_entry(render("openocd.cfg", board, targets=targets, banks=banks))
    }


def _targets(soc: ResolvedSoc) -> Iterator[_Target]:
    numbers = {True: 0, False: 0}
    for core in _host_first(soc):
        if core.instructions.family not in _DEBUGGED:
            continue
        cortex_m = is_cortex_m(core)
        region, scratch = _work_area(as_seen_by(soc, core.name), core)
        size = min(region.size, _LARGEST_WORK_AREA) & ~3
        yield _Target(
            name=core.name,
            cortex_m=cortex_m,
            number=numbers[cortex_m],
            work_area=(region.origin, size),
            scratch=scratch,
        )
        numbers[cortex_m] += 1


def _host_first(soc: ResolvedSoc) -> list[Cpu]:
    return sorted(soc.cpus, key=lambda core: core.name != soc.host)


def _work_area(seen: ResolvedSoc, core: Cpu) -> tuple[Region, bool]:
    """Return where the debugger may write, and whether it is scratch of networks."""
    pools = [
        pool.region
        for pool in seen.pools
        if pool.reach[core.name] is Access.WRITE and pool.role == "workspace"
    ]
    if pools:
        return max(pools, key=lambda region: min(region.size, _LARGEST_WORK_AREA)), True
    found = seen.device(core.name)
    assert isinstance(found, Cpu)
    return found.data, False


def _banks(soc: ResolvedSoc) -> Iterator[tuple[str, Memory]]:
    """Yield each read-only memory with the first core that reaches it, where that one sees it."""
    done = set()
    for core in _host_first(soc):
        for memory in memories_of(soc, core):
            if memory.kind == "rom" and memory.name not in done:
                done.add(memory.name)
                yield core.name, memory
