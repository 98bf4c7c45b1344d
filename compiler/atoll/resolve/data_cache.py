# SPDX-License-Identifier: Apache-2.0
"""The data cache of a core. Plain data."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """The data cache of a core, which no other device sees.

    Attributes:
        line: bytes that it takes in and writes back at once.
        write_back: stores stay in it until their line is cleaned or evicted.
    """

    line: int
    write_back: bool
