# SPDX-License-Identifier: Apache-2.0
"""Commands for the reef accelerator: each operator goes to the family of commands that takes it."""

from collections.abc import Callable, Hashable, Mapping

from atoll.ir.busy import Busy
from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.resolve.soc import Engine, once_per_engine
from atoll.utils.remember import remember
from atoll_sim.engines.common.encode import with_check
from atoll_sim.engines.reef.descriptor import Link
from atoll_sim.engines.reef.elements import Elements
from atoll_sim.engines.reef.family import Family
from atoll_sim.engines.reef.moves import Moves
from atoll_sim.engines.reef.places import port_of
from atoll_sim.engines.reef.shares import Shares
from atoll_sim.engines.reef.windows import Windows

FAMILIES: tuple[type[Family], ...] = (Elements, Shares, Moves, Windows)
"""Each operator that reef runs is of one of them."""
_LETTERS = int.from_bytes(b"REEF", "little")
CONTRACT_VERSION = 2


class ReefEmitter:
    """The `CommandEmitter` of reef."""

    basis = "measured"
    """What its cycles rest on."""

    band = (0.15, 0.15)
    """How far layers are off, of which nothing was fitted: docs/estimate.md."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Pack the constants of `op`; name the buffers that it touches."""
        return _family(op, graph, npu).job(splits)

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return the commands."""
        return _family(op, graph, npu).encode(address, splits)

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return the registers that describe an instance (docs/reef.md)."""
        params = npu.params
        lanes = params["input_lanes"] | params["output_lanes"] << 8
        return {
            "ID": _LETTERS,
            "PARAMS": lanes | params["data_bytes"] << 16 | CONTRACT_VERSION << 24,
            "WEIGHT_ROWS": params["weight_rows"]
            | params["line_columns"] << 16
            | params["vector"] << 28,
        }

    def sealed(self, command: bytes) -> bytes:
        """Make the CRC of a command anew."""
        return with_check(command)

    def link(self, address: int, count: int) -> bytes:
        """Return the command that goes on with another list."""
        return Link(address=address, count=count).encode()

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Predict busy cycles, see `busy`."""
        return self.busy(op, graph, npu, commands).cycles

    def busy(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> Busy:
        """Predict what keeps an instance busy."""
        return _at_any_speed(op, graph, npu).busy(port_of(npu), commands)


def _family(op: Operator, graph: Graph, npu: Engine) -> Family:
    return next(each for each in FAMILIES if each.takes(op, graph))(op, graph, npu)


def _key(op: Operator, graph: Graph, npu: Engine) -> Hashable:
    """Return all that `Family.busy` depends on but the port: values of axes and pools, too."""
    return graph.key_of(op), _params(npu)


@once_per_engine
def _params(npu: Engine) -> tuple[tuple[str, int], ...]:
    return tuple(npu.params.items())


@remember(_key, most=4096)
def _at_any_speed(op: Operator, graph: Graph, npu: Engine) -> Family:
    """Return the family of an operator, without the rest of its graph."""
    tensors = tuple(filter(None, (*graph.operands(op), *graph.results(op))))
    alone = Graph(op.name, tensors, (op,), op.inputs, op.outputs)
    return _family(op, alone, npu)
