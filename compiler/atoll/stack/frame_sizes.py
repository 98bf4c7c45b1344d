# SPDX-License-Identifier: Apache-2.0
"""What compilers say of frames: `-fstack-usage` in files, `-fstack-size-section` in the image."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePath

from elftools.elf.elffile import ELFFile

from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass

_SECTION = ".stack_sizes"
_MORE = 0x80
_POSITION = re.compile(r"(:[0-9]+){1,2}$")
_FIELDS, _BOUNDED = 3, ("static", "bounded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A line of a `.su` file.

    Attributes:
        source: the file that the function is in, without folders.
        unit: the `.su` file without its suffix, which is named after what was compiled.
        size: bytes; None where the compiler says that it does not know.
    """

    source: str
    unit: str
    size: int | None

    def is_of(self, file: str) -> bool:
        """Tell whether the function is in what was compiled from a source file."""
        return file == self.source or self.unit in (file, PurePath(file).stem)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSizes:
    """Bytes that functions take at most; None where the compiler says that it does not know.

    Attributes:
        by_name: lines of `.su` files, which say nothing of where a function is.
        by_address: of the section in the image.
    """

    by_name: Mapping[str, tuple[Usage, ...]] = field(default_factory=dict)
    by_address: Mapping[int, int] = field(default_factory=dict)

    def of(self, name: str, address: int, sources: Collection[str], *, alone: bool) -> int | None:
        """Return the bytes of a function; None: nothing bounds them.

        Args:
            name: of the function.
            address: likewise.
            sources: files that it may be of, without folders; none where nothing is known of it.
            alone: there is one such function, or its file is known.
        """
        known = self.by_address.get(address)
        lines = self.by_name.get(name, ()) if alone else ()
        sizes = [each.size for each in lines if not sources or any(map(each.is_of, sources))]
        if not sizes:
            return known
        numbers = [size for size in sizes if size is not None]
        return max(numbers) if len(numbers) == len(sizes) else None

    def merge(self, other: "FrameSizes") -> "FrameSizes":
        """Return what both say."""
        return FrameSizes(
            by_name={**other.by_name, **self.by_name},
            by_address={**other.by_address, **self.by_address},
        )


def sizes_in(image: ELFFile) -> FrameSizes:
    """Read the section of an image; clang leaves functions with arrays of variable length out."""
    section = image.get_section_by_name(_SECTION)
    data, found, at = section.data() if section else b"", dict[int, int](), 0
    pointer = image.elfclass // 8
    while at + pointer < len(data):
        address = int.from_bytes(data[at : at + pointer], "little")
        at, shift, size = at + pointer, 0, 0
        while at < len(data):
            byte, at = data[at], at + 1
            size, shift = size | (byte & 0x7F) << shift, shift + 7
            if byte < _MORE:
                found[address & ~1] = max(size, found.get(address & ~1, 0))
                break
    return FrameSizes(by_address=found)


def read_usage(paths: Sequence[Path]) -> FrameSizes:
    """Read files that `-fstack-usage` wrote; of a folder, all those below it.

    Raises:
        UsageError: E185; a file cannot be read, or is none.
    """
    files = [
        each for path in paths for each in (sorted(path.rglob("*.su")) if path.is_dir() else [path])
    ]
    if paths and not files:
        raise _refusal(paths[0], "no file of it ends with .su")
    found: dict[str, tuple[Usage, ...]] = {}
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as fault:
            raise _refusal(file, str(fault)) from fault
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            if len(fields) != _FIELDS or not fields[1].isascii() or not fields[1].isdigit():
                raise _refusal(file, f"line {number} is not: place, bytes, kind")
            place, _, name = fields[0].rpartition(":")
            source = PurePath(_POSITION.sub("", place)).name
            size = int(fields[1]) if fields[2].rsplit(",", 1)[-1] in _BOUNDED else None
            found[name] = (*found.get(name, ()), Usage(source=source, unit=file.stem, size=size))
    return FrameSizes(by_name=found)


def _refusal(path: Path, why: str) -> UsageError:
    remedy = "give files that the compiler wrote with -fstack-usage, or their folder"
    return UsageError("E185", f"'{path}' says nothing of stacks: {why}", remedy=remedy)
