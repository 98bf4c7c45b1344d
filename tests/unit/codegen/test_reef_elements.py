# SPDX-License-Identifier: Apache-2.0
"""ADD and MUL on reef: commands, run by the accelerator model, equal the operators' reference."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import cases
from tests.unit.codegen.test_reef_commands import Memory, activation, constant, npu

from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.reef.emitter import ReefEmitter
from atoll_sim.engines.reef.model import ReefModel

MEASURED = {(8, 8): (2048, 562)}
"""Elements, and cycles that `benches/reef_elements.py` measured, by lanes and bytes of a beat."""


def random_graph(seed: int, kind: str, *, constant_operand: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    shape = tuple(int(extent) for extent in rng.integers(1, 9, 4))
    scales = rng.uniform(0.001, 0.2, 3)
    if seed % 4 == 0:
        scales[1] = scales[0] * rng.choice([1.0, 1e-4, 1e4])
    scales = scales.astype(np.float32)
    zeros = rng.integers(-128, 128, 3)
    tensors = [
        activation(name, shape, float(scale), int(zero))
        for name, scale, zero in zip(("a", "b", "y"), scales, zeros, strict=True)
    ]
    if constant_operand:
        values = rng.integers(-128, 128, shape).astype(np.int8)
        made = constant("b", values, (float(scales[1]),))
        tensors[1] = replace(made, quantization=tensors[1].quantization)
    op = Operator(
        name=f"{kind}_0",
        kind=kind,
        inputs=("a", "b"),
        outputs=("y",),
        attributes=MappingProxyType(
            {"activation": str(rng.choice(["none", "relu", "relu6", "relu_n1_to_1"]))}
        ),
        device="npu",
    )
    inputs = ("a",) if constant_operand else ("a", "b")
    return Graph(name="m", tensors=tuple(tensors), operators=(op,), inputs=inputs, outputs=("y",))


def run(graph: Graph, values: list[NDArray[np.int8]], over: str = "") -> NDArray[np.int8]:
    """Run the commands; the result may take the place of an operand."""
    (op,), device, emitter = graph.operators, npu(), ReefEmitter()
    job, size = emitter.prepare(op, graph, device), values[0].size
    address = {"a": 64 + 3, "b": 8192 + 5, "y": 16384 + 1, job.commands: 32768}
    address |= {each.name: 8192 for each in job.constants}
    if over:
        address["y"] = address[over]
    memory = Memory(65536)
    for name, each in zip((op.inputs[0], "b"), values, strict=True):
        place = address[job.constants[0].name] if name == "b" and job.constants else address[name]
        memory.data[place : place + size] = each.tobytes()
    commands = emitter.encode(op, graph, device, address.__getitem__)
    assert len(commands) == job.commands_size
    memory.data[32768 : 32768 + len(commands)] = commands
    assert ReefModel(device).run(memory, 32768, 1) == Outcome(0, 0, 1)
    assert memory.written_bytes.sum() == size
    y = bytes(memory.data[address["y"] : address["y"] + size])
    return np.frombuffer(y, np.int8).reshape(values[0].shape)


@pytest.mark.parametrize("seed", range(cases(40)))
@pytest.mark.parametrize("kind", ["add", "mul"])
@pytest.mark.parametrize("where", ["apart", "constant", "a", "b"])
def test_model_runs_the_commands_bit_exact(kind: str, seed: int, where: str) -> None:
    graph = random_graph(seed, kind, constant_operand=where == "constant")
    (op,), shape = graph.operators, graph.tensor("y").shape
    rng = np.random.default_rng(seed)
    values = [rng.integers(-128, 128, shape).astype(np.int8) for _ in range(2)]
    if where == "constant":
        values[1] = graph.tensor("b").array.astype(np.int8)
    (expected,) = kind_of(op).reference(op, graph, values)
    result = run(graph, values, where if where in ("a", "b") else "")
    np.testing.assert_array_equal(result, expected)


def test_all_pairs_of_values() -> None:
    """Every pair that an addition can meet, with scales that round in all three places."""
    graph = random_graph(3, "add")
    pairs = np.arange(-128, 128, dtype=np.int8)
    (op,) = graph.operators
    for step in range(0, 256, 64):
        left = np.repeat(pairs[step : step + 16], 256).reshape(1, 1, 16, 256)
        right = np.tile(pairs, 16).reshape(1, 1, 16, 256)
        tensors = tuple(replace(tensor, shape=left.shape) for tensor in graph.tensors)
        whole = replace(graph, tensors=tensors)
        (expected,) = kind_of(op).reference(op, whole, [left, right])
        np.testing.assert_array_equal(run(whole, [left, right]), expected)


def test_estimates_are_near_what_the_bench_measured() -> None:
    for (lanes, data_bytes), (elements, cycles) in MEASURED.items():
        device = npu(lanes, lanes, data_bytes)
        graph = random_graph(1, "add")
        tensors = tuple(replace(tensor, shape=(1, 1, 1, elements)) for tensor in graph.tensors)
        busy = ReefEmitter().busy(graph.operators[0], replace(graph, tensors=tensors), device)
        assert busy.cycles == pytest.approx(cycles, rel=0.12)
