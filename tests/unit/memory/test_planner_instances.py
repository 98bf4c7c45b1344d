# SPDX-License-Identifier: Apache-2.0
"""Published instances and vectors: the peaks to reach, how soon, and the proof."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.effort import in_gate

from atoll.frontend.tflite.load import load_tflite
from atoll.memory import search
from atoll.memory.algorithms import PLANNERS
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import USUAL, Effort, Meter
from atoll.memory.ladder import improve
from atoll.memory.pack import pack
from atoll.memory.packing import Packing
from atoll.memory.problem import Buffer, Infeasible, MemoryPlan, PoolSpace, Problem
from atoll.memory.search_native import machine_code
from atoll.memory.solve import plan_memory, solve

CAPACITY = 1_048_576
BEST_KNOWN = {"A": 1_048_576, "B": 1_048_576, "C": 1_039_360, "D": 1_031_168, "E": 1_048_576}
BOUNDS = {"mlpt_ad": 768, "mlpt_ic": 49_152, "mlpt_kws": 16_000, "mlpt_vww": 55_296}
NODES = 50_000  # per instance; the hardest takes 38,418
UNLIMITED = 1 << 40


def pool(name: str, size: int, number: int = 0, alignment: int = 1) -> PoolSpace:
    return PoolSpace(name=name, origin=number << 48, size=size, alignment=alignment)


def instance(path: Path, size: int) -> Problem:
    """Read ``id,lower,upper,size``."""
    buffers = tuple(
        Buffer(
            name=row["id"],
            size=int(row["size"]),
            alignment=1,
            live=((int(row["lower"]), int(row["upper"])),),
            pools=("s",),
        )
        for row in csv.DictReader(path.read_text().splitlines())
    )
    return Problem(pools=(pool("s", size),), buffers=buffers)


def challenging(folder: Path, name: str) -> Problem:
    return instance(folder / f"{name}.1048576.csv", CAPACITY)


@pytest.mark.parametrize("name", in_gate(BEST_KNOWN, 0, 1, 2, 4))
def test_m4_a_challenging_instance_is_as_low_as_is_known(name: str, shared_planner: Path) -> None:
    plan = plan_memory(challenging(shared_planner, name))
    assert plan.use["s"].used <= BEST_KNOWN[name]
    assert plan.optimal or name == "D"


@pytest.mark.parametrize("seed", in_gate([1, 2, 3], -1))
def test_m4_the_challenging_instances_fit_whatever_is_drawn(
    seed: int, shared_planner: Path
) -> None:
    effort = replace(USUAL, seed=seed, enough=CAPACITY)
    for name in BEST_KNOWN:
        plan = plan_memory(challenging(shared_planner, name), effort=effort)
        assert plan.use["s"].used <= CAPACITY


def test_a_plan_that_fits_is_sought_for_longer(shared_planner: Path) -> None:
    problem = challenging(shared_planner, "B")
    short = solve(problem, effort=Effort(nodes=2_000))
    assert isinstance(short, Infeasible)
    assert not short.proven
    assert isinstance(solve(problem, effort=Effort(nodes=2_000, fitting=300_000)), MemoryPlan)


def fit_the_challenging_instances(folder: Path, nodes: int) -> None:
    for name in BEST_KNOWN:
        graph = conflict_graph(challenging(folder, name))
        packing = Packing(graph, graph.problem.pools[0], tuple(range(len(graph.buffers))))
        greedy = pack(packing, Meter(Effort(nodes=0)))
        found = improve(packing, greedy, CAPACITY, Meter(Effort(nodes=nodes)))
        assert found.used <= CAPACITY


def test_compiled_search_fits_the_challenging_instances_at_once(shared_planner: Path) -> None:
    assert machine_code() is not None
    fit_the_challenging_instances(shared_planner, NODES)


@pytest.mark.slow
def test_interpreted_search_fits_the_challenging_instances_as_soon(
    shared_planner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "machine_code", lambda: None)
    fit_the_challenging_instances(shared_planner, NODES)


@pytest.mark.parametrize("network", BOUNDS)
def test_m4_a_network_is_at_its_bound_without_a_search(network: str, shared_planner: Path) -> None:
    problem = instance(shared_planner / "lifetimes" / f"{network}.csv", CAPACITY)
    plan = plan_memory(problem, effort=Effort(nodes=1))
    assert plan.optimal
    assert plan.use["s"].used == BOUNDS[network]


GRAPHS = ("chain", "fanout", "mobilenet_slice", "resnet_slice")


def lives(conflicts: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return lifetimes with just these conflicts: a step for each largest set of them."""
    near = {name: set(others) for name, others in conflicts.items()}
    for name, others in conflicts.items():
        for other in others:
            near[other].add(name)

    def grown(inside: set[str], among: set[str]) -> Iterator[frozenset[str]]:
        if not among:
            yield frozenset(inside)
        for name in among:
            yield from grown(inside | {name}, among & near[name])

    steps = dict.fromkeys(grown(set(), set(near)))
    return {
        name: tuple((2 * n, 2 * n + 1) for n, step in enumerate(steps) if name in step)
        for name in near
    }


