"""Commands for the ripple DMA engine: a tensor is contiguous, so one row moves it whole."""

from collections.abc import Callable, Mapping

from atoll.ir.graph import Graph, Operator
from atoll.lower.accelerator import Job
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check
from atoll_sim.engines.ripple.descriptor import Descriptor

_LETTERS = int.from_bytes(b"RIPL", "little")
CONTRACT_VERSION = 1
_START_CYCLES = 40
_BEAT_CYCLES = 4


class RippleEmitter:
    """The `CommandEmitter` of ripple."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Name the two tensors and the one command of a copy."""
        return Job(
            operator=op.name,
            device=npu.name,
            reads=op.inputs[:1],
            writes=op.outputs,
            constants=(),
            commands=f"{op.name}_commands",
            commands_size=DESCRIPTOR_BYTES,
        )

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return the one descriptor of a copy."""
        return Descriptor(
            source=address(op.inputs[0]),
            destination=address(op.outputs[0]),
            row_bytes=graph.tensor(op.outputs[0]).size,
        ).encode()

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return the registers that describe an instance (docs/ripple.md)."""
        return {"ID": _LETTERS, "PARAMS": npu.params["data_bytes"] << 16 | CONTRACT_VERSION << 24}

    def sealed(self, command: bytes) -> bytes:
        """Make the CRC of a command anew."""
        return with_check(command)

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Predict busy cycles: each beat is written and answered before the next one."""
        beats = -(-graph.tensor(op.outputs[0]).size // npu.params["data_bytes"])
        return _START_CYCLES + _BEAT_CYCLES * beats
