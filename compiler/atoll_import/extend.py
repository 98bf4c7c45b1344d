# SPDX-License-Identifier: Apache-2.0
"""What packages with importers import; docs/extending.md shows one."""

from atoll_import.facts import Facts
from atoll_import.reader import Given, Importer

__all__ = ["Facts", "Given", "Importer"]
