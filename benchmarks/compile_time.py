# SPDX-License-Identifier: Apache-2.0
"""Time and memory that compiling large networks takes, beside Vela on the same files in one run.

Run as ``python -m benchmarks.compile_time [NETWORK.tflite ...] [--rounds N]``. All write what they
make, and start anew for each file. They do not do the same:

- Vela writes an optimised network for an Ethos-U55: commands and packed weights. It compiles no C
  and links nothing.
- ``atoll build --objects`` writes nearest to that: the network's commands, weights, machine code
  and plans for lagoon with larger memories.
- ``atoll build`` also writes, compiles and links a firmware, and bounds its stack. The limit, twice
  Vela's time, is held against this one.

The chip's runtime, which no network changes, is compiled before; nothing of a network is in the
cache. Without networks, those of `benchmarks.large_networks` are compiled.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.table import Table

from atoll.cli.output import as_command
from atoll.utils.scratch import temporary_folder
from benchmarks.large_networks import NETWORKS
from benchmarks.shown import console

ROUNDS = 3
CACHE = "ATOLL_CACHE"
DIGITS = Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"
SIZES = ("memories.flash.size=16MiB", "memories.sram.size=2MiB")
POOLS = ("pools.weights.size=15MiB", "pools.shared.size=2MiB")


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds, and the most bytes that were resident."""

    seconds: float
    resident: int


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", type=Path, nargs="*", help="TFLite files")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each, in turn")
    arguments = parser.parse_args()
    table = Table(
        "network", *("build", "objects", "Vela"), "ratios", "atoll: most memory", "Vela's"
    )
    with temporary_folder() as folder:
        os.environ[CACHE] = str(folder / "warm")
        os.environ["PYTHONDONTWRITEBYTECODE"] = ""
        time_command(_atoll(DIGITS, folder))
        for name, path in _networks(arguments.networks, folder):
            table.add_row(name, *measure(path, folder, arguments.rounds))
    console().print(table)
    return 0


def measure(network: Path, folder: Path, rounds: int) -> Sequence[str]:
    """Compile in turn; return the cells of a row: medians, ratios to Vela's, greatest memory."""
    ours: list[Taken] = []
    objects: list[Taken] = []
    vela: list[Taken] = []
    for number in range(rounds):
        for took, options in ((ours, []), (objects, ["--objects"])):
            cache = folder / f"cache{number}"
            shutil.copytree(folder / "warm", cache, dirs_exist_ok=True)
            os.environ[CACHE] = str(cache)
            took.append(time_command((*_atoll(network, folder), *options)))
            shutil.rmtree(cache)
        vela.append(time_command(_vela(network, folder)))
    seconds = [median(each.seconds for each in side) for side in (ours, objects, vela)]
    ratios = " and ".join(f"{each / seconds[-1]:.2f}" for each in seconds[:-1])
    most = (f"{max(each.resident for each in side) / 2**20:.0f} MiB" for side in (ours, vela))
    return *(f"{each:.2f} s" for each in seconds), ratios, *most


def time_command(command: Sequence[str]) -> Taken:
    """Run a command; its children count for the memory if they take more."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Taken(time.perf_counter() - begin, usage.ru_maxrss * 1024)


def _atoll(network: Path, folder: Path) -> Sequence[str]:
    overrides = [word for each in (*SIZES, *POOLS) for word in ("--set", each)]
    atoll = Path(sys.executable).with_name("atoll")
    return (str(atoll), "build", "lagoon", str(network), "-o", str(folder / "build"), *overrides)


def _vela(network: Path, folder: Path) -> Sequence[str]:
    options = ("--accelerator-config", "ethos-u55-128", "--output-dir", str(folder / "vela"))
    return (sys.executable, "-m", "ethosu.vela", *options, str(network))


def _networks(given: Sequence[Path], folder: Path) -> Sequence[tuple[str, Path]]:
    if given:
        return [(path.stem, path) for path in given]
    found = []
    for number, (name, make) in enumerate(NETWORKS.items()):
        path = folder / f"network{number}.tflite"
        path.write_bytes(make())
        found.append((name, path))
    return found


if __name__ == "__main__":
    sys.exit(as_command(main))
