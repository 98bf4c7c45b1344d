# SPDX-License-Identifier: Apache-2.0
"""U3: parameters and workspaces pinned to named memories, with what comes next when one is full.

Run it with `python examples/04_pinned_pools/pinned_pools.py`.
"""

import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from atoll.cli.output import as_command
from atoll.pipeline import compile_file
from atoll.report.text import render
from atoll.resolve import load_soc
from atoll_sim.run import AcceleratorKind, CpuKind, run_models

HERE = Path(__file__).parent
DIGITS = HERE.parent / "01_digits"
SAMPLES = 2


def main() -> int:
    """Classify some digits in RTL; 0 if everything is bit-exact and where planned."""
    compiled = compile_file(load_soc(HERE / "chip.yaml"), DIGITS / "digits_int8.tflite")
    digits = np.load(DIGITS / "digits_test.npz")["x"][:SAMPLES]
    samples = [{compiled.graph.inputs[0]: digit[np.newaxis]} for digit in digits]
    outcome = run_models((compiled,), (samples,), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL)[
        0
    ]
    Console(highlight=False).print(render(outcome.report, compiled.plan, brief=True))
    for buffer, placement in sorted(compiled.plan.placements.items()):
        print(f"{buffer}: {placement.pool} + {placement.offset}")
    return 0 if outcome.report.passed else 1


if __name__ == "__main__":
    sys.exit(as_command(main))
