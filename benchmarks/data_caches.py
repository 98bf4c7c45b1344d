# SPDX-License-Identifier: Apache-2.0
"""Hold the lines of data caches that loop nests are estimated to move against the simulator's.

Run as ``python -m benchmarks.data_caches NETWORK... [--random N] [--size BYTES...]``: a Cortex-M7
on `strait`, whose cache has four ways of lines of 32 bytes. Nothing was fitted to any network.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from atoll.cli.output import as_command
from atoll.driver.compiled import cost_of
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_graph
from atoll.ir.graph import Graph
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.kernel_runs import run_kernels
from benchmarks.estimate import NOWHERE, small_networks

CHIP = Path(__file__).parents[1] / "tests" / "data" / "strait.yaml"
CORE = (
    "devices.cpu.core=cortex_m7",
    "devices.cpu.isa=armv7e-m",
    "devices.cpu.cache.line=32",
    "devices.cpu.cache.ways=4",
    "memories.dtcm.cached=false",
)
NEAR, FEW = 0.2, 8

Pair = tuple[float, float]
"""Lines of an operator: as estimated, and as they moved."""


def main() -> int:
    """Print a line for each network and size, and one for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, help="also networks of random layers")
    parser.add_argument("--size", type=int, nargs="+", default=[4096, 16384, 32768])
    parser.add_argument("--operators", action="store_true", help="print each")
    arguments = parser.parse_args()
    networks: list[Path | Graph] = [*arguments.networks]
    networks += map(random_network, small_networks(arguments.random))
    for size in arguments.size:
        pairs: list[Pair] = []
        for network in networks:
            compiled = compile_on(chip(size), network)
            found = compare(compiled)
            print(f"{compiled.graph.name}, {size} bytes: {summary([*found.values()])}", flush=True)
            if arguments.operators:
                print("".join(f"  {n}: {a:.0f}, {b:.0f}\n" for n, (a, b) in found.items()))
            pairs += found.values()
        print(f"all, {size} bytes: {summary(pairs)}", flush=True)
    return 0


def chip(size: int) -> ResolvedSoc:
    """Return the chip with a cache of a size."""
    return load_soc(CHIP, (*CORE, f"devices.cpu.cache.size={size}"))


def compile_on(soc: ResolvedSoc, network: Path | Graph) -> Compiled:
    """Compile a network for the core alone."""
    options = BuildOptions(accelerators=False)
    if isinstance(network, Graph):
        return compile_graph(soc, network, NOWHERE, options)
    return compile_file(soc, network, options)


def compare(compiled: Compiled) -> Mapping[str, Pair]:
    """Return the lines of each operator."""
    lines, found = cost_of(compiled).lines, {}
    for (_, number), (run,) in run_kernels((compiled,)).items():
        name = compiled.graph.operators[number].name
        if name in lines and run.data is not None:
            told = sum(sum(each) for each in lines[name].by_memory.values())
            found[name] = told, float(sum(run.data.moved.values()))
    return found


def summary(pairs: list[Pair]) -> str:
    """Return how near estimates are."""
    told, moved = np.array(pairs).T if pairs else np.zeros((2, 0))
    off = np.abs(told - moved)
    near, few = off <= NEAR * moved, off <= FEW
    return (
        f"{told.sum():,.0f} lines estimated, {moved.sum():,.0f} moved; of {len(pairs)} operators "
        f"{near.sum()} within 20 %, {(near | few).sum()} within that or {FEW} lines"
    )


if __name__ == "__main__":
    sys.exit(as_command(main))
