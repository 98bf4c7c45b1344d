# SPDX-License-Identifier: Apache-2.0
"""Command line of the comparison: ``python -m tests.differential --count 1000 --seed 0``."""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.differential.campaign import Tally, explained
from tests.differential.case import FAULTS, case_of
from tests.differential.compare import verdict_on
from tests.differential.full_rtl import PER_IMAGE, run_in_rtl
from tests.differential.setting import CHIPS, OVERLAPS, SECOND_CORES, Setting

EVERY = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; return 1 if one differs or is found fault with."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first network")
    parser.add_argument("--count", type=int, default=1, help="how many seeds")
    parser.add_argument("--least", type=int, default=0, help="leave out those of fewer operators")
    parser.add_argument("--show", action="store_true", help="print every network")
    parser.add_argument("--kinds", action="store_true", help="count kinds, run nothing")
    parser.add_argument("--rtl", choices=CHIPS, help="run them in full RTL on this chip")
    chosen = parser.parse_args(arguments)
    seeds = [
        seed
        for seed in range(chosen.seed, chosen.seed + chosen.count)
        if len(case_of(seed).model.operators) >= chosen.least
    ]
    if chosen.kinds:
        print(kinds_of(seeds))
        return 0
    tally = in_rtl(seeds, chosen.rtl) if chosen.rtl else natively(seeds, show=chosen.show)
    print(tally)
    return 1 if tally.failures else 0


def natively(seeds: Sequence[int], *, show: bool) -> Tally:
    """Run networks on native cores, each in the setting of its seed; print those with faults."""
    tally = Tally()
    for seed in seeds:
        case = case_of(seed)
        verdict = verdict_on(case)
        tally.add(case, verdict)
        if verdict.ending in FAULTS:
            print(explained(case, verdict), end="\n\n", flush=True)
        elif show or len(seeds) == 1:
            print(f"{case}\n{verdict.ending} {verdict.detail}", end="\n\n")
        if tally.total % EVERY == 0:
            print(f"{tally.total:,} of {len(seeds):,} networks", file=sys.stderr)
    return tally


def in_rtl(seeds: Sequence[int], chip: str) -> Tally:
    """Run networks in full RTL, some in each firmware; what each image has takes turns."""
    tally = Tally()
    for number, first in enumerate(range(0, len(seeds), PER_IMAGE)):
        setting = Setting(
            chip=chip,
            accelerators=number % 2 == 0,
            overlap=OVERLAPS[number % len(OVERLAPS)],
            shared=0.5 if chip in SECOND_CORES and number % 4 > 1 else 0.0,
        )
        with tempfile.TemporaryDirectory(prefix="atoll-") as folder:
            found = run_in_rtl(seeds[first : first + PER_IMAGE], setting, Path(folder))
        tally.endings += found.endings
        tally.failures += found.failures
        for case, verdict in found.failures:
            print(f"{verdict.ending}: {verdict.detail}\n{case}", end="\n\n", flush=True)
        print(f"{tally.total:,} of {len(seeds):,} networks", file=sys.stderr)
    return tally


def kinds_of(seeds: Iterable[int]) -> str:
    """Say how many networks have each kind, and how many operators networks have."""
    kinds, lengths = Counter[str](), Counter[int]()
    for operators in (case_of(seed).model.operators for seed in seeds):
        kinds.update({op.code for op in operators})
        lengths[len(operators)] += 1
    most = [f"{count:>7,} {kind}" for kind, count in sorted(kinds.items(), key=_most_first)]
    long = sum(count for length, count in lengths.items() if length >= 5)
    return "\n".join((*most, f"{long:>7,} have 5 operators to {max(lengths)}"))


def _most_first(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


if __name__ == "__main__":
    sys.exit(main())
