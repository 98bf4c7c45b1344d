# SPDX-License-Identifier: Apache-2.0
"""What each family of reef's commands says of an operator: its buffers, its bytes, its cycles."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from atoll.ir.busy import Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.places import Port


@dataclass(frozen=True)
class Family(ABC):
    """An operator as an instance runs it; each family of commands is a subclass.

    Attributes:
        npu: the instance; what it has of its memories only `busy` is told.
    """

    op: Operator
    graph: Graph
    npu: Engine

    @classmethod
    @abstractmethod
    def takes(cls, op: Operator, graph: Graph) -> bool:
        """Tell whether an operator is of this family."""

    @abstractmethod
    def job(self, splits: int) -> Job:
        """Pack the constants and name the buffers, as `CommandEmitter.prepare` does."""

    @abstractmethod
    def encode(self, address: Callable[[str], int], splits: int) -> bytes:
        """Return the commands, as `CommandEmitter.encode` does."""

    @abstractmethod
    def busy(self, port: Port, commands: int) -> Busy:
        """Predict what keeps the instance busy.

        Args:
            port: of the instance, or of one with other memories and another clock.
            commands: how many it takes, 0 for as few as possible.
        """

    @property
    def table(self) -> str:
        """Name the buffer of the operator's table, if it has one."""
        return f"{self.op.name}_table"

    def source(self, position: int) -> str:
        """Name the buffer that holds an operand; that of a constant is the job's own."""
        constant = self.graph.tensor(self.op.inputs[position]).data is not None
        return f"{self.op.name}_operand{position}" if constant else self.op.inputs[position]

    def tensors(self, names: Sequence[str]) -> tuple[Tensor, ...]:
        """Return some tensors of the graph."""
        return tuple(map(self.graph.tensor, names))

    def activations(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the operands `names` that are no constants, each once."""
        return tuple(dict.fromkeys(name for name in names if self.graph.tensor(name).data is None))

    def constants(self, names: Sequence[str]) -> Iterator[Tensor]:
        """Yield those of the first operands, `names`, that are constants, as the job's own."""
        for position, name in enumerate(names):
            tensor = self.graph.tensor(name)
            if tensor.data is not None:
                made, shape = self.source(position), (tensor.elements,)
                yield Tensor(name=made, shape=shape, dtype="int8", data=tensor.data)

    def make_job(
        self,
        reads: tuple[str, ...],
        constants: tuple[Tensor, ...],
        overlaps: tuple[SafeOverlap, ...],
        count: int = 1,
    ) -> Job:
        """Return the job of `count` commands over these buffers."""
        return Job(
            operator=self.op.name,
            device=self.npu.name,
            reads=reads,
            writes=self.op.outputs,
            constants=constants,
            commands=f"{self.op.name}_commands",
            commands_size=count * DESCRIPTOR_BYTES,
            commands_count=count,
            overlaps=overlaps,
        )
