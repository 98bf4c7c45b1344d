# SPDX-License-Identifier: Apache-2.0
"""Boards of a Zephyr tree by name.

Source: Zephyr's documentation, "Board Porting Guide": a board target ``NAME/SOC/CPU`` has the
devicetree ``NAME_SOC_CPU.dts``, or ``NAME.dts`` if it is the only one.
"""

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from atoll.diagnostics.errors import UsageError

TREE = "ZEPHYR_BASE"
"""The variable that says where Zephyr is, as for west and CMake."""

_TARGET = re.compile(r"[A-Za-z0-9_-]+(@[A-Za-z0-9_.]+)?(/[A-Za-z0-9_-]*)*")
_MOST_NAMES = 8


def board_source(board: str) -> Path:
    """Return the devicetree source of a board in the tree that `TREE` names.

    Args:
        board: as ``west build -b`` takes it; its revision counts for nothing.

    Raises:
        UsageError: E138; there is no tree, or no such board, or the board has several targets.
    """
    if not _TARGET.fullmatch(board):
        _refuse(f"'{board}' is no board's name", "write it as 'west build -b' takes it")
    tree = os.environ.get(TREE, "")
    folder = Path(tree) / "boards"
    if not tree or not folder.is_dir():
        what = f"{TREE} is '{tree}', without a folder 'boards'" if tree else f"{TREE} is not set"
        _refuse(f"no Zephyr tree to find board '{board}' in: {what}", f"set {TREE} to your tree")
    sources = {each.stem: each for each in sorted(folder.rglob("*.dts"))}
    stem = re.sub(r"/+", "_", re.sub(r"@[^/]*", "", board)).rstrip("_")
    if stem in sources:
        return sources[stem]
    targets = [name for name in sources if name.startswith(f"{stem}_")]
    if len(targets) == 1:
        return sources[targets[0]]
    if targets:
        _refuse(f"board '{board}' has several targets", f"use one of {_list_names(targets)}")
    near = get_close_matches(stem, sources, _MOST_NAMES, 0.6)
    remedy = f"use one of {_list_names(near)}" if near else "list them with 'west boards'"
    _refuse(f"no board '{board}' in '{folder}'", remedy)


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _refuse(message: str, remedy: str) -> NoReturn:
    raise UsageError("E138", message, remedy=remedy)
