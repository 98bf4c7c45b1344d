# SPDX-License-Identifier: Apache-2.0
"""U1: the image holds the workspace; the application knows nothing of it.

Run it with `python examples/02_internal_workspace/internal_workspace.py`.
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
    for share in compiled.network.interface.shares:
        workspace, constants = share.workspace_bytes, share.constants_bytes
        print(f"{share.pool}: {workspace} B workspace, {constants} B constants")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
