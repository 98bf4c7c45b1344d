# SPDX-License-Identifier: Apache-2.0
"""Points a second of the processor: a chip is loaded, a network compiled for it and estimated.

Run as ``python -m benchmarks.points [--models FOLDER] [--against CHECKOUT]``. One process asks many
points of one chip, as a sweep does: the same again and again, or each with other latencies and
clocks, other sizes of a pool, or other lanes. Each chip is asked once but where all are the same.
Python looks for garbage as seldom as in a worker, of a checkout that has such.
With ``--against``, another checkout answers the same in turn. The last row of a network is the
stage `estimate` of a sweep over lanes, clocks and latencies, in one worker, with a program for each
number of lanes: asked for the first time, and again. Networks of MLPerf Tiny are read from
``--models``; without it they are left out.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from atoll.cli.output import as_command
from atoll.resolve import load_soc
from benchmarks.shown import console

HERE = Path(__file__).resolve().parents[1]
DIGITS = HERE / "examples" / "01_digits" / "digits_int8.tflite"
ROUNDS, SECONDS, CLOCKS = 3, 4.0, 60

Sets = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A network on a chip.

    Attributes:
        sets: of all its points.
        engine: whose clock and lanes change.
        memory: whose latency changes.
        pool: whose size changes, and its bytes.
    """

    soc: str
    network: str
    engine: str
    memory: str
    pool: tuple[str, int]
    sets: Sets = ()


CASES: Mapping[str, Case] = {
    "digits": Case("lagoon", "", "npu", "flash", ("shared", 64)),
    "kws": Case("lagoon", "kws_ref_model.tflite", "npu", "flash", ("shared", 64)),
    "vww": Case("atoll2", "vww_96_int8.tflite", "npu_conv", "rom", ("shared", 128)),
    "vww, 36 KiB": Case(
        *("atoll2", "vww_96_int8.tflite", "npu_conv", "rom", ("dw_private", 24)),
        ("pools.shared.size=36 KiB",),
    ),
}


def _same(case: Case) -> Iterator[Sets]:
    while True:
        yield case.sets


def _speeds(case: Case) -> Iterator[Sets]:
    for clock, latency in product(range(40, 400), range(1, 9)):
        engine = f"devices.{case.engine}.clock={clock} MHz"
        yield (*case.sets, engine, f"memories.{case.memory}.read_latency={latency}")


def _sizes(case: Case) -> Iterator[Sets]:
    pool, least = case.pool
    for more in range(2000):
        yield (*case.sets, f"pools.{pool}.size={least * 1024 + 16 * more}")


def _lanes(case: Case) -> Iterator[Sets]:
    lanes = product((100, 50, 80), (2, 1), range(1, 9), (4, 8), (4, 8), (32, 64, 128))
    for clock, vector, latency, inputs, outputs, rows in lanes:
        params = f"devices.{case.engine}.params"
        yield (
            *case.sets,
            f"devices.{case.engine}.clock={clock} MHz",
            f"memories.{case.memory}.read_latency={latency}",
            f"{params}.input_lanes={inputs}",
            f"{params}.output_lanes={outputs}",
            f"{params}.vector={vector}",
            f"{params}.weight_rows={rows}",
        )


POINTS: Mapping[str, Callable[[Case], Iterator[Sets]]] = {
    "the same": _same,
    "latencies, clocks": _speeds,
    "sizes": _sizes,
    "lanes": _lanes,
}


