# SPDX-License-Identifier: Apache-2.0
"""On which chip, and with which options, the network of a seed runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

from tests.requests import load_requests

from atoll.driver.pipeline import BuildOptions
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

DATA = Path(__file__).parents[1] / "data"
CHIPS = ("lagoon", "atoll2", "twin", "duo", "islands")
SECOND_CORES = {"twin": "dsp", "duo": "dsp"}
OVERLAPS = ("none", "free", "all")
STACK_LIMITS = (0, 64)

COMBINATIONS = tuple(product(CHIPS, (True, False), OVERLAPS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a user would choose on the command line.

    Attributes:
        rewrite: the network may be made smaller first.
        limit: greatest allocation on the host's stack in bytes, None as the chip says.
        shared: how likely an operator is asked to run on the chip's second core.
    """

    chip: str
    accelerators: bool = True
    overlap: str = "free"
    rewrite: bool = True
    limit: int | None = None
    shared: float = 0.0

    def __str__(self) -> str:
        words = [self.chip, "with accelerators" if self.accelerators else "without accelerators"]
        words.append(f"overlap {self.overlap}")
        if not self.rewrite:
            words.append("as the file has it")
        if self.limit is not None:
            words.append(f"stack allocations up to {self.limit} B")
        if self.shared:
            words.append(f"{self.shared:.0%} of the operators on the second core")
        return ", ".join(words)

    def soc(self) -> ResolvedSoc:
        """Load the chip."""
        return _soc(self.chip, self.limit)

    def options(self, operators: Sequence[str], seed: int) -> BuildOptions:
        """Return the options for a network with these operators."""
        chance = Random(f"places {seed}")
        core = SECOND_CORES.get(self.chip)
        wishes = [f"{name}={core}" for name in operators if chance.random() < self.shared]
        requests = load_requests(None, wishes, overlap=self.overlap)
        model = requests.model.model_copy(update={"rewrite": self.rewrite})
        requests = replace(requests, model=model)
        return BuildOptions(accelerators=self.accelerators, requests=requests)


def setting_of(seed: int) -> Setting:
    """Return the setting of a seed: combinations take turns, the rest is drawn."""
    chance = Random(f"setting {seed}")
    chip, accelerators, overlap = COMBINATIONS[seed % len(COMBINATIONS)]
    two = chip in SECOND_CORES and chance.random() < 0.5
    return Setting(
        chip=chip,
        accelerators=accelerators,
        overlap=overlap,
        rewrite=chance.random() < 0.7,
        limit=chance.choice(STACK_LIMITS) if chance.random() < 0.2 else None,
        shared=0.5 if two else 0.0,
    )


@cache
def _soc(chip: str, limit: int | None) -> ResolvedSoc:
    own = DATA / f"{chip}.yaml"
    key = "devices.cpu.limits.max_stack_alloca_size"
    overrides = [] if limit is None else [f"{key}={limit}"]
    return load_soc(own if own.exists() else chip, overrides)
