# SPDX-License-Identifier: Apache-2.0
"""Hardware that fails around an accelerator, and wrong builds: who notices."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from atoll.api.kits import AcceleratorTrial
from atoll.artifacts.samples import random_sample
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled
from atoll_sim.faults.campaign import run_campaign
from atoll_sim.faults.report import passed
from atoll_sim.mutate.campaign import plant
from atoll_sim.mutate.kinds import KINDS


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
        each = (time.perf_counter() - begin) / max(len(campaign.trials), 1)
        for kind in dict.fromkeys(trial.fault.kind for trial in campaign.trials):
            trials = [trial for trial in campaign.trials if trial.fault.kind is kind]
            wrong = tuple(
                f"{trial.fault}: {trial.answer.end}, status {trial.answer.status}"
                for trial in trials
                if not passed(replace(campaign, trials=(trial,)))
            )
            yield AcceleratorTrial(f"hardware: {kind}", len(trials), wrong, each * len(trials))

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
        each = (time.perf_counter() - begin) / max(len(campaign.trials), 1)
        for area in dict.fromkeys(kind.area for kind in KINDS.values()):
            trials = [one for one in campaign.trials if KINDS[one.mutant.kind].area == area]
            wrong = tuple(
                f"nobody notices: {trial.mutant}" for trial in trials if trial.counts_against_us
            )
            if trials:
                yield AcceleratorTrial(
                    f"wrong builds: {area}", len(trials), wrong, each * len(trials)
                )
