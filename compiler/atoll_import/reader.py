# SPDX-License-Identifier: Apache-2.0
"""Who reads which format: the table of importers, and how a file's format is told."""

from abc import ABC, abstractmethod
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.plugins.registry import Registry
from atoll.records import dataclass
from atoll.vela.ini_file import VelaChoice
from atoll_import.facts import Facts, Source

MAX_BYTES = 64 * 2**20
_HEAD = 16 * 2**10


@dataclass(frozen=True)
class Given:
    """A file to import.

    Attributes:
        path: as the user named it.
        data: its bytes.
        device: the device of the file that is wanted; empty if nobody says.
        choice: what is wanted of a configuration of Vela.
    """

    path: Path
    data: bytes
    device: str = ""
    choice: VelaChoice = field(default_factory=VelaChoice)

    @cached_property
    def head(self) -> str:
        """The first characters, by which a format is told."""
        return self.data[:_HEAD].decode("utf-8", errors="replace").replace("\0", "")

    @cached_property
    def text(self) -> str:
        """All of it as UTF-8.

        Raises:
            UsageError: E138, it is something else.
        """
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            line = self.data.count(b"\n", 0, fault.start) + 1
            byte = self.data[fault.start]
            self.refuse(f"byte 0x{byte:02X} is not UTF-8", line, "save the file as UTF-8")

    def source(self, line: int, what: str = "") -> Source:
        """Return a place of the file."""
        return Source(self.path, line, what)

    def refuse(self, what: str, line: int = 0, remedy: str = "") -> NoReturn:
        """Refuse a file that is damaged.

        Raises:
            UsageError: E138.
        """
        at = SourceLoc(self.path, line, 1) if line else None
        message = what if at else f"'{self.path}': {what}"
        remedy = remedy or "get the file again from where it comes from"
        raise UsageError("E138", message, at=at, remedy=remedy)


class Importer(ABC):
    """Reads the files of one format.

    Attributes:
        suffixes: how names of such files end, with the dot.
    """

    suffixes: tuple[str, ...] = ()

    @abstractmethod
    def recognises(self, given: Given) -> bool:
        """Tell whether the file has this format, by how it begins."""

    @abstractmethod
    def read(self, given: Given) -> Facts:
        """Return what the file says.

        Raises:
            UsageError: E138, see `Given.refuse`; E120, the file describes several devices.
        ToolchainError: E070; a tool that reads the format is missing.
        """


IMPORTERS: Registry[Importer] = Registry(
    group="atoll.importers",
    noun="format to import",
    own={
        "svd": "atoll_import.svd:IMPORTER",
        "pdsc": "atoll_import.pdsc:IMPORTER",
        "ipxact": "atoll_import.ipxact:IMPORTER",
        "litex": "atoll_import.litex:IMPORTER",
        "systemrdl": "atoll_import.systemrdl:IMPORTER",
        "repl": "atoll_import.repl:IMPORTER",
        "mpool": "atoll_import.mpool:IMPORTER",
        "vela": "atoll_import.vela:IMPORTER",
        "dtb": "atoll_import.devicetree:IMPORTER",
        "dts": "atoll_import.devicetree_source:IMPORTER",
    },
    interface=Importer,
)


def read_file(
    path: Path, wanted: str = "", device: str = "", choice: VelaChoice | None = None
) -> tuple[str, Facts]:
    """Return the format of the file at `path`, and what the file says.

    Args:
        path: of the file.
        wanted: name of the format; empty if the file itself tells.
        device: the device that is wanted of a file that describes several.
        choice: what is wanted of a configuration of Vela.

    Raises:
        UsageError: E094, there is no such format; E120, the file describes several devices; E138,
            the file cannot be read or is damaged; E139, it is of no format that is known.
    """
    name, given = given_file(path, wanted, device, choice)
    return name, IMPORTERS.get(name).read(given)


def given_file(
    path: Path, wanted: str = "", device: str = "", choice: VelaChoice | None = None
) -> tuple[str, Given]:
    """Return the format of the file at `path`, and the file; arguments are those of `read_file`.

    Raises:
        UsageError: E138, the file cannot be read; E139, it is of no format that is known.
    """
    given = Given(path, _bytes(path), device, choice or VelaChoice())
    return wanted or _format(given), given


def _format(given: Given) -> str:
    importers = {name: IMPORTERS.get(name) for name in IMPORTERS.names()}
    sure = [name for name, importer in importers.items() if importer.recognises(given)]
    named = [name for name in sure if given.path.suffix.lower() in importers[name].suffixes]
    if found := named or sure:
        return found[0]
    raise UsageError(
        "E139",
        f"'{given.path}' is of no format that is known: {', '.join(importers)}",
        remedy="say which it is with --format, or give another file",
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise UsageError("E138", f"'{path}' is no file", remedy="name a file to import")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        remedy = "check the name and its permissions"
        raise UsageError("E138", f"cannot read '{path}': {reason}", remedy=remedy) from fault
    if len(data) > MAX_BYTES:
        message = f"'{path}' is larger than {MAX_BYTES // 2**20} MiB"
        raise UsageError("E138", message, remedy="name a description of one chip")
    return data
