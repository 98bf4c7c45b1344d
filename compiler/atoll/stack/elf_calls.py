# SPDX-License-Identifier: Apache-2.0
"""What the sources say of calls through pointers: the section that `ATOLL_STACK_CALLS` fills."""

import struct
from collections.abc import Mapping

from elftools.elf.elffile import ELFFile

from atoll.diagnostics.errors import PlanError

SECTION = ".atoll.calls"
MACRO = "ATOLL_STACK_CALLS"

_WORDS = {32: "I", 64: "Q"}


def declared_calls(image: ELFFile) -> Mapping[int, tuple[int, ...]]:
    """Return for each annotated caller the functions that it may call through pointers, by address.

    The section holds pairs of pointers (caller, callee), little-endian; the lowest bit, which
    tells Thumb from ARM, is dropped.

    Raises:
        PlanError: E076; the section is no list of pairs.
    """
    section = image.get_section_by_name(SECTION)
    data = section.data() if section else b""
    pair = struct.Struct(f"<2{_WORDS[image.elfclass]}")
    if len(data) % pair.size:
        raise PlanError(
            "E076",
            f"section {SECTION} has {len(data)} bytes, no list of pairs of addresses",
            remedy=f"let only {MACRO} of atoll_stack.h write to it",
        )
    calls: dict[int, set[int]] = {}
    for caller, callee in pair.iter_unpack(data):
        calls.setdefault(caller & ~1, set()).add(callee & ~1)
    return {caller: tuple(sorted(callees)) for caller, callees in calls.items()}