@pytest.mark.parametrize("vector", GRAPHS)
def test_m4_conflict_graphs_reach_their_peaks(vector: str, shared_planner: Path) -> None:
    case = json.loads((shared_planner / "tvm_vectors.json").read_text())["graphs"][vector]
    alignment, live = case.get("alignment", 1), lives(case["conflicts"])
    problem = Problem(
        pools=tuple(
            pool(name, size or UNLIMITED, number)
            for number, (name, size) in enumerate(case["pools"].items())
        ),
        buffers=tuple(
            Buffer(
                name=name,
                size=size,
                alignment=alignment,
                live=live[name],
                pools=tuple(case["pools"]),
            )
            for name, size in case["sizes"].items()
        ),
    )
    plan = plan_memory(problem)
    assert plan.optimal
    for name, expected in case["expected"].items():
        assert plan.use[name].used <= expected


def accesses(model: Path, fast: int) -> Problem:
    """Return the activations of a network, with how often each is read or written."""
    graph = load_tflite(model)
    first: dict[str, int] = dict.fromkeys(graph.inputs, 0)
    last: dict[str, int] = {}
    count: dict[str, int] = dict.fromkeys(graph.inputs, 0)
    for step, operator in enumerate(graph.operators):
        activations = [t for t in operator.inputs if t and graph.by_name[t].data is None]
        for name in (*activations, *operator.outputs):
            first.setdefault(name, step)
            last[name] = step
            count[name] = count.get(name, 0) + 1
    sizes = {name: -(-graph.by_name[name].size // 16) * 16 for name in first}
    return Problem(
        pools=(pool("fast", fast), pool("slow", UNLIMITED, 1)),
        buffers=tuple(
            Buffer(
                name=name,
                size=sizes[name],
                alignment=16,
                live=((first[name], last[name] + 1),),
                pools=("fast", "slow"),
                uses=count[name],
            )
            for name in first
        ),
    )


@pytest.mark.parametrize(
    ("model", "bound", "shares"),
    [
        ("pretrainedResnet_quant", 49_152, (0.479, 0.359, 0.120)),
        ("kws_ref_model", 16_000, (0.994, 0.442, 0.442)),
        ("vww_96_int8", 55_296, (0.412, 0.300, 0.169)),
    ],
)
def test_two_pools_split_the_accesses_as_well_as_can_be(
    model: str, bound: int, shares: tuple[float, ...], shared_models: Path
) -> None:
    for tenths, share in zip((4, 6, 8), shares, strict=True):
        problem = accesses(shared_models / f"{model}.tflite", bound * tenths // 10)
        plan = plan_memory(problem)
        assert plan.optimal
        total = sum(buffer.cost("slow") for buffer in problem.buffers)
        assert round(plan.cost / total, 3) == share


@pytest.mark.parametrize("name", PLANNERS.names())
def test_every_algorithm_says_its_name_and_keeps_the_limit(name: str, shared_planner: Path) -> None:
    problem = instance(shared_planner / "lifetimes" / "mlpt_ic.csv", 80_000)
    answer = solve(problem, name=name)
    assert isinstance(answer, MemoryPlan)
    assert answer.algorithm == name
    assert answer.use["s"].bound == BOUNDS["mlpt_ic"] <= answer.use["s"].used


def test_what_has_no_plan_names_the_buffers_that_are_too_many(shared_planner: Path) -> None:
    problem = instance(shared_planner / "lifetimes" / "mlpt_kws.csv", 15_999)
    answer = solve(problem)
    assert isinstance(answer, Infeasible)
    assert answer.proven
    sizes = {buffer.name: buffer.size for buffer in problem.buffers}
    assert sum(sizes[name] for name in answer.buffers) == 16_000
