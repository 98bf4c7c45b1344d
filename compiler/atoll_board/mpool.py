# SPDX-License-Identifier: Apache-2.0
"""The memory-pool file of ST Edge AI, with the pools of the chip."""

from collections.abc import Mapping

from atoll.interchange.mpool import pool_file_of, pool_file_text, windows_of
from atoll_board.package import Board, Entry, generated_entry


def mpool_files(board: Board) -> Mapping[str, Entry]:
    """Return ``st_edge_ai/<chip>.mpool``; nothing if no such file goes with the chip.

    Raises:
        UsageError: E138; the vendor's file cannot be read, or is damaged.
    """
    file = pool_file_of(board.soc)
    if file is None:
        return {}
    text = pool_file_text(file, windows_of(board.soc))
    return {f"st_edge_ai/{board.soc.name}.mpool": generated_entry(text)}
