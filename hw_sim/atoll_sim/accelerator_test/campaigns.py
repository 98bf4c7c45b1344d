# SPDX-License-Identifier: Apache-2.0
"""Hardware that fails around an accelerator, and wrong builds: who notices."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atoll.api.kits import AcceleratorTrial
from atoll.artifacts.samples import random_sample
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll_sim.accelerator_test.chip import FIRST, SECOND
from atoll_sim.campaign.trials import Trial, group
from atoll_sim.faults.campaign import run_campaign
from atoll_sim.mutate.campaign import plant
from atoll_sim.mutate.kinds import KINDS

HARDWARE = f"devices {FIRST} and {SECOND} or their chip, after {{}} (A11)"
BUILDS = f"devices {FIRST} and {SECOND} or their firmware: {{}} (A12)"
"""What is said where something else than one device fails, or may have failed."""


@dataclass(frozen=True, slots=True)
class Campaigns:
    """What is done to one network of the accelerator's operators.

    Attributes:
        compiled: the network.
        seed: decides what is drawn.
        toolchain: see `atoll.artifacts.build_tree.build`.
        progress: told how far it is.
    """

    compiled: Compiled
    seed: int
    toolchain: str | None
    progress: Progress

    def hardware(self, count: int) -> Iterator[AcceleratorTrial]:
        """Yield a check for each kind of fault: none may end in a hang, or wrong and unnoticed."""
        begin, sample = time.perf_counter(), random_sample(self.compiled.graph)[0]
        campaign = run_campaign(
            self.compiled,
            sample,
            count,
            self.seed,
            progress=self.progress,
            toolchain=self.toolchain,
        )
        seconds = time.perf_counter() - begin
        yield from _checks("hardware", group(campaign.trials), seconds, HARDWARE)

    def builds(self, count: int) -> Iterator[AcceleratorTrial]:
        """Yield a check for each part of a build that is made wrong: somebody must notice."""
        begin = time.perf_counter()
        campaign = plant(
            self.compiled,
            count,
            seed=self.seed,
            jobs=os.cpu_count() or 1,
            toolchain=self.toolchain,
            progress=self.progress,
        )
        areas = [kind.area for kind in KINDS.values()]
        groups = group(campaign.trials, lambda trial: KINDS[trial.kind].area, areas)
        yield from _checks("wrong builds", groups, time.perf_counter() - begin, BUILDS)


def _checks(
    what: str, groups: Mapping[str, Sequence[Trial[Any, Any]]], seconds: float, words: str
) -> Iterator[AcceleratorTrial]:
    """Yield a check for each group of trials, which took equally long each."""
    each = seconds / max(sum(map(len, groups.values())), 1)
    for name, trials in groups.items():
        wrong = tuple(words.format(fault) for trial in trials for fault in trial.wrong)
        yield AcceleratorTrial(f"{what}: {name}", len(trials), wrong, each * len(trials))
