# SPDX-License-Identifier: Apache-2.0
"""Compare the simulation of this checkout with that of another one, turn by turn in one run.

Run as ``python -m benchmarks.checkouts OTHER [MODEL ...] [--soc SOC]``. Both simulate with the
shadow memory and without Python; each builds model and firmware with its own sources. Commits
differ in the cycles of a network, so that the time of one inference stands beside the speed. They
differ in what happens in a cycle too: with ``--cores-alone`` no accelerator works in either.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from atoll.artifacts.build_tree import build
from atoll.cli.output import as_command
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import write_map
from atoll_sim.shadow.table import shadow_table
from atoll_sim.simulate.firmware import write_image

HERE = Path(__file__).resolve().parents[1]
DIGITS = HERE / "examples" / "01_digits" / "digits_int8.tflite"
ROUNDS = 5
INFERENCES = 8
COMMAND = "command.json"


@dataclass(frozen=True, slots=True)
class Speed:
    """Cycles of `INFERENCES` in a row, and how long they took."""

    cycles: int
    seconds: float


def main() -> int:
    """Compare, or prepare a folder for another process that compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("models", type=Path, nargs="*", default=[DIGITS], help="networks")
    parser.add_argument("--soc", default="lagoon", help="chip: a shipped name or a YAML file")
    parser.add_argument("--cores-alone", action="store_true", help="accelerators do nothing")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.prepare:
        options = BuildOptions(accelerators=not arguments.cores_alone)
        prepare(arguments.soc, arguments.models[0], arguments.prepare, options)
        return 0
    for model in arguments.models:
        words = [str(model.resolve()), "--soc", arguments.soc]
        words += ["--cores-alone"] if arguments.cores_alone else []
        print(f"{model.stem} on {arguments.soc}, {compare(arguments.other.resolve(), words)}")
    return 0


def prepare(soc: str, model: Path, folder: Path, options: BuildOptions) -> None:
    """Build all that a simulation needs in `folder`, and write its command there."""
    compiled = compile_file(load_soc(soc), model, options)
    executable = build_model(compiled.soc)
    firmware = build((compiled,), folder / "build").firmware
    write_image(firmware.elves, compiled.soc, folder / "image.bin")
    table = folder / "shadow.bin"
    table.write_bytes(shadow_table(compiled.soc, [compiled.contract]).words)
    mapped = write_map(compiled.soc, folder)
    words = [executable, "--bare", folder / "image.bin", INFERENCES, *mapped, "--shadow", table]
    (folder / COMMAND).write_text(json.dumps(list(map(str, words))))


def compare(other: Path, words: Sequence[str]) -> str:
    """Return medians of both, and of the ratios of each round."""
    with temporary_folder() as folder:
        ours, theirs = (
            prepare_checkout(root, words, folder / name)
            for root, name in ((HERE, "ours"), (other, "theirs"))
        )
        rounds = [(speed(ours), speed(theirs)) for _ in range(ROUNDS)]
    rates = [tuple(each.cycles / each.seconds for each in both) for both in rounds]
    return (
        f"medians of {ROUNDS} rounds: "
        f"{median(rate for rate, _ in rates):,.0f} cycles/s, "
        f"other {median(rate for _, rate in rates):,.0f}, "
        f"ratio {median(mine / peer for mine, peer in rates):.2f}; "
        f"{median(mine.seconds for mine, _ in rounds) / INFERENCES * 1e3:,.1f} ms an inference, "
        f"other {median(peer.seconds for _, peer in rounds) / INFERENCES * 1e3:,.1f}, "
        f"ratio {median(mine.seconds / peer.seconds for mine, peer in rounds):.2f}"
    )


def prepare_checkout(root: Path, words: Sequence[str], folder: Path) -> list[str]:
    """Let the sources of `root` prepare `folder`, and return the command of the simulation."""
    folder.mkdir()
    search = os.pathsep.join(map(str, (root / "compiler", root / "hw_sim")))
    command = [sys.executable, __file__, str(root), *words, "--prepare", str(folder)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": search})
    return list(json.loads((folder / COMMAND).read_text()))


def speed(command: list[str]) -> Speed:
    """Simulate once."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    return Speed(result["cycles"], result["seconds"])


if __name__ == "__main__":
    sys.exit(as_command(main))
