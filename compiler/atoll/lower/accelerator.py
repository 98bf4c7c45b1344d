# SPDX-License-Identifier: Apache-2.0
"""What a stage needs to know of a command-driven accelerator; its emitter supplies it."""

from collections.abc import Callable, Mapping
from typing import Protocol

from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.resolve.soc import Engine


class CommandEmitter(Protocol):
    """Makes the commands of one kind of accelerator; `AcceleratorSpec.emitter` names it.

    Every operator it is given has a kind and features within the limits of the accelerator.
    """

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Pack the constants of `op` and say which buffers its commands touch.

        Args:
            op: the operator.
            graph: the graph that holds it.
            npu: the instance that runs it.
            splits: commands that may be spent so that the output may lie over an input.
        """
        ...

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return the commands: `Job.commands_size` bytes, or fewer for fewer commands.

        Args:
            op: the operator that `prepare` got.
            graph: the graph that holds it.
            npu: the instance that runs it.
            address: absolute byte address of an activation, or of a constant of the job.
            splits: what `prepare` got.
        """
        ...

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return what registers of the instance hold that tell what it is, by register name.

        There is at least one; the firmware refuses to start an instance that differs.
        """
        ...

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Predict the cycles that `npu` is busy with `op`, in cycles of its own clock.

        Starting it and hearing of its end, which is the driver's, is added by placement. The
        report of a run shows the sum beside what was measured.

        Args:
            op: the operator; it may be one that the graph does not hold, such as a copy.
            graph: where its tensors are described.
            npu: the instance that would run it.
            commands: how many commands it takes, 0 for as few as possible.
        """
        ...


class Linking(Protocol):
    """What an emitter also has if its engine goes from one list of commands to the next by itself.

    The engine reads the first command of the next list only when every write of the commands before
    it has been answered.
    """

    def link(self, address: int, count: int) -> bytes:
        """Return the command, as large as any other, that goes on with `count` commands there."""
        ...
