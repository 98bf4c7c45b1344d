# SPDX-License-Identifier: Apache-2.0
"""What a run takes besides its operators: from reset to the first one, and after the last one."""

from collections.abc import Sequence

from atoll.cost.core_costs import drive_cycles
from atoll.cost.counted import class_cycles, is_counted
from atoll.cost.data.picorv32 import (
    AFTER_CYCLES,
    BEFORE_CYCLES,
    COPIED_CYCLES,
    FILLED_CYCLES,
    START_BLOCK,
)
from atoll.cost.program import ProgramCost
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import ResolvedSoc

WORD = 4
PAINTED = {"other": 2, "store": 1, "branch": 1, "taken": 1}
COPIED = {"other": 3, "load": 1, "store": 1, "branch": 1, "taken": 1}
"""What start-up code in Thumb runs for each word: of a stack that is painted, and of constants."""

PAINTED_BLOCK = {"other": 1, "store": 4, "branch": 1, "taken": 1}
COPIED_BLOCK = {"other": 2, "load": 4, "store": 4, "branch": 1, "taken": 1}
"""Likewise on RISC-V, for each block of four words."""


def before_cycles(soc: ResolvedSoc, models: Sequence[ProgramCost]) -> int:
    """Predict the cycles of the host from reset until the first operator begins.

    The start-up code paints the stacks and copies the constants of pools in RAM. Its loops, from an
    instruction cache, run at another pace than the code that runs once.
    """
    host = soc.host_cpu
    filled = sum(stack.size for stack in host.stacks)
    copied = sum(
        max(model.used[pool.name] for model in models)
        for pool in soc.pools
        if pool.holds_constants and soc.memory(pool.region.memory).kind == "ram"
    )
    thumb, timing = host.instructions.family is Family.THUMB, host.spec.timing
    cached = timing is not None and timing.cache is not None and timing.cache.size > WORD
    if (thumb or cached) and is_counted(host):
        size, painting, copying = (
            (WORD, PAINTED, COPIED) if thumb else (START_BLOCK, PAINTED_BLOCK, COPIED_BLOCK)
        )
        loops = filled // size * class_cycles(host, soc, painting)
        loops += copied // size * class_cycles(host, soc, copying)
        return drive_cycles(BEFORE_CYCLES, host, soc) + int(loops)
    cycles = (
        BEFORE_CYCLES
        + FILLED_CYCLES * filled // START_BLOCK
        + COPIED_CYCLES * copied // START_BLOCK
    )
    return drive_cycles(cycles, host, soc)


def after_cycles(soc: ResolvedSoc) -> int:
    """Predict the cycles of the host from the end of the last operator to the end of the run."""
    return drive_cycles(AFTER_CYCLES, soc.host_cpu, soc)