def main() -> int:
    """Print a table, or the rate of one kind of points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, help="folder of the networks of MLPerf Tiny")
    parser.add_argument("--against", type=Path, help="folder of another checkout")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        name, kind = arguments.one
        print(rate(CASES[name], POINTS[kind], arguments.models, arguments.seconds))
        return 0
    table = Table("network", "points", "points/s", "there", "ratio")
    for name, case in CASES.items():
        if not case.network or arguments.models:
            for kind in POINTS:
                table.add_row(name, kind, *_measure_rates(name, kind, arguments))
            first, again = stage_rates(case, arguments.models)
            table.add_row(name, "stage estimate", f"{first:,.0f}, then {again:,.0f}")
    console().print(table)
    return 0


def rate(
    case: Case, points: Callable[[Case], Iterator[Sets]], models: Path | None, seconds: float
) -> float:
    """Return how many points a second of the processor get an answer; the first one counts not."""
    network, asked = _network(case, models), points(case)
    with suppress(ImportError):
        import_module("atoll.utils.garbage").collect_seldom()
    _estimate(case, network, next(asked))
    begin, count = time.process_time(), 0
    for sets in asked:
        _estimate(case, network, sets)
        count += 1
        if time.process_time() - begin > seconds:
            break
    return count / (time.process_time() - begin)


def stage_rates(case: Case, models: Path | None) -> tuple[float, float]:
    """Return how often a second the stage `estimate` answers, first and then again.

    The first point of each number of lanes, which makes the program of the others, counts not.
    """
    from atoll.utils.garbage import collect_seldom
    from atoll_sweep.api import sweep_of
    from atoll_sweep.asker import Asker
    from atoll_sweep.question import question_of

    axes = {
        f"devices.{case.engine}.params.output_lanes": [4, 8],
        f"devices.{case.engine}.clock": [f"{clock} MHz" for clock in range(40, 40 + CLOCKS)],
        f"memories.{case.memory}.read_latency": [*range(1, 9)],
        **{key: [value] for key, _, value in (each.partition("=") for each in case.sets)},
    }
    asked = {
        **{"sweep": "points", "version": 1, "soc": case.soc, "axes": axes},
        **{"networks": [str(_network(case, models))], "stages": {"estimate": "all"}},
    }
    asker = Asker(question_of(sweep_of(asked, HERE), {}))
    collect_seldom()
    numbers = range(2 * CLOCKS * 8)
    for number in (numbers[0], numbers[len(numbers) // 2]):
        asker.answer(number, "estimate")
    rates = []
    for _ in range(2):
        begin = time.process_time()
        rows = [asker.answer(number, "estimate") for number in numbers]
        rates.append(len(rows) / (time.process_time() - begin))
        assert all(row["status"] == "ok" for row in rows)
    return rates[0], rates[1]


def _network(case: Case, models: Path | None) -> Path:
    return models / case.network if models and case.network else DIGITS


def _estimate(case: Case, network: Path, sets: Sets) -> object:
    compile_file = _import_function("compile_file", "atoll.driver.pipeline", "atoll.pipeline")
    estimates_of = _import_function(
        "estimates_of", "atoll.report.estimates", "atoll.estimate.network"
    )
    return estimates_of((compile_file(load_soc(case.soc, sets), network),))


@cache
def _import_function(name: str, *modules: str) -> Callable[..., Any]:
    """Return a function from the first of some modules that a checkout has."""
    found = next(each for each in modules if find_spec(each.rpartition(".")[0]) and find_spec(each))
    function: Callable[..., Any] = getattr(import_module(found), name)
    return function


def _measure_rates(name: str, kind: str, arguments: argparse.Namespace) -> Sequence[str]:
    checkouts = [HERE, *([arguments.against] if arguments.against else [])]
    rates: Mapping[Path, list[float]] = {each: [] for each in checkouts}
    for _ in range(arguments.rounds):
        for checkout, found in rates.items():
            found.append(_measure_apart(checkout, name, kind, arguments))
    here, *there = (median(each) for each in rates.values())
    return f"{here:.1f}", *(
        cell for each in there for cell in (f"{each:.1f}", f"{here / each:.1f}")
    )


def _measure_apart(checkout: Path, name: str, kind: str, arguments: argparse.Namespace) -> float:
    """Measure in a process of its own, with the sources of a checkout."""
    folders = [checkout / "compiler", checkout / "hw_sim", HERE]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    options = ["--models", str(arguments.models.resolve())] if arguments.models else []
    command = [sys.executable, "-m", "benchmarks.points", "--one", name, kind, *options]
    command += ["--seconds", str(arguments.seconds)]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(told.stdout)


if __name__ == "__main__":
    sys.exit(as_command(main))
