# SPDX-License-Identifier: Apache-2.0
"""Measure what `atoll.cost.data.picorv32` holds and a run of firmware shows, on lagoon in RTL."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from atoll.artifacts.samples import random_sample
from atoll.cost.data import picorv32
from atoll.cost.engines import busy_cycles
from atoll.description.build import Words, node_of, requests_from
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.report.result import LayerCycles, RunReport
from atoll.resolve import load_soc
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.runs.checked_run import run_models

DIGITS = Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"
HALF_STACK = "devices.cpu.stack.size=4 KiB"
IN_RAM = (
    "pools.weights.memory=sram",
    "pools.weights.size=64 KiB",
    "pools.weights.offset=192 KiB",
    "pools.shared.size=128 KiB",
    "pools.weights.reach.cpu=rw",
)
"""Lagoon with its constants in RAM, which the start-up code copies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """One of them: its value now, and what it is in RTL."""

    name: str
    now: int
    measured: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    compiled: Compiled
    report: RunReport

    @property
    def layers(self) -> Sequence[LayerCycles]:
        return self.report.by_layer

    @property
    def before(self) -> int:
        return self.layers[0].begin


def driver_cycles(compiled: Compiled, layers: Sequence[LayerCycles]) -> Mapping[str, float]:
    """Return what the host takes to start an engine, to know of its end, and in between."""
    soc, graph = compiled.soc, compiled.graph
    operators = {op.name: op for op in graph.operators}
    engines = [
        (layer, busy_cycles(operators[layer.operator], graph, device, soc))
        for layer in layers
        if isinstance(device := soc.device(layer.device), Engine)
    ]
    return {
        "START_CYCLES": median(layer.worked - busy for layer, busy in engines),
        "FINISH_CYCLES": median(layer.cycles - layer.worked for layer, _ in engines),
        "BETWEEN_CYCLES": median(b.begin - a.end for a, b in pairwise(layers)),
    }


def constants() -> Iterator[Constant]:
    """Yield each constant, in the order of `atoll.cost.data.picorv32`."""
    usual, half, copied = (_run(*each) for each in ((), (HALF_STACK,), IN_RAM))
    stack = usual.compiled.soc.host_cpu.stack.size
    blocks = stack // picorv32.START_BLOCK
    filled = (usual.before - half.before) * 2 / blocks
    constant = copied.compiled.plan.use["weights"].used / picorv32.START_BLOCK
    started = _run_digits(apart(usual.compiled.soc))
    found = {
        **driver_cycles(started.compiled, started.layers),
        "BEFORE_CYCLES": usual.before - filled * blocks,
        "FILLED_CYCLES": filled,
        "COPIED_CYCLES": (copied.before - usual.before) / constant,
        "AFTER_CYCLES": usual.report.total_cycles - usual.layers[-1].end,
    }
    for name, value in found.items():
        yield Constant(name=name, now=getattr(picorv32, name), measured=round(value))


def apart(soc: ResolvedSoc) -> Compiled:
    """Compile digits with every other operator on the host, which so starts engines each time."""
    usual = compile_file(soc, DIGITS)
    engines = {each.name for each in soc.engines}
    names = [op.name for op in usual.graph.operators if op.device in engines]
    there = tuple(f"{name}={soc.host}" for name in names[::2])
    requests = requests_from(node_of({}), Words(place=there))
    return compile_file(soc, DIGITS, BuildOptions(requests=requests))


def _run(*overrides: str) -> _Run:
    return _run_digits(compile_file(load_soc("lagoon", overrides), DIGITS))


def _run_digits(compiled: Compiled) -> _Run:
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),))
    assert outcome.report.passed, "digits do not run on lagoon as they should"
    return _Run(compiled=compiled, report=outcome.report)
