# SPDX-License-Identifier: Apache-2.0
"""U2: two networks in one firmware image share one workspace.

Run it with `python examples/03_two_networks/two_networks.py`.
"""

import sys
from pathlib import Path

import numpy as np

import atoll

HERE = Path(__file__).parent
DIGITS = HERE.parent / "01_digits"
SAMPLES = 2


def main() -> int:
    """Run both networks in turn in RTL; 0 if everything is bit-exact and where planned."""
    files = (DIGITS / "digits_int8.tflite", HERE / "sampler.tflite")
    compiled = atoll.compile(HERE / "chip.yaml", files)
    digits = np.load(DIGITS / "digits_test.npz")["x"][:SAMPLES]
    outcome = atoll.run(compiled, {"digits_int8": digits})  # random samples for the other one
    for network, did in zip(compiled, outcome, strict=True):
        print(did.text(brief=True))
        for share in network.interface.shares:
            sizes = f"{share.workspace_bytes} B workspace, {share.constants_bytes} B constants"
            print(f"{share.pool} from {share.first_address:#010x}: {sizes}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
