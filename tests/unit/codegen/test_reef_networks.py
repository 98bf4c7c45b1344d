# SPDX-License-Identifier: Apache-2.0
"""Every operator of real networks that reef runs: its commands on the model equal the goldens."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator
from atoll.place.partition import assign, decide
from atoll.resolve import load_soc
from atoll.resolve.soc import Npu
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.reef.emitter import ReefEmitter
from atoll_sim.engines.reef.model import ReefModel

NETWORKS = {
    "kws_ref_model": (10, 3),
    "pretrainedResnet_quant": (10, 6),
    "vww_96_int8": (28, 3),
    "ad01_int8": (10, 0),
}
"""Layers with weights; others, of which only lagoon's instance is said to run some."""


class Memory:
    """Flat bytes from address 0."""

    def __init__(self) -> None:
        self.data = bytearray()

    def place(self, data: bytes) -> int:
        """Append `data` at an address that suits everything, and return the address."""
        self.data += bytes(-len(self.data) % 64)
        self.data += data
        return len(self.data) - len(data)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.data[address : address + len(data)] = data


def run(
    op: Operator, graph: Graph, npu: Npu, operands: Mapping[str, NDArray[np.int8]]
) -> NDArray[np.int8]:
    """Run the commands of an operator, whose `operands` are given by name."""
    emitter, memory = ReefEmitter(), Memory()
    job = emitter.prepare(op, graph, npu)
    (y,) = graph.results(op)
    addresses = {each.name: memory.place(each.data or b"") for each in job.constants}
    addresses |= {name: memory.place(x.tobytes()) for name, x in operands.items()}
    addresses |= {y.name: memory.place(bytes(y.size))}
    commands = memory.place(emitter.encode(op, graph, npu, addresses.__getitem__))
    assert ReefModel(npu).run(memory, commands, job.commands_count) == Outcome(0, 0, 1)
    return np.frombuffer(memory.read(addresses[y.name], y.size), np.int8).reshape(y.shape)


@pytest.mark.parametrize("chip", ["lagoon", "atoll2", "twin"])
@pytest.mark.parametrize("network", NETWORKS)
def test_every_layer_equals_the_golden(network: str, chip: str, shared_models: Path) -> None:
    soc = load_soc(chip)
    network_ = load_tflite(shared_models / f"{network}.tflite")
    graph = assign(network_, decide(network_, soc))
    golden = np.load(shared_models / "golden" / f"{network}.layers_tflm.npz")
    compared = 0
    for op in graph.operators:
        npu = soc.device(op.device)
        if not isinstance(npu, Npu):
            continue
        sources = [graph.tensor(name) for name in op.inputs]
        operands = {x.name: golden[f"t{x.index}"][0] for x in sources if x.data is None}
        (result,) = graph.results(op)
        y = golden[f"t{result.index}"][0]
        np.testing.assert_array_equal(run(op, graph, npu, operands).ravel(), y.ravel(), op.name)
        compared += 1
    weighted, others = NETWORKS[network]
    assert compared == weighted + (others if chip == "lagoon" else 0)
