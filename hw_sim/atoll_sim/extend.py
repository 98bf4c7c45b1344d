# SPDX-License-Identifier: Apache-2.0
"""What models of accelerators (docs/accelerators.md) and own proofs (docs/formal.md) import."""

from typing import TYPE_CHECKING

from atoll.utils.lazy import lazily

if TYPE_CHECKING:
    from atoll_sim.engines.common.encode import with_check
    from atoll_sim.engines.interface import Bus, BusFault, Outcome
    from atoll_sim.formal.prove import Design, Verdict, decide
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Bus": "atoll_sim.engines.interface",
            "BusFault": "atoll_sim.engines.interface",
            "Design": "atoll_sim.formal.prove",
            "Outcome": "atoll_sim.engines.interface",
            "Verdict": "atoll_sim.formal.prove",
            "decide": "atoll_sim.formal.prove",
            "with_check": "atoll_sim.engines.common.encode",
        },
    )

__all__ = [
    "Bus",
    "BusFault",
    "Design",
    "Outcome",
    "Verdict",
    "decide",
    "with_check",
]
