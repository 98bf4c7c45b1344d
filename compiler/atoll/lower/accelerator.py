"""What a stage needs to know of a command-driven accelerator; its emitter supplies it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.resolve.soc import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One operator as an accelerator runs it: a list of commands over buffers.

    Attributes:
        operator: name of the operator.
        device: name of the accelerator instance.
        reads: names of the activations that it reads.
        writes: names of the activations that it writes.
        constants: tensors made for it, ``<operator>_weights`` and the like; they replace the
            operator's own constants, which the accelerator does not read.
        commands: name of the buffer that holds its commands, ``<operator>_commands``; it is
            planned as a constant and its bytes are known after memory planning.
        commands_size: bytes.
        commands_count: what the accelerator is told to execute.
        alignment: bytes that `constants` start at multiples of.
        commands_alignment: bytes that `commands` starts at a multiple of.
    """

    operator: str
    device: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    constants: tuple[Tensor, ...]
    commands: str
    commands_size: int
    commands_count: int = 1
    alignment: int = 16
    commands_alignment: int = 64


class CommandEmitter(Protocol):
    """Makes the commands of one kind of accelerator; `AcceleratorSpec.emitter` names it.

    Every operator it is given has a kind and features within the limits of the accelerator.
    """

    def prepare(self, op: Operator, graph: Graph, npu: Engine) -> Job:
        """Pack the constants of `op` and say which buffers its commands touch."""
        ...

    def encode(
        self, op: Operator, graph: Graph, npu: Engine, address: Callable[[str], int]
    ) -> bytes:
        """Return the `Job.commands_size` bytes of commands.

        Args:
            op: the operator that `prepare` got.
            graph: the graph that holds it.
            npu: the instance that runs it.
            address: absolute byte address of an activation, or of a constant of the job.
        """
        ...

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return what registers of the instance hold that tell what it is, by register name.

        There is at least one; the firmware refuses to start an instance that differs.
        """
        ...

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine) -> int:
        """Predict the cycles that `npu` is busy with `op`; only comparisons rely on it."""
        ...
