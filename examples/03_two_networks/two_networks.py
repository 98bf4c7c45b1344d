# SPDX-License-Identifier: Apache-2.0
"""U2: two networks in one firmware image share one workspace.

Run it with `python examples/03_two_networks/two_networks.py`.
"""

import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from atoll.build_tree import interface_of
from atoll.cli.output import as_command
from atoll.report.text import render
from atoll.resolve import load_soc
from atoll.samples import random_sample
from atoll.several_models import compile_models
from atoll_sim.run import run_models

HERE = Path(__file__).parent
DIGITS = HERE.parent / "01_digits"
SAMPLES = 2


def main() -> int:
    """Run both networks in turn in RTL; 0 if everything is bit-exact and where planned."""
    files = (DIGITS / "digits_int8.tflite", HERE / "sampler.tflite")
    models = compile_models(load_soc(HERE / "chip.yaml"), files)
    digits = np.load(DIGITS / "digits_test.npz")["x"][:SAMPLES]
    samples = (
        [{models[0].graph.inputs[0]: digit[np.newaxis]} for digit in digits],
        [sample for seed in range(SAMPLES) for sample in random_sample(models[1].graph, seed)],
    )
    outcomes = run_models(models, samples)
    for model, outcome in zip(models, outcomes, strict=True):
        Console(highlight=False).print(render(outcome.report, model.plan, brief=True))
        for share in interface_of(model).shares:
            begin = next(p.origin for p in model.plan.problem.pools if p.name == share.pool)
            bytes_ = f"{share.workspace} B workspace, {share.constants} B constants"
            print(f"{share.pool} from {begin:#010x}: {bytes_}")
    return 0 if all(outcome.report.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(as_command(main))
