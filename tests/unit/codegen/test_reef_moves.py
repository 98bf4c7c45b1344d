# SPDX-License-Identifier: Apache-2.0
"""Moves on reef: commands, run by the accelerator model, equal the operators' reference."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import cases
from tests.unit.codegen.test_reef_commands import Memory, activation, constant, npu

from atoll.ir.graph import Attribute, Graph, Operator, Tensor
from atoll.ops.registry import kind_of
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.reef.emitter import ReefEmitter
from atoll_sim.engines.reef.model import ReefModel
from atoll_sim.engines.reef.moves import Axis, Move

MEASURED: dict[tuple[str, tuple[int, ...]], int] = {
    ("reshape", (1, 1, 1, 2048)): 546,
    ("quantize", (1, 1, 1, 2048)): 578,
    ("concatenation", (1, 1, 64, 32)): 546,
    ("concatenation", (1, 1, 128, 8)): 290,
}
"""Cycles that `benches/reef_moves.py` measured, by what has such rows."""

KINDS = ("concatenation", "pad", "reshape", "quantize")


def single(
    kind: str, inputs: list[Tensor], output: Tensor, attributes: dict[str, Attribute]
) -> Graph:
    op = Operator(
        name=f"{kind}_0",
        kind=kind,
        inputs=tuple(each.name for each in inputs),
        outputs=(output.name,),
        attributes=MappingProxyType(attributes),
        device="npu",
    )
    names = tuple(each.name for each in inputs if each.data is None)
    tensors = (*dict.fromkeys(inputs), output)
    return Graph(name="m", tensors=tensors, operators=(op,), inputs=names, outputs=("y",))


def random_graph(seed: int, kind: str) -> Graph:
    rng = np.random.default_rng(seed)
    shape = tuple(int(extent) for extent in rng.integers(1, 7, int(rng.integers(1, 6))))
    x = activation("x", shape, 0.05, int(rng.integers(-128, 128)))
    if kind == "reshape":
        return single(kind, [x], replace(x, name="y", shape=(x.elements,)), {})
    if kind == "quantize":
        return single(kind, [x], activation("y", shape, 0.07, int(rng.integers(-128, 128))), {})
    if kind == "pad":
        pairs = rng.integers(0, 4, (len(shape), 2)) * rng.integers(0, 2, (len(shape), 1))
        table = constant("p", pairs.astype(np.int32), (1.0,))
        made = tuple(int(size + pair.sum()) for size, pair in zip(shape, pairs, strict=True))
        return single(kind, [x, table], replace(x, name="y", shape=made), {})
    axis, others = int(rng.integers(len(shape))), []
    for number in range(int(rng.integers(1, 4))):
        extents = (*shape[:axis], int(rng.integers(1, 7)), *shape[axis + 1 :])
        others.append(replace(x, name=f"x{number}", shape=extents))
    if seed % 3 == 0:
        values = rng.integers(-128, 128, others[0].shape).astype(np.int8)
        others[0] = replace(others[0], data=values.tobytes())
    inputs = [x, *others, x] if seed % 2 else [x, *others]
    width = sum(each.shape[axis] for each in inputs)
    output = replace(x, name="y", shape=(*shape[:axis], width, *shape[axis + 1 :]))
    return single(kind, inputs, output, {"axis": axis - len(shape) * (seed % 2)})


def run(graph: Graph, values: dict[str, NDArray[np.int8]]) -> NDArray[np.int8]:
    (op,), device, emitter = graph.operators, npu(), ReefEmitter()
    job, (output,) = emitter.prepare(op, graph, device), graph.results(graph.operators[0])
    memory, top, address = Memory(1 << 18), 64, {}
    sizes = {name: each.size for name, each in values.items()} | {"y": output.size}
    for number, (name, size) in enumerate(sizes.items()):
        address[name] = top + 3 + number
        top = -(-(address[name] + size + 64) // 64) * 64
    for each in job.constants:
        address[each.name] = top
        assert each.data is not None
        memory.data[top : top + each.size] = each.data
        top += -(-each.size // 64) * 64
    for name in job.reads:
        memory.data[address[name] : address[name] + sizes[name]] = values[name].tobytes()
    commands = emitter.encode(op, graph, device, address.__getitem__)
    assert len(commands) == job.commands_size == 64 * job.commands_count
    memory.data[top : top + len(commands)] = commands
    outcome = ReefModel(device).run(memory, top, job.commands_count)
    assert outcome == Outcome(0, 0, job.commands_count)
    start = address["y"]
    assert memory.written_bytes.nonzero()[0].tolist() == list(range(start, start + output.size))
    y = bytes(memory.data[start : start + output.size])
    return np.frombuffer(y, np.int8).reshape(output.shape)


@pytest.mark.parametrize("seed", range(cases(40)))
@pytest.mark.parametrize("kind", KINDS)
def test_model_runs_the_commands_bit_exact(kind: str, seed: int) -> None:
    graph, rng = random_graph(seed, kind), np.random.default_rng(seed)
    (op,) = graph.operators
    values = {name: rng.integers(-128, 128, graph.tensor(name).shape) for name in graph.inputs}
    present = {name: each.astype(np.int8) for name, each in values.items()}
    operands = [
        present[name] if name in present else graph.tensor(name).array for name in op.inputs
    ]
    (expected,) = kind_of(op).reference(op, graph, operands)
    np.testing.assert_array_equal(run(graph, present), expected)


@pytest.mark.parametrize(
    "axes",
    [
        (Axis(70_000, 3, 5),),
        (Axis(66_000, 2, 2), Axis(2, 132_000, 140_000)),
        (Axis(2, 1, 2), Axis(3, 2, 4), Axis(2, 6, 13), Axis(3, 12, 27), Axis(2, 40, 90)),
    ],
)
def test_moves_beyond_a_command_are_several(axes: tuple[Axis, ...]) -> None:
    """Rows of all commands are those of the move, each once."""

    def places(move: Move) -> set[tuple[int, int]]:
        found = {(move.source, move.output)}
        for axis in move.axes:
            found = {
                (a + at * axis.source, b + at * axis.output)
                for a, b in found
                for at in range(axis.extent)
            }
        return found

    move = Move(0, 7, 9, 1, axes)
    parts = list(move.commands())
    assert all(len(part.axes) <= 3 for part in parts)
    assert all(axis.extent < 1 << 16 for part in parts for axis in part.axes)
    assert sum(part.rows for part in parts) == move.rows
    assert set().union(*map(places, parts)) == places(move)


@pytest.mark.parametrize(("kind", "shape"), MEASURED)
def test_estimates_are_near_what_the_bench_measured(kind: str, shape: tuple[int, ...]) -> None:
    x = activation("x", shape, 0.05, 0)
    graph = single(kind, [x], replace(x, name="y"), {"axis": 3})
    cycles = ReefEmitter().busy(graph.operators[0], graph, npu()).cycles
    assert cycles == pytest.approx(MEASURED[kind, shape], rel=0.12)
