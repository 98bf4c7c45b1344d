# SPDX-License-Identifier: Apache-2.0
"""What ExecuTorch is told of the chip's pools: as it exports a program, and as it runs one."""

from collections.abc import Mapping

from atoll.interchange.executorch import ALIGNMENT, planned_pools
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render


def executorch_files(board: Board) -> Mapping[str, Entry]:
    """Return ``executorch/memory_planning.py`` and ``executorch/memory.h``."""
    pools = planned_pools(board.soc)
    alignment = max(ALIGNMENT, *(pool.alignment for pool in pools))
    names = ("memory_planning.py", "memory.h")
    return {
        f"executorch/{name}": generated_entry(
            render(f"executorch/{name}", board, pools=pools, alignment=alignment)
        )
        for name in names
    }
