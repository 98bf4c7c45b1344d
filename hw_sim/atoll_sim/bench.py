# SPDX-License-Identifier: Apache-2.0
"""What a user's cocotb bench imports; docs/bench.md says how it is run."""

from typing import TYPE_CHECKING

from atoll.utils.lazy import lazily

if TYPE_CHECKING:
    from atoll_sim.user_bench.chip import Chip, Found, Traced
    from atoll_sim.user_bench.devices import Device, Port
    from atoll_sim.user_bench.firmware import FirmwareEndedError
    from atoll_sim.user_bench.operators import Operator, RegisterStep
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Chip": "atoll_sim.user_bench.chip",
            "Device": "atoll_sim.user_bench.devices",
            "FirmwareEndedError": "atoll_sim.user_bench.firmware",
            "Found": "atoll_sim.user_bench.chip",
            "Operator": "atoll_sim.user_bench.operators",
            "Port": "atoll_sim.user_bench.devices",
            "RegisterStep": "atoll_sim.user_bench.operators",
            "Traced": "atoll_sim.user_bench.chip",
        },
    )

__all__ = [
    "Chip",
    "Device",
    "FirmwareEndedError",
    "Found",
    "Operator",
    "Port",
    "RegisterStep",
    "Traced",
]
