# SPDX-License-Identifier: Apache-2.0
"""Fill the templates of the package."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.bsp.render import FOLDER as SHARED
from atoll.bsp.render import environment_of
from atoll_board.package import Board

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
BY_BSP = "by `atoll bsp`; edits are refused, see README.md."


def render(template: str, board: Board, **values: object) -> str:
    """Fill ``templates/<template>.j2`` with what is known of the board, and `values`."""
    return (
        _environment()
        .get_template(f"{template}.j2")
        .render(
            made_from=opening_sentence(board),
            yours=f"{_origin_text(board)} by `atoll bsp`, once: this file is yours.",
            board=board,
            soc=board.soc,
            **values,
        )
    )


def opening_sentence(board: Board) -> str:
    """Return the sentence that opens a generated file."""
    return f"{_origin_text(board)} {BY_BSP}"


def _origin_text(board: Board) -> str:
    names = (f"{board.soc.name}.yaml", *(f"{m.name}{m.suffix}" for m in board.models))
    return f"Made from {' and '.join(names)}"


@cache
def _environment() -> "Environment":
    return environment_of(_FOLDER / "templates", SHARED / "templates")
