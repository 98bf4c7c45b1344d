# SPDX-License-Identifier: Apache-2.0
"""An objective of one's own: the bytes of the pool that activations lie in."""

from collections.abc import Mapping

import atoll


def pool_bytes(soc: atoll.Soc, compiled: Mapping[str, atoll.Compilation]) -> float:
    """Return the size of the pool, whether or not the networks need all of it."""
    del compiled
    return soc.pool_size_bytes["shared"]
