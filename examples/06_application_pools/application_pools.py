# SPDX-License-Identifier: Apache-2.0
"""Workspaces that the application defines and hands to the model.

Run it with `python examples/06_application_pools/application_pools.py`.
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
    interface = compiled.network.interface
    for each in interface.provided_pools:
        size, alignment = each.size_bytes, each.alignment_bytes
        print(f"{each.pool}: the application defines {size} B aligned to {alignment}")
    print(f"{interface.name}_run takes {', '.join(interface.run_parameters)}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
