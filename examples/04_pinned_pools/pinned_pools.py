# SPDX-License-Identifier: Apache-2.0
"""U3: parameters and workspaces pinned to named memories, with what comes next when one is full.

Run it with `python examples/04_pinned_pools/pinned_pools.py`.
"""

import sys
from pathlib import Path

import numpy as np

import atoll

HERE = Path(__file__).parent
DIGITS = HERE.parent / "01_digits"
SAMPLES = 2


def main() -> int:
    """Classify some digits in RTL; 0 if everything is bit-exact and where planned."""
    compiled = atoll.compile(HERE / "chip.yaml", DIGITS / "digits_int8.tflite")
    digits = np.load(DIGITS / "digits_test.npz")["x"][:SAMPLES]
    outcome = atoll.run(compiled, digits)
    print(outcome.text(brief=True))
    for each in compiled.network.buffers:
        print(f"{each.buffer}: {each.pool} + {each.offset_bytes}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
