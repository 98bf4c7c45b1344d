"""Command line of the comparison: ``python -m tests.differential --count 1000 --seed 0``."""

import argparse
import sys
from collections.abc import Sequence

from tests.differential.campaign import Tally, explained
from tests.differential.case import FAULTS, case_of
from tests.differential.compare import verdict_on

EVERY = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; return 1 if one differs or is found fault with."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first network")
    parser.add_argument("--count", type=int, default=1, help="how many networks")
    parser.add_argument("--show", action="store_true", help="print every network")
    chosen = parser.parse_args(arguments)
    tally = Tally()
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        case = case_of(seed)
        verdict = verdict_on(case)
        tally.add(case, verdict)
        if verdict.ending in FAULTS:
            print(explained(case, verdict), end="\n\n", flush=True)
        elif chosen.show or chosen.count == 1:
            print(f"{case}\n{verdict.ending} {verdict.detail}", end="\n\n")
        if tally.total % EVERY == 0:
            print(f"{tally.total:,} of {chosen.count:,} networks", file=sys.stderr)
    print(tally)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
