# SPDX-License-Identifier: Apache-2.0
"""Steps, buffers and candidate pools of lowered graphs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ir.tir import AcceleratorRun, Constant, IRModule, KernelCall
from atoll.ir.verify import verify
from atoll.lower.to_tir import lower_graph
from atoll.reach.candidates import candidate_pools
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc


@pytest.fixture(scope="module")
def soc() -> ResolvedSoc:
    return load_soc("lagoon")


@pytest.fixture
def graph(make: Any) -> Graph:
    return dense_graph(make(0), 6)


def dense_graph(maker: Any, inputs: int) -> Graph:
    """A dense layer, then its copy."""
    weights = maker.rng.integers(-127, 128, (4, inputs)).astype(np.int8)
    x, y = maker.activation("x", (1, inputs)), maker.activation("y", (1, 4))
    dense: Graph = maker.graph(
        "fully_connected",
        [x, maker.constant("weights", weights, [0.01, 0.02, 0.03, 0.05])],
        y,
        activation="none",
        keep_num_dims=False,
    )
    z = replace(y, name="z")
    copy = maker.graph("copy", [y], z).operators[0]
    operators = tuple(replace(op, device="cpu") for op in (*dense.operators, copy))
    return replace(dense, tensors=(*dense.tensors, z), operators=operators, outputs=("z",))


def job(graph: Graph) -> Job:
    packed = Tensor(name="dense_weights", shape=(32,), dtype="int8", data=bytes(32))
    return Job(
        operator=graph.operators[0].name,
        device="npu",
        reads=("x",),
        writes=("y",),
        constants=(packed,),
        commands="dense_commands",
        commands_size=128,
        commands_count=2,
    )


def constants_of(module: IRModule) -> Mapping[str, Constant]:
    return {constant.name: constant for constant in module.entry.constants}


def test_host_steps(graph: Graph, soc: ResolvedSoc) -> None:
    module = lower_graph(graph, soc, {})
    verify(module)
    dense, copy = module.entry.steps
    tables = tuple(f"fully_connected_0_{name}" for name in ("start", "multiplier", "shift"))
    assert dense.action == KernelCall("fully_connected_0", ("x", "weights", *tables, "y"))
    assert (dense.reads, dense.writes) == (("x", "weights", *tables), ("y",))
    assert (copy.number, copy.reads, copy.writes) == (1, ("y",), ("z",))
    names = [function.name for function in module.functions]
    assert names == ["rounded_right", "scaled_right", "fully_connected_0", "copy_0"]
    constants = constants_of(module)
    assert all(constant.pools == ("weights",) for constant in constants.values())
    assert all(constant.align == 16 for constant in constants.values())
    assert constants["weights"].data == graph.tensor("weights").data
    pools = candidate_pools(graph, soc)
    assert {a.buffer: a.pools for a in module.entry.allocations} == {n: pools[n] for n in "xyz"}


def test_accelerator_steps(graph: Graph, soc: ResolvedSoc) -> None:
    placed = graph.with_operators(
        replace(op, device="npu" if op.kind == "fully_connected" else "cpu")
        for op in graph.operators
    )
    jobs = {"fully_connected_0": job(placed)}
    module = lower_graph(placed, soc, jobs)
    verify(module)
    dense = module.entry.steps[0]
    assert dense.action == AcceleratorRun("npu", "dense_commands", 2)
    assert dense.reads == ("x", "dense_weights", "dense_commands")
    constants = constants_of(module)
    assert list(constants) == ["dense_weights", "dense_commands"]
    assert constants["dense_commands"] == Constant(
        name="dense_commands", size=128, align=64, pools=("weights",), data=None
    )
    assert module.by_name.keys() == {"copy_0"}
    pools = {a.buffer: a.pools for a in module.entry.allocations}
    assert {name: sorted(pools[name]) for name in pools} == {
        "x": ["shared"],
        "y": ["shared"],
        "z": ["private", "shared"],
    }


@pytest.mark.parametrize("constant", [False, True])
def test_no_result_lies_over_a_constant(graph: Graph, soc: ResolvedSoc, constant: bool) -> None:
    """An output of constants alone is computed in each run, by an accelerator too."""
    x = replace(graph.tensor("x"), data=bytes(6) if constant else None)
    others = (tensor for tensor in graph.tensors if tensor.name != "x")
    device = {"fully_connected": "npu", "copy": "cpu"}
    operators = tuple(replace(op, device=device[op.kind]) for op in graph.operators)
    inputs = () if constant else ("x",)
    placed = replace(graph, tensors=(x, *others), operators=operators, inputs=inputs)
    made = replace(job(placed), overlaps=(SafeOverlap("y", "x", 2),))
    jobs = {"fully_connected_0": made}
    module = lower_graph(placed, soc, jobs)
    verify(module)
    assert module.entry.steps[0].overlaps == (() if constant else made.overlaps)


def test_a_constant_that_lowering_makes_without_pool(make: Any, soc: ResolvedSoc) -> None:
    """The network's own constant has 12 bytes."""
    small = tuple(
        replace(pool, region=replace(pool.region, size=15)) if pool.role == "constants" else pool
        for pool in soc.pools
    )
    with pytest.raises(PlacementError) as caught:
        lower_graph(dense_graph(make(0), 3), replace(soc, pools=small), {})
    assert caught.value.faults[0].code == "E061"
    assert "'fully_connected_0_start' (16 B)" in str(caught.value)
