# SPDX-License-Identifier: Apache-2.0
"""What gdb may read, write and program, and where breakpoints need hardware, for each core.

A script says so to gdb itself. It has no words for flash: a map says so to the stub that gdb asks.

Source: GDB manual, sections "Memory Region Attributes" (command ``mem``) and "Memory Map Format".
"""

from collections.abc import Iterator, Mapping

from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Memory, Region, Registers, ResolvedSoc
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

_MODES = {"rom": "ro", "ram": "rw"}


@dataclass(frozen=True, slots=True)
class _Span:
    """Addresses of one kind, with what they are in a script and in a map.

    Attributes:
        end: past the last.
        attributes: in a script; gdb keeps no copies of registers.
        type: in a map, which knows no registers.
        sector: bytes of flash that are erased at once, 0 of anything else.
    """

    origin: int
    end: int
    attributes: str
    type: str = "ram"
    sector: int = 0


def gdb_files(board: Board) -> Mapping[str, Entry]:
    """Return ``gdb/<core>.gdb`` and ``gdb/<core>.xml`` of each core that has an image."""
    return {
        f"gdb/{core.name}.{suffix}": generated_entry(
            render(f"core.{suffix}", board, core=core, spans=tuple(_spans(board.soc, core)))
        )
        for core in board.cores
        for suffix in ("gdb", "xml")
    }


def _spans(soc: ResolvedSoc, core: Cpu) -> Iterator[_Span]:
    """Yield what the core may touch, where it sees it, by address."""
    seen = as_seen_by(soc, core.name)
    found = {_whole(seen, part) for part, _ in seen.windows(seen.device(core.name))}
    for part in sorted(found, key=lambda each: each.origin):
        if isinstance(part, Memory):
            yield _Span(part.origin, part.end, _MODES[part.kind], part.kind, part.sector)
        else:
            yield _Span(part.origin, part.end, "rw 32 nocache")


def _whole(soc: ResolvedSoc, part: Region | Registers) -> Memory | Registers:
    return soc.memory(part.memory) if isinstance(part, Region) else part
