# SPDX-License-Identifier: Apache-2.0
"""Commands for the reef accelerator: packed constants, one descriptor per sample, a cost."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from atoll.ir.busy import Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.quantization import activation_range
from atoll.ops.rounding import rounds_once
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check
from atoll_sim.engines.reef import elements, moves, shares
from atoll_sim.engines.reef.blocks import Places
from atoll_sim.engines.reef.cycles import effort_of
from atoll_sim.engines.reef.descriptor import Descriptor, Flag, Link, Opcode
from atoll_sim.engines.reef.geometry import Geometry, geometry_of
from atoll_sim.engines.reef.means import scaling_of, weights_of, zero_points
from atoll_sim.engines.reef.packing import (
    PARAMETER_BYTES,
    pack_dense,
    pack_depthwise,
    pack_lines,
    pack_parameters,
)
from atoll_sim.engines.reef.places import place_of
from atoll_sim.engines.reef.strips import Strips

_OPCODES = {
    "conv_2d": Opcode.CONV_2D,
    "depthwise_conv_2d": Opcode.DEPTHWISE_CONV_2D,
    "fully_connected": Opcode.FULLY_CONNECTED,
    "average_pool_2d": Opcode.DEPTHWISE_CONV_2D,
    "max_pool_2d": Opcode.DEPTHWISE_CONV_2D,
    "mean": Opcode.DEPTHWISE_CONV_2D,
    "sum": Opcode.DEPTHWISE_CONV_2D,
}
_LETTERS = int.from_bytes(b"REEF", "little")
CONTRACT_VERSION = 2


class ReefEmitter:
    """The `CommandEmitter` of reef."""

    basis = "measured"
    """What its cycles rest on."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Pack weights and parameter table of `op`; name the buffers that it touches."""
        if elements.takes(op):
            return elements.job_of(op, graph, npu)
        if shares.takes(op):
            return shares.job_of(op, graph, npu)
        if moves.takes(op, graph):
            return moves.job_of(op, graph, npu)
        lanes = npu.params["output_lanes"]
        shape = geometry_of(op, graph, npu)
        strips = Strips(shape, lanes, splits)
        overlap = SafeOverlap(op.outputs[0], op.inputs[0], strips.distance)
        values = weights_of(op, graph, shape, lanes)
        if shape.lines:
            packed = pack_lines(values, npu.params["input_lanes"], lanes)
        elif shape.depthwise:
            packed = pack_depthwise(values, lanes)
        else:
            rows = values.ndim == 4 and not shape.joined
            dense = values if rows else values.reshape(len(values), 1, 1, -1)
            packed = pack_dense(dense, npu.params["input_lanes"], lanes)
        table = pack_parameters(*scaling_of(op, graph, shape, lanes), lanes)
        return Job(
            operator=op.name,
            device=npu.name,
            reads=(op.inputs[0],),
            writes=op.outputs,
            constants=(
                _constant(_weights(op), packed, "int8"),
                _constant(_parameters(op), table, "int32"),
            ),
            commands=f"{op.name}_commands",
            commands_size=DESCRIPTOR_BYTES * strips.count,
            commands_count=strips.count,
            overlaps=(overlap,) if strips.useful else (),
        )

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return one descriptor for each sample of the batch, or for each strip of it."""
        if elements.takes(op):
            return elements.command_of(op, graph, address)
        if shares.takes(op):
            return shares.command_of(op, graph, address)
        if moves.takes(op, graph):
            return moves.commands_of(op, graph, address)
        shape = geometry_of(op, graph, npu)
        strips = Strips(shape, npu.params["output_lanes"], splits)
        source, target = address(op.inputs[0]), address(op.outputs[0])
        return b"".join(
            replace(
                _describe(op, graph, part.shape),
                input_address=source + part.input,
                output_address=target + part.output,
                weights_address=address(_weights(op)),
                parameters_address=address(_parameters(op)),
                input_row_pitch=shape.input[1] * shape.input[2],
                weight_block_bytes=shape.block_bytes(npu),
            ).encode()
            for part in strips.parts(source - target)
        )

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
        """Predict busy cycles, see `cycles`."""
        return self.busy(op, graph, npu, commands).cycles

    def busy(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> Busy:
        """Predict with what an instance is busy, see `cycles`, `elements`, `shares` and `moves`."""
        if elements.takes(op):
            return elements.busy_of(op, graph, npu)
        if shares.takes(op):
            return shares.busy_of(op, graph, npu)
        if moves.takes(op, graph):
            return moves.busy_of(op, graph, npu)
        touched = (op.inputs[0], op.outputs[0])
        places = Places(*(place_of(name, graph, npu) for name in touched))
        effort = effort_of(geometry_of(op, graph, npu), npu, commands, places)
        reads = {
            op.inputs[0]: effort.read_bytes,
            _weights(op): effort.weight_bytes,
            _parameters(op): effort.parameter_bytes,
        }
        return Busy(cycles=effort.cycles, parts=effort.parts, reads=reads)


def _describe(op: Operator, graph: Graph, shape: Geometry) -> Descriptor:
    (output,) = graph.results(op)
    low, high = activation_range(op, output)
    zeros = zero_points(op, graph)
    height, width = shape.seen if shape.lines else shape.input[:2]
    return Descriptor(
        opcode=_OPCODES[op.kind],
        input_address=0,
        output_address=0,
        weights_address=0,
        parameters_address=0,
        in_height=height,
        in_width=width,
        in_channels=shape.input[2],
        out_channels=shape.output[2],
        out_height=shape.output[0],
        out_width=shape.output[1],
        kernel_height=shape.kernel[0],
        kernel_width=shape.kernel[1],
        stride_down=shape.stride[0],
        stride_across=shape.stride[1],
        pad_top=shape.pad[0],
        pad_left=shape.pad[1],
        input_zero_point=zeros[0],
        output_zero_point=zeros[1],
        activation_min=low,
        activation_max=high,
        depth_multiplier=shape.depth_multiplier,
        flags=Flag.UNIFORM * shape.uniform
        | Flag.LINES * shape.lines
        | Flag.JOINED * shape.joined
        | Flag.GREATEST * shape.greatest
        | Flag.ONCE * rounds_once(op),
        input_row_pitch=0,
        weight_block_bytes=0,
        kernel_row_bytes=shape.kernel_row,
    )


def _constant(name: str, data: bytes, dtype: str) -> Tensor:
    shape = (len(data),) if dtype == "int8" else (len(data) // PARAMETER_BYTES, 4)
    return Tensor(name=name, shape=shape, dtype=dtype, data=data)


def _weights(op: Operator) -> str:
    return f"{op.name}_weights"


def _parameters(op: Operator) -> str:
    return f"{op.name}_parameters"
