# SPDX-License-Identifier: Apache-2.0
"""Random chips, graphs and wishes: a plan keeps every wish, changes no result, and is stable."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from tests.requests import load_requests

from atoll.description.build import BuildRequests
from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph, Quantization
from atoll.ops.registry import COPY
from atoll.place.plan_devices import plan_devices
from atoll.reach.candidates import candidate_pools, needs_of
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]
CORES = ("cpu", "gpu", "dsp")
POOLS = ("tcm", "gpu_ram", "dsp_ram", "p0", "p1")
TRIES = 600


def random_soc(rng: random.Random, make_soc: MakeSoc) -> ResolvedSoc:
    """Make a chip on which the host can move everything, with two pools of any reach."""
    lines = ["flash 64 constants: cpu ro, gpu ro, dsp ro", "tcm 64 workspace: cpu rw"]
    lines += [f"{name}_ram 64 workspace: cpu rw, {name} rw" for name in ("gpu", "dsp")]
    for number in range(2):
        reach = ", ".join(f"{name} {rng.choice(('rw', 'ro', 'none'))}" for name in CORES)
        lines.append(f"p{number} 64 workspace: {reach}")
    return make_soc("\n".join(lines), cores=("gpu", "dsp"), default_device=rng.choice(CORES))


def random_graph(rng: random.Random, make_graph: MakeGraph) -> Graph:
    names, lines = ["x"], []
    for number in range(rng.randrange(1, 7)):
        kind = rng.choice(("add", "mul", COPY))
        reads = [rng.choice((*names, "W") if kind != COPY else names) for _ in range(2)]
        arguments = " ".join(reads[: 1 if kind == COPY else 2])
        lines.append(f"t{number} = {kind}({arguments})")
        names.append(f"t{number}")
    graph = make_graph("\n".join(lines))
    scale = Quantization(scales=(0.5,), zero_points=(0,))
    return replace(graph, tensors=tuple(replace(t, quantization=scale) for t in graph.tensors))


def random_wishes(rng: random.Random, graph: Graph) -> BuildRequests:
    def some(names: list[str], chance: float) -> list[str]:
        return [name for name in names if rng.random() < chance]

    operators = some([op.name for op in graph.operators if op.kind != COPY], 0.4)
    tensors = [tensor.name for tensor in graph.tensors if tensor.data is None]
    sides = ("in", "out", "both")
    return load_requests(
        None,
        [f"{name}={rng.choice(CORES)}" for name in operators],
        [f"{name}={some_pools(rng)}:{rng.choice(sides)}" for name in some(tensors, 0.3)],
        some(tensors, 0.3),
    )


def some_pools(rng: random.Random) -> str:
    """Choose a pool, or two in order."""
    return ",".join(rng.sample(POOLS, rng.choice((1, 1, 2))))


def values(graph: Graph) -> dict[str, str]:
    """Evaluate symbolically: a copy has the value of what it copies."""
    known = {
        tensor.name: "W" if tensor.data is not None else tensor.name for tensor in graph.tensors
    }
    for op in graph.operators:
        arguments = ", ".join(known[name] for name in op.inputs)
        known[op.outputs[0]] = arguments if op.kind == COPY else f"{op.kind}({arguments})"
    return known


def assert_kept(graph: Graph, planned: Graph, wishes: BuildRequests) -> None:
    """Hold a plan against the words of the user."""
    devices = {op.name: op.device for op in planned.operators}
    assert wishes.model.place.items() <= devices.items()
    for name, (pin,) in wishes.model.pin.items():
        if name in wishes.model.free or name not in planned.by_name:
            continue
        if pin.applies != "in":
            assert set() < {*planned.tensor(name).pools} <= {*pin.pools}
    content, after = values(planned), {op.name: op for op in planned.operators}
    for op in graph.operators:
        reads = zip(op.inputs, after[op.name].inputs, strict=True) if op.kind != COPY else ()
        for source, read in reads:
            if source in wishes.model.pin and source not in wishes.model.free:
                (pin,) = wishes.model.pin[source]
                assert pin.applies == "out" or set() < {*planned.tensor(read).pools} <= {*pin.pools}
    assert {name: content[name] for name in graph.outputs} == {
        name: values(graph)[name] for name in graph.outputs
    }


def test_p1_p3_plans_keep_wishes_and_are_stable(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    rng = random.Random("wishes")
    outcomes: Counter[str] = Counter()
    for _ in range(TRIES):
        soc, graph = random_soc(rng, make_soc), random_graph(rng, make_graph)
        wishes = random_wishes(rng, graph)
        try:
            planned = plan_devices(graph, soc, wishes).graph
        except PlacementError as error:
            outcomes[error.faults[0].code] += 1
            continue
        outcomes["planned"] += 1
        pools = candidate_pools(planned, soc)
        assert all(pools[name] for name, needs in needs_of(planned, soc).items() if needs)
        assert_kept(graph, planned, wishes)
        assert plan_devices(planned, soc).graph == planned
        if all(op.kind != COPY for op in graph.operators):
            assert str(plan_devices(planned, soc, wishes).graph) == str(planned)
    assert outcomes["planned"] > TRIES // 4, outcomes
    assert outcomes["E049"] > TRIES // 20, outcomes
