# SPDX-License-Identifier: Apache-2.0
"""U4: inputs and outputs are where the plan put them; a run takes no pointers and copies nothing.

Run it with `python examples/05_mapped_ports/mapped_ports.py`.
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
    for port in (*interface.inputs, *interface.outputs):
        print(f"{port.name}: {port.size_bytes} B at {port.address:#010x} in {port.pool}")
    print(f"{interface.name}_run takes {', '.join(interface.run_parameters)}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
