# SPDX-License-Identifier: Apache-2.0
"""What software models of accelerators import; docs/accelerators.md says how they are called."""

from typing import TYPE_CHECKING

from atoll.utils.lazy import lazily

if TYPE_CHECKING:
    from atoll_sim.engines.common.encode import with_check
    from atoll_sim.engines.interface import Bus, BusFault, Outcome
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Bus": "atoll_sim.engines.interface",
            "BusFault": "atoll_sim.engines.interface",
            "Outcome": "atoll_sim.engines.interface",
            "with_check": "atoll_sim.engines.common.encode",
        },
    )

__all__ = [
    "Bus",
    "BusFault",
    "Outcome",
    "with_check",
]
