# SPDX-License-Identifier: Apache-2.0
"""Classify handwritten digits on a simulated chip: firmware on RISC-V, reef beside it, in RTL.

Run it with `make demo`, or `python examples/01_digits/demo.py --help`.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel

import atoll

HERE = Path(__file__).parent
SHADES = " ░▒▓█"

Digits = NDArray[np.int8]


def picture(digit: Digits) -> str:
    """Draw an 8x8 int8 image with two characters for each pixel."""
    levels = (digit.reshape(8, 8).astype(int) + 128) * (len(SHADES) - 1) // 255
    return "\n".join("".join(SHADES[level] * 2 for level in row) for row in levels)


def classes(outcome: atoll.Run) -> NDArray[np.int64]:
    """Return the class with the highest score of each sample."""
    outputs = outcome.network.outputs
    return np.array([int(np.argmax(next(iter(each.values())))) for each in outputs])


def show(console: Console, digits: Digits, predicted: NDArray[np.int64], true: Digits) -> None:
    """Print the pictures with the predicted and the true class."""
    panels = [
        Panel.fit(
            picture(digit),
            title=f"{guess}",
            subtitle=f"is {label}",
            border_style="green" if guess == label else "red",
        )
        for digit, guess, label in zip(digits, predicted, true, strict=True)
    ]
    console.print(Columns(panels))


def main() -> int:
    """Run the example; 0 if everything is bit-exact, where planned and good enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soc", default="lagoon", help="chip: a shipped name or a YAML file")
    parser.add_argument("--rtl", type=int, default=20, metavar="N", help="samples in full RTL")
    arguments = parser.parse_args()
    console = Console(highlight=False)
    test = np.load(HERE / "digits_test.npz")
    digits, labels = test["x"], test["y"]
    compiled = atoll.compile(arguments.soc, HERE / "digits_int8.tflite")
    with console.status("simulating CPU and accelerator in RTL (the first run builds the model)"):
        rtl = atoll.run(compiled, digits[: arguments.rtl], cpu="rtl", accelerator="rtl")
    with console.status("classifying every test sample with the accelerator's model"):
        fast = atoll.run(compiled, digits, cpu="native", accelerator="model")
    show(console, digits[: arguments.rtl], classes(rtl), labels[: arguments.rtl])
    console.print(rtl.network.rich())
    right = int(np.sum(classes(fast) == labels))
    console.print(
        f"{right} of {len(labels)} held-out digits right ({right / len(labels):.1%}) on the "
        "accelerator's model, every layer bit-exact: "
        f"{'yes' if fast.passed else 'no'}"
    )
    return 0 if rtl.passed and fast.passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except atoll.AtollError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
