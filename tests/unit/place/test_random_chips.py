# SPDX-License-Identifier: Apache-2.0
"""Random chips and graphs: copies make every tensor reachable and change no result."""

import random
import re
from collections.abc import Callable
from dataclasses import replace

from tests.effort import cases

from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph
from atoll.place.device_copies import insert_copies
from atoll.reach.candidates import candidate_pools, needs_of
from atoll.resolve.soc import Access, ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

REACH = re.compile(r"'pools\.(\w+)\.reach\.(\w+)' to (\w+)")
SIZE = re.compile(r"'pools\.(\w+)\.size' to (\d+) B")
DEVICES = ("cpu", "npu", "dsp")


def random_pools(rng: random.Random) -> str:
    """Make pools of any reach, and in half of the chips a private one for each accelerator."""
    lines = ["flash 64 constants: cpu ro, npu ro, dsp ro", "tcm 64 workspace: cpu rw"]
    if rng.random() < 0.5:
        lines += [f"{name}_private 64 workspace: cpu rw, {name} rw" for name in ("npu", "dsp")]
    for number in range(rng.randrange(1, 4)):
        reach = ", ".join(f"{name} {rng.choice(('rw', 'ro', 'none'))}" for name in DEVICES)
        role = rng.choice(("workspace", "workspace", "constants", "both"))
        lines.append(f"p{number} {rng.choice((64, 64, 64, 8))} {role}: {reach}")
    return "\n".join(lines)


def random_operators(rng: random.Random) -> str:
    names, lines = ["x"], []
    for number in range(rng.randrange(1, 6)):
        reads = " ".join(rng.choice((*names, "W")) for _ in range(rng.randrange(1, 3)))
        lines.append(f"t{number} = add({reads}) on {rng.choice(DEVICES)}")
        names.append(f"t{number}")
    return "\n".join(lines)


def results(graph: Graph) -> dict[str, str]:
    """Evaluate symbolically: a copy has the value of what it copies."""
    values = {
        tensor.name: "constant" if tensor.data is not None else tensor.name
        for tensor in graph.tensors
    }
    for op in graph.operators:
        arguments = ", ".join(values[name] for name in op.inputs)
        values[op.outputs[0]] = arguments if op.kind == "copy" else f"{op.kind}({arguments})"
    return {name: values[name] for name in graph.outputs}


def attempt(graph: Graph, soc: ResolvedSoc) -> Graph | PlacementError:
    try:
        return insert_copies(graph, soc)
    except PlacementError as fault:
        return fault


def edited(soc: ResolvedSoc, error: PlacementError) -> ResolvedSoc:
    """Do what the remedies say."""
    pools = {pool.name: pool for pool in soc.pools}
    for fault in error.faults:
        assert fault.remedy
        for name, device, access in REACH.findall(fault.remedy):
            reach = dict(pools[name].reach)
            # Of two remedies for one device, the wider one serves both.
            reach[device] = max(reach[device], Access(access), key=list(Access).index)
            pools[name] = replace(pools[name], reach=reach)
        for name, size in SIZE.findall(fault.remedy):
            region = replace(pools[name].region, size=int(size))
            pools[name] = replace(pools[name], region=region)
    return replace(soc, pools=tuple(pools.values()))


def assert_complete(graph: Graph, placed: Graph, soc: ResolvedSoc) -> None:
    pools = candidate_pools(placed, soc)
    assert all(pools[name] for name, needs in needs_of(placed, soc).items() if needs)
    assert insert_copies(placed, soc) is placed
    assert results(placed) == results(graph)
    assert (placed.inputs, placed.outputs) == (graph.inputs, graph.outputs)
    names = [op.name for op in placed.operators]
    assert len(set(names)) == len(names)


CHIPS = cases(2_000)


def test_c4_copies_are_enough_and_remedies_work(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    counts = {"as it is": 0, "copied": 0, "refused": 0}
    for seed in range(CHIPS):
        rng = random.Random(seed)
        soc = make_soc(random_pools(rng), npu=8, dsp=8)
        graph = make_graph(random_operators(rng))
        pools = candidate_pools(graph, soc)
        complete = all(pools[name] for name, needs in needs_of(graph, soc).items() if needs)
        placed = attempt(graph, soc)
        if isinstance(placed, PlacementError):
            counts["refused"] += 1
            soc = edited(soc, placed)
            placed = attempt(graph, soc)
        else:
            counts["as it is" if complete else "copied"] += 1
            assert (placed is graph) == complete
        assert isinstance(placed, Graph), f"seed {seed}: {placed}"
        assert_complete(graph, placed, soc)
    assert min(counts.values()) > CHIPS // 20, counts
