# SPDX-License-Identifier: Apache-2.0
"""The start of an Ethos-U: where Vela's commands and their regions are; cycles are Vela's."""

from collections.abc import Callable, Mapping

from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.ops.ethos_u import FIRST_INPUT, STREAM, WEIGHTS
from atoll.resolve.soc import Engine
from atoll_sim.engines.ethos_u.block import BLOCK_BYTES, Block

BORDER = int.from_bytes(b"EUAT", "little")
"""What the model of the border has in ID, and no NPU: bits 31 to 28 are the architecture's major
version there, and no NPU has 5."""


class EthosUEmitter:
    """The `CommandEmitter` of Ethos-U55, U65 and U85."""

    basis = "vela"
    """What its cycles rest on."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Name the buffers of what Vela compiled: the scratch is the last output."""
        return Job(
            operator=op.name,
            device=npu.name,
            reads=tuple(dict.fromkeys(op.inputs)),
            writes=op.outputs,
            constants=(),
            commands=f"{op.name}_commands",
            commands_size=BLOCK_BYTES,
        )

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return the block of `op`.

        Regions are the constants, the scratch, inputs and outputs.
        """

        def place_of(name: str) -> tuple[int, int]:
            return address(name), graph.tensor(name).size

        *outputs, scratch = op.outputs
        edges = (*op.inputs[FIRST_INPUT:], *outputs)
        weights, work = place_of(op.inputs[WEIGHTS]), place_of(scratch)
        regions = (weights, work, *map(place_of, edges))
        first = len(regions) - len(outputs)
        written = frozenset({1, *range(first, len(regions))})
        payload = graph.tensor(op.inputs[STREAM]).data
        assert payload is not None, f"{op.name} has no payload"
        return Block(place_of(op.inputs[STREAM]), regions, written).encode(payload)

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return what tells the model of the border."""
        return {"ID": BORDER}

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Return Vela's estimate."""
        return op.integer("cycles")
