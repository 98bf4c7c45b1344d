# SPDX-License-Identifier: Apache-2.0
"""Workspaces that the application defines and hands to the model.

Run it with `python examples/06_application_pools/application_pools.py`.
"""

import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from atoll.build_tree import interface_of
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
    interface = interface_of(compiled)
    for pool in interface.pools:
        print(f"{pool.pool}: the application defines {pool.size} B aligned to {pool.alignment}")
    print(f"{interface.name}_run takes {', '.join(interface.parameters)}")
    return 0 if outcome.report.passed else 1


if __name__ == "__main__":
    sys.exit(as_command(main))
