"""What gdb may read and write, and where breakpoints need hardware: a script for each core.

Source: GDB manual, section "Memory Region Attributes" (command ``mem``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atoll.board.package import Board, Entry, generated
from atoll.board.render import render
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Memory, Region, Registers, ResolvedSoc

_MODES = {"rom": "ro", "ram": "rw"}


@dataclass(frozen=True, slots=True)
class _Span:
    """Addresses of one kind; `end` is past the last, and gdb keeps no copies of registers."""

    origin: int
    end: int
    attributes: str


def gdb_files(board: Board) -> Mapping[str, Entry]:
    """Return ``gdb/<core>.gdb`` of each core that has an image."""
    return {
        f"gdb/{core.name}.gdb": generated(
            render("core.gdb", board, core=core, spans=tuple(_spans(board.soc, core)))
        )
        for core in board.cores
    }


def _spans(soc: ResolvedSoc, core: Cpu) -> Iterator[_Span]:
    """Yield what the core may touch, where it sees it, by address."""
    seen = as_seen_by(soc, core.name)
    found = {_whole(seen, part) for part, _ in seen.windows(seen.device(core.name))}
    for part in sorted(found, key=lambda each: each.origin):
        if isinstance(part, Memory):
            yield _Span(part.origin, part.end, _MODES[part.kind])
        else:
            yield _Span(part.origin, part.end, "rw 32 nocache")


def _whole(soc: ResolvedSoc, part: Region | Registers) -> Memory | Registers:
    return soc.memory(part.memory) if isinstance(part, Region) else part
