# SPDX-License-Identifier: Apache-2.0
"""Bare planning instances: buffers with a life and a size, one pool.

The format is that of google/minimalloc: comma-separated values, a first line that names the
columns `id`, `lower`, `upper`, `size` and perhaps `alignment` in any order, then one line for each
buffer. A buffer lives from step `lower` until before step `upper`.
"""

from collections.abc import Iterator, Mapping, Sequence
from errno import EINVAL
from pathlib import Path

from atoll.diagnostics.errors import Fault, SourceLoc, UsageError
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.records import dataclass

POOL = "pool"
GREATEST_FILE = 64 * 2**20
GREATEST_NUMBER = 2**53
LONGEST_ID = 256
UNLIMITED = 1 << 62

_REQUIRED = ("id", "lower", "upper", "size")
_KNOWN = (*_REQUIRED, "alignment", "pool", "offset")
_MOST_FAULTS = 100
_FORMAT = "write a first line 'id,lower,upper,size' and a line such as '0,5,9,4096' per buffer"


def load_instance(path: Path, capacity: int | None = None, alignment: int = 1) -> Problem:
    """Return the problem in a file.

    Args:
        path: the file; columns `pool` and `offset`, which solutions have, are not looked at.
        capacity: bytes of the pool, None for no limit.
        alignment: of every buffer, besides what the file says.

    Raises:
        UsageError: E001, E002, the file cannot be read; E057, it is no instance; E058, a buffer
            of it is impossible.
    """
    return read_instance(_text(path), path, capacity, alignment)


def read_instance(text: str, path: Path, capacity: int | None, alignment: int) -> Problem:
    """Return the problem in a text, for which `path` stands; the rest as in `load_instance`."""
    reader = _Reader(path, text.splitlines())
    buffers = tuple(reader.buffers(alignment))
    if reader.faults:
        raise UsageError.all(reader.faults[:_MOST_FAULTS])
    size = UNLIMITED if capacity is None else capacity
    pool = PoolSpace(name=POOL, origin=0, size=size, alignment=alignment)
    return Problem(pools=(pool,), buffers=buffers)


