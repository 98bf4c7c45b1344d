# SPDX-License-Identifier: Apache-2.0
"""Hold Atoll against every case of the kernel tests of TensorFlow Lite for Microcontrollers.

Run as ``python -m benchmarks.tflm_tests CHECKOUT [OPERATOR ...]``; CHECKOUT is a folder with the
sources of tflite-micro. Its test files are compiled as they are, with recorder.h in the place
of the kernel runner, so that each operator that a test would invoke is printed with its tensors and
options. Each becomes a TFLite file of one operator, which the wheel tflite-micro and Atoll's
reference and machine code run on the values of the test. Cases with float32 or uint8 are left out.
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

from atoll.cli.output import as_command
from benchmarks.tflm_tests.cases import collect
from benchmarks.tflm_tests.judging import (
    DIFFERENT,
    EQUAL,
    FLOAT,
    INVALID,
    REFUSED,
    SCALED,
    apart,
    judge,
)


def main() -> int:
    """Print what became of the cases of each operator, and why those were refused that were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="folder with the sources of tflite-micro")
    parser.add_argument("operators", nargs="*", help="operators, such as ADD; all by default")
    arguments = parser.parse_args()
    found, unread = collect(arguments.checkout.resolve())
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    wanted = [case for case in found if case.code in (arguments.operators or [case.code])]
    for case, made in apart(judge, wanted):
        outcome, reason = made or (INVALID, "ends the process")
        outcomes[case.code][outcome] += 1
        if reason:
            reasons[case.code][f"{outcome}: {reason}"] += 1
            if outcome == DIFFERENT:
                print(f"{case.code} {case.test}: {reason}")
    report(outcomes, reasons)
    for name, reason in unread.items():
        print(f"not read: {name}: {reason}")
    return int(any(counts[DIFFERENT] for counts in outcomes.values()))


def report(outcomes: dict[str, Counter[str]], reasons: dict[str, Counter[str]]) -> None:
    """Print a table, its sums, and the reasons."""
    columns = (EQUAL, SCALED, DIFFERENT, REFUSED, INVALID, FLOAT)
    print(f"{'operator':30}" + "".join(f"{name:>14}" for name in ("tried", *columns)))
    total: Counter[str] = Counter()
    for code, counts in sorted(outcomes.items()):
        counts["tried"] = sum(counts[name] for name in columns[:4])
        total += counts
        print(f"{code:30}" + "".join(f"{counts[name]:14}" for name in ("tried", *columns)))
    print(f"{'all':30}" + "".join(f"{total[name]:14}" for name in ("tried", *columns)))
    for code, each in sorted(reasons.items()):
        for reason, count in each.most_common():
            print(f"{code}: {count} x {reason}")


if __name__ == "__main__":
    sys.exit(as_command(main))
