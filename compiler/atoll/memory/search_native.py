# SPDX-License-Identifier: Apache-2.0
"""The exact search as machine code: `search.c`, compiled once per machine and kept in the cache."""

import sys
from array import array
from collections.abc import Iterable, Sized
from ctypes import CDLL, Structure, byref, c_int64, c_void_p
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from platform import machine

from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.memory.search_tables import Found, Status, Steps, Strategy, Tables
from atoll.utils.cache import cache_folder, only_builder
from atoll.utils.files import write_bytes
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_tool

SOURCE = Path(__file__).with_name("search.c")

_FLAGS = ("-shared", "-fPIC", "-O2", "-mcpu=baseline", "-ffreestanding", "-nostdlib", "-s")
_SEAL = 32
"""Bytes behind the machine code that tell whether the file is whole."""

_NUMBERS = ("buffers", "cliques", "origin", "ceiling", "by_clique")
_TABLES = (
    *("sizes", "alignments", "highest", "rank", "edge_from", "edge", "above", "below"),
    *("clique_from", "clique", "weight", "member_from", "member"),
)
_STATE = ("level", "failed", "status", "nodes", "deepest")
_WORK = ("low", "order", "chosen", "unplaced", "tops", "raised", "kept", "moved")


class _Search(Structure):
    """``struct search`` of `search.c`."""

    _fields_ = [
        *((name, c_int64) for name in _NUMBERS),
        *((name, c_void_p) for name in _TABLES),
        *((name, c_int64) for name in _STATE),
        *((name, c_void_p) for name in _WORK),
    ]


class NativeSearch:
    """Searches with the same tables, for one question at a time."""

    def __init__(self, tables: Tables, library: CDLL) -> None:
        self._library, self._tables = library, tables
        self._count = count = len(tables.sizes)
        self._search = _Search(buffers=count, cliques=len(tables.cliques), origin=tables.origin)
        self._arrays: dict[str, array[int]] = {}
        for name, values in _flat(tables).items():
            self._keep(name, array("q", values))
        for name in _WORK:
            wide = (count + 1) * count if name in ("low", "order") else count
            self._keep(name, array("q", bytes(8 * max(wide, len(tables.cliques), 1))))

    def run(self, capacity: int, strategy: Strategy, more: Steps) -> Found:
        """Search until there is an answer, or `more` allows no further nodes."""
        search = self._search
        search.ceiling = self._tables.ceiling(capacity)
        search.by_clique = strategy.by_clique
        self._keep("rank", array("q", strategy.rank))
        self._keep("highest", array("q", (min(capacity, top) for top in self._tables.tops)))
        self._library.atoll_search_begin(byref(search))
        while search.status == Status.RUNNING and (nodes := more(search.nodes)):
            self._library.atoll_search_run(byref(search), c_int64(search.nodes + nodes))
        count, low = self._count if search.status == Status.SOLVED else 0, self._arrays["low"]
        chosen = self._arrays["chosen"][:count]
        return Found(
            status=Status(search.status),
            nodes=search.nodes,
            deepest=search.deepest,
            offsets={buffer: low[n * count + buffer] for n, buffer in enumerate(chosen)},
        )

    def _keep(self, name: str, values: "array[int]") -> None:
        """Let the search see an array, and keep it for as long."""
        self._arrays[name] = values
        setattr(self._search, name, values.buffer_info()[0])


def _flat(tables: Tables) -> dict[str, Iterable[int]]:
    """Return the tables without lists in lists."""
    edges = [edge for each in tables.edges for edge in each]
    weights = [weight for each in tables.weights for weight in each]
    return {
        "sizes": tables.sizes,
        "alignments": tables.alignments,
        "edge_from": _starts(tables.edges),
        "edge": (other for other, _, _ in edges),
        "above": (above for _, above, _ in edges),
        "below": (below for _, _, below in edges),
        "clique_from": _starts(tables.weights),
        "clique": (clique for clique, _ in weights),
        "weight": (weight for _, weight in weights),
        "member_from": _starts(tables.cliques),
        "member": (member for clique in tables.cliques for member in clique),
    }


def _starts(lists: Iterable[Sized]) -> list[int]:
    return [0, *accumulate(map(len, lists))]


@cache
def machine_code() -> CDLL | None:
    """Return the compiled search; None where nothing can compile or load it."""
    try:
        return CDLL(str(_build()))
    except (PackageNotFoundError, ToolchainError, UsageError, OSError):
        return None


@cache
def is_compiled() -> bool:
    """Tell whether the cache has the search compiled, so that nobody waits for that."""
    try:
        return _library().is_file()
    except (PackageNotFoundError, OSError):
        return False


def _library() -> Path:
    host = (version("ziglang"), sys.platform, machine(), *_FLAGS)
    digest = sha256(repr(host).encode() + SOURCE.read_bytes()).hexdigest()[:16]
    return cache_folder() / "kernels" / f"search-{digest}.so"


def _build() -> Path:
    """Return the shared library, which is compiled unless the cache has it whole."""
    target = _library()
    with only_builder(target):
        sealed = target.read_bytes() if target.is_file() else b""
        if sealed[-_SEAL:] != sha256(sealed[:-_SEAL]).digest():
            code = _compile_search()
            write_bytes(target, code + sha256(code).digest())
    return target


def _compile_search() -> bytes:
    """Compile the search with clang of the ziglang wheel."""
    with temporary_folder() as folder:
        environment = {
            "ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig"),
            "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
        }
        library = folder / "search.so"
        command = (sys.executable, "-m", "ziglang", "cc", *_FLAGS, "-o", str(library), str(SOURCE))
        run_tool(command, folder=folder, environment=environment)
        return library.read_bytes()