def _text(path: Path) -> str:
    try:
        if not path.is_file() and path.exists():
            raise OSError(EINVAL, "it is not a regular file")
        if path.stat().st_size > GREATEST_FILE:
            raise UsageError(
                "E057",
                f"{path} has {path.stat().st_size} bytes, the most is {GREATEST_FILE}",
                remedy="split the instance where nothing is live",
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise UsageError(
            "E001", f"cannot read {path}: {fault.strerror}", remedy="check its name and permissions"
        ) from fault
    except UnicodeDecodeError as fault:
        raise UsageError("E002", f"{path} is not UTF-8", remedy="save it as UTF-8") from fault


@dataclass(frozen=True, slots=True)
class _Cell:
    """One value and where it is."""

    text: str
    at: SourceLoc


class _Reader:
    """Reads lines and collects what is wrong with them."""

    def __init__(self, path: Path, lines: Sequence[str]) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._lines = lines
        self._ids: dict[str, SourceLoc] = {}
        self._total = 0

    def buffers(self, alignment: int) -> Iterator[Buffer]:
        """Yield every buffer that is well-formed."""
        columns = self._columns()
        if not columns:
            return
        rows = [(number, line) for number, line in enumerate(self._lines[1:], 2) if line.strip()]
        if not rows:
            self._refuse("the instance has no buffers", SourceLoc(self._path, 1, 1))
        for number, line in rows:
            cells = self._cells(number, line)
            if len(cells) != len(columns):
                message = f"the line has {len(cells)} values, the first line {len(columns)} columns"
                self._refuse(message, SourceLoc(self._path, number, 1))
            elif buffer := self._buffer(dict(zip(columns, cells, strict=True)), alignment):
                yield buffer

    def _columns(self) -> list[str]:
        cells = self._cells(1, self._lines[0]) if self._lines else []
        names = [cell.text for cell in cells]
        for name, cell in zip(names, cells, strict=True):
            if name not in _KNOWN:
                self._refuse(f"'{name[:40]}' is none of the columns {', '.join(_KNOWN)}", cell.at)
            elif names.count(name) > 1:
                self._refuse(f"column '{name}' is there {names.count(name)} times", cell.at)
        if missing := [f"'{name}'" for name in _REQUIRED if name not in names]:
            plural = "s" if len(missing) > 1 else ""
            message = f"the first line lacks the column{plural} {', '.join(missing)}"
            self._refuse(message, SourceLoc(self._path, 1, 1))
        return [] if self.faults else names

    def _cells(self, number: int, line: str) -> list[_Cell]:
        cells, column = [], 1
        for part in line.split(","):
            indent = len(part) - len(part.lstrip())
            cells.append(_Cell(part.strip(), SourceLoc(self._path, number, column + indent)))
            column += len(part) + 1
        return cells

    def _buffer(self, row: Mapping[str, _Cell], alignment: int) -> Buffer | None:
        before = len(self.faults)
        self._identify(row["id"])
        lower, upper, size = (self._number(row[name], name) for name in _REQUIRED[1:])
        own = self._number(row["alignment"], "alignment") if "alignment" in row else 1
        if len(self.faults) == before:
            self._check(row, lower, upper, size, own)
        if len(self.faults) > before:
            return None
        return Buffer(
            name=row["id"].text,
            size=size,
            alignment=max(own, alignment),
            live=((lower, upper),),
            pools=(POOL,),
        )

    def _identify(self, cell: _Cell) -> None:
        name = cell.text
        if not name or len(name) > LONGEST_ID or not name.isprintable():
            message = f"an id has 1 to {LONGEST_ID} printable characters"
            self._refuse(message, cell.at)
        elif first := self._ids.get(name):
            self._impossible(f"buffer '{name}' is there twice", cell.at, first)
        else:
            self._ids[name] = cell.at

    def _number(self, cell: _Cell, column: str) -> int:
        digits = cell.text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            self._refuse(f"'{cell.text[:40]}' is not a whole number for '{column}'", cell.at)
            return 0
        if len(digits) > 19 or abs(int(cell.text)) > GREATEST_NUMBER:
            self._impossible(f"'{column}' is beyond {GREATEST_NUMBER}", cell.at)
            return 0
        return int(cell.text)

    def _check(
        self, row: Mapping[str, _Cell], lower: int, upper: int, size: int, alignment: int
    ) -> None:
        name = f"buffer '{row['id'].text}'"
        self._total += max(size, 0)
        if lower >= upper:
            message = f"{name} is live in no step: 'lower' is {lower}, 'upper' is {upper}"
            self._impossible(message, row["upper"].at)
        if size < 1:
            self._impossible(f"{name} has {size} bytes, the least is 1", row["size"].at)
        if alignment < 1 or alignment & (alignment - 1):
            message = f"{name} has an alignment of {alignment}, which is not a power of two"
            self._impossible(message, row["alignment"].at)
        if self._total > UNLIMITED:
            self._impossible("all buffers together pass 2^62 bytes", row["size"].at)

    def _refuse(self, message: str, at: SourceLoc) -> None:
        self.faults.append(Fault(code="E057", message=message, at=at, remedy=_FORMAT))

    def _impossible(self, message: str, at: SourceLoc, first: SourceLoc | None = None) -> None:
        other = (first, "it is here first") if first else None
        remedy = "correct the line, or delete it"
        self.faults.append(Fault(code="E058", message=message, at=at, other=other, remedy=remedy))


def solution_csv(plan: MemoryPlan) -> str:
    """Return a plan as an instance with a column `offset`, and `pool` if there are several.

    Each life of a buffer is a line; offsets count from the start of the buffer's pool.
    """
    several = len(plan.problem.pools) > 1
    lines = [f"id,lower,upper,size,{'pool,' if several else ''}offset"]
    for buffer in plan.problem.buffers:
        place = plan.placements[buffer.name]
        where = f"{place.pool},{place.offset}" if several else f"{place.offset}"
        for lower, upper in buffer.live:
            lines.append(f"{buffer.name},{lower},{upper},{buffer.size},{where}")
    return "\n".join(lines) + "\n"
