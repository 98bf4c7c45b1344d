# SPDX-License-Identifier: Apache-2.0
"""A toolchain that a description names by its command lines. Plain data."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """Command lines of the user's own compiler and linker, with names in braces."""

    compile: str
    link: str
