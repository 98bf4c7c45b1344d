# SPDX-License-Identifier: Apache-2.0
"""What packages with emitters of board support packages import; docs/extending.md shows one."""

from atoll_board.package import Board, Entry

__all__ = ["Board", "Entry"]
