# SPDX-License-Identifier: Apache-2.0
"""How each source is compiled, for clangd, clang-tidy and other readers of compilation databases.

Source: Clang documentation, "JSON Compilation Database Format Specification".
"""

import json
from collections.abc import Iterator, Mapping

from atoll.bsp.clang import Clang
from atoll.diagnostics.errors import ToolchainError
from atoll.resolve.soc import Cpu
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.sources import library_sources, user_sources

_FOLDER = "."
_INCLUDES = ("-Iinclude",)


def compile_commands_files(board: Board) -> Mapping[str, Entry]:
    """Return ``compile_commands.json``, with an entry for each source of each core's image."""
    entries = [entry for core in board.cores for entry in _entries(board, core)]
    return {"compile_commands.json": generated_entry(json.dumps(entries, indent=2) + "\n")}


def _entries(board: Board, core: Cpu) -> Iterator[dict[str, object]]:
    """Yield the entries of a core; none if clang does not know the core."""
    try:
        flags = Clang(core.instructions).flags
    except ToolchainError:
        return
    for source in (*library_sources(board, core), *user_sources(board, core)):
        arguments = ["clang", *flags, *_INCLUDES, "-c", source]
        yield {"directory": _FOLDER, "file": source, "arguments": arguments}
