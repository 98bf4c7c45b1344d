# SPDX-License-Identifier: Apache-2.0
"""Builds in which an engine is told the address at which another device sees a byte."""

from pathlib import Path
from random import Random

from atoll.driver.pipeline import Compiled
from atoll_sim.mutate.commands import other_view
from atoll_sim.mutate.mutant import Right


def misled(compiled: Compiled, count: int, seed: int) -> list[Compiled]:
    """Return the builds of `count` mutants; none where there was nothing to change."""
    right = Right(
        compiled=compiled,
        executable=Path(),
        segments=(),
        sample={},
        touched={},
        in_runs={},
        copied=(),
        data={},
        stack=0,
        cycles=0,
    )
    random = Random(seed)
    found = [other_view(right, random) for _ in range(count)]
    return [each.built for each in found if each]
