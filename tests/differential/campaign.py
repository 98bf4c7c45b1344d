# SPDX-License-Identifier: Apache-2.0
"""Run the cases of many seeds and count how they end."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.differential.case import FAULTS, Case, Ending, Verdict, case_of
from tests.differential.compare import verdict_on
from tests.differential.shrink import shrunk

CODE = re.compile(r"error\[(E\d+)\]")
Judge = Callable[[Case], Verdict]


@dataclass
class Tally:
    """How cases ended, and those that show a fault."""

    endings: Counter[Ending] = field(default_factory=Counter)
    failures: list[tuple[Case, Verdict]] = field(default_factory=list)

    def add(self, case: Case, verdict: Verdict) -> None:
        """Count a case."""
        self.endings[verdict.ending] += 1
        if verdict.ending in FAULTS:
            self.failures.append((case, verdict))

    @property
    def total(self) -> int:
        """Count the cases."""
        return self.endings.total()

    def __str__(self) -> str:
        return "\n".join(f"{self.endings[ending]:>7,} {ending}" for ending in Ending)


def run_seeds(seeds: Iterable[int], judge: Judge = verdict_on) -> Tally:
    """Run the case of each seed."""
    tally = Tally()
    for seed in seeds:
        case = case_of(seed)
        tally.add(case, judge(case))
    return tally


def alike(first: Verdict, second: Verdict) -> bool:
    """Tell whether two cases ended in the same way, a refusal with the same codes first."""
    codes = [CODE.findall(verdict.detail)[:1] for verdict in (first, second)]
    return first.ending is second.ending and codes[0] == codes[1]


def explained(case: Case, verdict: Verdict, judge: Judge = verdict_on) -> str:
    """Describe a failure, and the simplest case that fails in the same way."""
    small = shrunk(case, lambda each: alike(judge(each), verdict))
    again = judge(small)
    lines = [f"{verdict.ending}: {verdict.detail}", str(case), "", f"simplest: {again.detail}"]
    repeat = f"repeat it with: python -m tests.differential --seed {case.seed}"
    return "\n".join((*lines, str(small), "", repeat))
