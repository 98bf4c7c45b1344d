# SPDX-License-Identifier: Apache-2.0
"""The RTL of a description as later stages see it, alike for cores, accelerators and units."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict

from atoll.description.rtl import RtlFiles

KEYWORDS = {"systemverilog": "", "verilog-2001": "1364-2001"}
"""What Verilator calls the keywords of a language; "" for those that it has by itself."""


class RtlParts(TypedDict):
    """Fields that each of the three has."""

    rtl_module: str
    rtl_packages: Mapping[str, tuple[str, ...]]
    rtl_sources: tuple[str, ...]
    rtl_defines: Mapping[str, str]
    rtl_keywords: str


def rtl_parts(rtl: RtlFiles | None, beside: Path) -> RtlParts:
    """Return what a description in the folder `beside` says of its RTL, if there is any."""
    return RtlParts(
        rtl_module=rtl.module if rtl else "",
        rtl_packages=rtl.packages if rtl else {},
        rtl_sources=tuple(locate_beside(word, beside) for word in (rtl.sources if rtl else ())),
        rtl_defines=rtl.defines if rtl else {},
        rtl_keywords=KEYWORDS[rtl.language] if rtl else "",
    )


def rtl_keys(rtl: RtlFiles | None) -> Iterator[tuple[str, ...]]:
    """Yield the key paths at which messages may point."""
    if rtl is None:
        return
    yield ("rtl", "module")
    yield from (("rtl", "sources", str(index)) for index in range(len(rtl.sources)))
    for table in ("packages", "defines", "ports", "ties", "parameters"):
        for name in getattr(rtl, table, None) or ():
            yield ("rtl", table, name)


def locate_beside(word: str, folder: Path) -> str:
    """Return a file as later stages look for it: with a '/' it is relative to `folder`."""
    slash = "/" if word.endswith("/") else ""
    return str((folder / word).resolve()) + slash if "/" in word else word


def entry_beside(entry: str | None, folder: Path) -> str:
    """Return an entry point as later stages load it: a file with a '/' is relative to `folder`."""
    file, _, attribute = (entry or "").partition(":")
    return f"{locate_beside(file, folder)}:{attribute}" if entry else ""
