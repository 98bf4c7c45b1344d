# SPDX-License-Identifier: Apache-2.0
"""The model of the Ethos-U's border: what it reads, writes and refuses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ops import reference
from atoll.ops.ethos_u import SCRATCH_FILL
from atoll.resolve import load_soc
from atoll.resolve.soc import Npu
from atoll_sim.engines.ethos_u.block import BLOCK_BYTES, Block, decode
from atoll_sim.engines.ethos_u.model import (
    BAD_CHECK,
    BAD_FIELD,
    BAD_OPCODE,
    READ_DECODE,
    WRITE_DECODE,
    EthosUModel,
)
from atoll_sim.engines.interface import Outcome
from atoll_sim.host.memory import DeviceBus, HostMemory

pytest.importorskip("ethosu.vela")

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
NAME = "ethos_u_9"


class Bench:
    """The model on the memories of corstone300_u55, with digits loaded and one sample."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.soc = compiled, compiled.soc
        npu = self.soc.device("ethos_u55")
        assert isinstance(npu, Npu)
        self.memory = HostMemory(self.soc)
        for constant in compiled.module.entry.constants:
            data = constant.data or compiled.commands[constant.name]
            self.memory.write(self.at(constant.name), data)
        (self.sample,) = random_sample(compiled.graph)
        for name, values in self.sample.items():
            self.memory.write(self.at(name), values.tobytes())
        self.bus = DeviceBus(self.memory, self.soc, npu)
        self.model = EthosUModel(npu)
        self.model.learn(self.at(f"{NAME}_commands"), compiled.graph.operators[0], compiled.graph)

    def at(self, buffer: str) -> int:
        return self.compiled.plan.address(buffer)

    def run(self) -> Outcome:
        return self.model.run(self.bus, self.at(f"{NAME}_commands"), 1)

    def block(self) -> Block:
        found = decode(self.memory.read(self.at(f"{NAME}_commands"), BLOCK_BYTES))
        assert found is not None
        return found

    def give(self, region: int, address: int) -> None:
        """Give the commands another base address, as if it had been planned."""
        block, payload = self.block(), self.compiled.graph.tensor(f"{NAME}_stream").data
        assert payload is not None
        regions = list(block.regions)
        regions[region] = (address, regions[region][1])
        self.patch(f"{NAME}_commands", 0, replace(block, regions=tuple(regions)).encode(payload))

    def patch(self, buffer: str, offset: int, data: bytes) -> None:
        self.memory.write(self.at(buffer) + offset, data)


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("corstone300_u55"), DIGITS)


@pytest.fixture
def bench(compiled: Compiled) -> Bench:
    return Bench(compiled)


def test_the_block_says_where_everything_is(bench: Bench) -> None:
    graph = bench.compiled.graph
    image, result = graph.inputs[0], graph.outputs[0]
    names = (f"{NAME}_weights", f"{NAME}_scratch", image, result)
    block = bench.block()
    assert block.regions == tuple((bench.at(name), graph.tensor(name).size) for name in names)
    assert block.payload == (bench.at(f"{NAME}_stream"), graph.tensor(f"{NAME}_stream").size)
    assert all(address % 16 == 0 for address, _ in (block.payload, *block.regions))


def test_a_run_makes_the_reference_and_spoils_the_scratch(bench: Bench) -> None:
    assert bench.run() == Outcome(error=0, fault_address=0, completed=1)
    graph = bench.compiled.graph
    expected = reference.run(graph, bench.sample)
    (result,) = graph.outputs
    assert bench.memory.read(bench.at(result), 10) == expected[result].tobytes()
    scratch = graph.tensor(f"{NAME}_scratch")
    spoilt = np.frombuffer(bench.memory.read(bench.at(scratch.name), scratch.size), np.int8)
    assert set(spoilt.tolist()) == {SCRATCH_FILL}


@pytest.mark.parametrize(
    ("buffer", "offset", "data", "error"),
    [
        ("commands", 0, b"X", BAD_OPCODE),
        ("commands", 12, b"\x09", BAD_OPCODE),
        ("commands", 12, b"\x03", BAD_FIELD),
        ("commands", 127, b"\x01", BAD_OPCODE),
        ("commands", 20, b"\x00", BAD_FIELD),
        ("commands", 80, b"\x00", BAD_CHECK),
        ("commands", 84, b"\x00", BAD_CHECK),
        ("stream", 0, b"X", BAD_FIELD),
        ("stream", 8, b"\x08", BAD_FIELD),
        ("stream", 40, b"\xee", BAD_CHECK),
        ("weights", 7, b"\xee", BAD_CHECK),
    ],
)
def test_a_wrong_byte_is_refused(
    bench: Bench, buffer: str, offset: int, data: bytes, error: int
) -> None:
    bench.patch(f"{NAME}_{buffer}", offset, data)
    found = bench.run()
    assert (found.error, found.completed) == (error, 0)
    assert found.fault_address == bench.at(f"{NAME}_commands")


@pytest.mark.parametrize(
    ("region", "error"), [(0, READ_DECODE), (2, READ_DECODE), (3, WRITE_DECODE)]
)
def test_what_the_npu_does_not_reach_is_refused(bench: Bench, region: int, error: int) -> None:
    outside = bench.soc.memory("dtcm").origin
    bench.give(region, outside)
    assert bench.run() == Outcome(error=error, fault_address=outside, completed=0)


def test_inputs_are_read_where_the_commands_say(bench: Bench) -> None:
    """A base address that is 16 bytes off: the same commands read and write other bytes."""
    (result,) = bench.compiled.graph.outputs
    for region in (2, 3):
        right = bench.block().regions[region][0]
        bench.give(region, right + 16)
        bench.run()
        expected = reference.run(bench.compiled.graph, bench.sample)[result].tobytes()
        assert bench.memory.read(bench.at(result), 10) != expected
        bench.give(region, right)
    assert bench.run().error == 0
    assert bench.memory.read(bench.at(result), 10) == expected


def test_a_list_that_nobody_planned_is_refused(bench: Bench) -> None:
    bench.model = EthosUModel(bench.soc.npus[0])
    assert bench.run().error == BAD_OPCODE
