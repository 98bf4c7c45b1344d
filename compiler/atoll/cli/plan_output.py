# SPDX-License-Identifier: Apache-2.0
"""What `atoll plan` prints: one plan, or those of networks that share a firmware."""

from atoll.api.plans import Plans
from atoll.cli.console import out
from atoll.cli.tables import room
from atoll.report.pool_terminal import draw


def show_plans(found: Plans, *, picture: bool) -> None:
    """Print a table of each plan, and of all together if there are several."""
    together = found.together_text(room())
    for each, text in zip(found.plans, found.texts(room()), strict=True):
        print(text, end="")
        for part in draw(found.pictures(each), room()) if picture else ():
            out.print()
            out.print(part)
        if together:
            print()
    print(together, end="")
