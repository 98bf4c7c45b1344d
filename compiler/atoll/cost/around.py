# SPDX-License-Identifier: Apache-2.0
"""What a run takes besides its operators: from reset to the first one, and after the last one."""

from collections.abc import Sequence

from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import (
    AFTER_CYCLES,
    BEFORE_CYCLES,
    COPIED_CYCLES,
    FILLED_CYCLES,
    START_BLOCK,
)
from atoll.cost.program import ProgramCost
from atoll.resolve.soc import ResolvedSoc


def before_cycles(soc: ResolvedSoc, models: Sequence[ProgramCost]) -> int:
    """Predict the cycles of the host from reset until the first operator begins.

    The start-up code paints the stacks and copies the constants of pools in RAM.
    """
    host = soc.host_cpu
    filled = sum(stack.size for stack in host.stacks)
    copied = sum(
        max(model.used[pool.name] for model in models)
        for pool in soc.pools
        if pool.holds_constants and soc.memory(pool.region.memory).kind == "ram"
    )
    cycles = (
        BEFORE_CYCLES
        + FILLED_CYCLES * filled // START_BLOCK
        + COPIED_CYCLES * copied // START_BLOCK
    )
    return drive_cycles(cycles, host, soc)


def after_cycles(soc: ResolvedSoc) -> int:
    """Predict the cycles of the host from the end of the last operator to the end of the run."""
    return drive_cycles(AFTER_CYCLES, soc.host_cpu, soc)
