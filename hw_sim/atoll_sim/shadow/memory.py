# SPDX-License-Identifier: Apache-2.0
"""The shadow memory (shadow.h) from Python, wherever it runs: beside a model or in a library."""

import ctypes
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atoll.protocol import Trace
from atoll_sim.protocol.cplusplus import PROTOCOL, protocol_header
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.library import shared_library
from atoll_sim.shadow.records import FINDING, RECORDS, records_header

HERE = Path(__file__).parent
PARTS = (
    "shadow",
    "shadow_table",
    "shadow_setup",
    "shadow_events",
    "shadow_grants",
    "shadow_judge",
    "shadow_api",
    "devices",
)
SOURCES = tuple(HERE / f"{part}.cpp" for part in PARTS)
HEADERS = tuple(HERE / f"{name}.h" for name in ("shadow", "shadow_table", "zeros", "devices"))
GENERATED = {PROTOCOL: protocol_header(), RECORDS: records_header()}
"""Headers by name."""

WIDEST = 64

_PEEK = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_uint32, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint8)
)


class Shadow:
    """One shadow memory."""

    def __init__(self, library: ctypes.CDLL, handle: int) -> None:
        self._library = library
        self._handle = ctypes.c_void_p(handle)
        self._peek: Any = None
        library.atoll_shadow_findings.restype = ctypes.c_size_t

    def load(self, words: bytes) -> bool:
        """Watch by this table from now on; False if it is damaged."""
        count = ctypes.c_size_t(len(words) // 4)
        return bool(self._library.atoll_shadow_load(self._handle, words, count))

    def look_with(self, read: Callable[[int, int], bytes]) -> None:
        """Compare the ends of copies through `read`(address, size)."""

        def peek(address: int, size: int, to: Any) -> bool:
            ctypes.memmove(to, read(address, size), size)
            return True

        self._peek = _PEEK(peek)
        self._library.atoll_shadow_look_with(self._handle, self._peek)

    def trace(self, event: int, operator: int = 0, cycle: int = 0) -> None:
        """Follow a `TraceEvent`."""
        word = ctypes.c_uint32(Trace(event, operator).word())
        self._library.atoll_shadow_trace(self._handle, ctypes.c_uint64(cycle), word)

    def touch(
        self,
        master: int,
        kind: AccessKind,
        address: int,
        size: int,
        *,
        beat: int = WIDEST,
        cycle: int = 0,
    ) -> None:
        """Judge an access to `size` bytes that is made in beats of at most `beat` bytes."""
        self._library.atoll_shadow_touch(
            self._handle,
            ctypes.c_uint64(cycle),
            *map(ctypes.c_uint32, (master, kind.number, address, size, beat)),
        )

    def refuse(
        self, master: int, kind: AccessKind, address: int, size: int, *, cycle: int = 0
    ) -> None:
        """Judge an access that a firewall kept back."""
        self._library.atoll_shadow_refused(
            self._handle,
            ctypes.c_uint64(cycle),
            *map(ctypes.c_uint32, (master, kind.number, address, size)),
        )

    def findings(self) -> tuple[bytes, int]:
        """Return a `FINDING` for the first of each kind, and how many accesses were wrong."""
        first, total = ctypes.c_void_p(), ctypes.c_uint64()
        count = self._library.atoll_shadow_findings(
            self._handle, ctypes.byref(first), ctypes.byref(total)
        )
        return ctypes.string_at(first, count * FINDING.size) if count else b"", total.value


class HostShadow(Shadow):
    """A shadow memory in this process, for accesses that no RTL makes."""

    def __init__(self) -> None:
        """Load the library, which is built once.

        Raises:
            ToolchainError: there is no C++ compiler.
        """
        library = ctypes.CDLL(str(shadow_library()))
        library.atoll_shadow_new.restype = ctypes.c_void_p
        super().__init__(library, library.atoll_shadow_new())
        weakref.finalize(self, library.atoll_shadow_delete, self._handle)


def shadow_library() -> Path:
    """Return the shared library of the shadow memory, from the cache if it was built before.

    Raises:
        ToolchainError: E070, E077; there is no C++ compiler, or it fails.
    """
    return shared_library("shadow", SOURCES, HEADERS, GENERATED)
