# SPDX-License-Identifier: Apache-2.0
"""The description of a core's data cache."""

from pydantic import Field

from atoll.description.fields import CacheLine, Described


class Cache(Described):
    """The data cache of a core."""

    line: CacheLine = Field(description="Bytes of a line, a power of two.", examples=["32"])
    write_back: bool = Field(
        default=True,
        strict=True,
        description="Stores stay in the cache until their line is cleaned or evicted.",
    )
