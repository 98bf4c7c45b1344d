# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.drawn FIRST COUNT``: draw and compare networks, and count what came of them."""

import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from tests.drawn.compare import Verdict, judged

from atoll.resolve import load_soc


def main(first: int, count: int) -> int:
    """Print each network that is not the same, then the counts; return 1 if any differs."""
    words: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    soc = load_soc("lagoon")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                verdict = judged(seed, Path(folder), soc)
            except Exception:  # noqa: BLE001
                verdict = Verdict("broke off", traceback.format_exc())
            words[verdict.word] += 1
            if verdict.word == "refused":
                refusals[verdict.says] += 1
            if verdict.word in ("different", "broke off"):
                print(f"seed {seed}: {verdict.word}: {verdict.says}", flush=True)
    for says, number in refusals.most_common():
        print(f"{number:5} {says}")
    print(", ".join(f"{number} {word}" for word, number in words.most_common()))
    return 1 if words["different"] or words["broke off"] else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
