# SPDX-License-Identifier: Apache-2.0
"""How often Python looks for cyclic garbage.

Most of what Atoll makes are modules, plans and tables, which live long and are freed without it. A
collection goes through all of them.
"""

import gc

SELDOM = 300_000
"""Objects that are made between two collections where they are seldom; 700 by itself."""

_USUAL = gc.get_threshold()


def collect_seldom() -> None:
    """Look for cyclic garbage seldom, in a process that ends soon or drops little."""
    gc.set_threshold(SELDOM)


def collect_often() -> None:
    """Look for cyclic garbage as Python does by itself, in one that drops plans for hours."""
    gc.set_threshold(*_USUAL)
