# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: the packages of formats beside the core cannot be imported."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

FORMATS = (
    *("atoll_board", "atoll_compare", "atoll_image", "atoll_import", "atoll_lsp", "atoll_report"),
    *("atoll_selftest", "atoll_serve", "atoll_sweep", "atoll_trace"),
)


class Absent(MetaPathFinder):
    """Finds none of the packages, as if they were not installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a package of formats; leave all else to others."""
        if fullname.partition(".")[0] in FORMATS:
            raise ModuleNotFoundError(f"{fullname} is kept away from the core", name=fullname)
        return None


def keep_away() -> None:
    """Let no module of the packages be imported from now on."""
    sys.meta_path.insert(0, Absent())


def pytest_configure() -> None:
    """Do so where ``-p tests.without_formats`` asks for it."""
    keep_away()
