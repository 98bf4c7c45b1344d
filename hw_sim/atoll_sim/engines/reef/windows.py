# SPDX-License-Identifier: Apache-2.0
"""Operators over windows on the reef accelerator: convolutions, dense layers, pools and sums."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from atoll.ir.busy import Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.quantization import activation_range
from atoll.ops.rounding import rounds_once
from atoll_sim.engines.reef.cycles import Sets, effort_of, sets_of
from atoll_sim.engines.reef.descriptor import Descriptor, Flag, Opcode
from atoll_sim.engines.reef.family import Family
from atoll_sim.engines.reef.geometry import Geometry, geometry_of
from atoll_sim.engines.reef.means import scaling_of, weights_of, zero_points
from atoll_sim.engines.reef.packing import (
    PARAMETER_BYTES,
    pack_dense,
    pack_depthwise,
    pack_lines,
    pack_parameters,
)
from atoll_sim.engines.reef.places import Port
from atoll_sim.engines.reef.strips import strips_of

_OPCODES = {
    "conv_2d": Opcode.CONV_2D,
    "depthwise_conv_2d": Opcode.DEPTHWISE_CONV_2D,
    "fully_connected": Opcode.FULLY_CONNECTED,
    "average_pool_2d": Opcode.DEPTHWISE_CONV_2D,
    "max_pool_2d": Opcode.DEPTHWISE_CONV_2D,
    "mean": Opcode.DEPTHWISE_CONV_2D,
    "sum": Opcode.DEPTHWISE_CONV_2D,
}


class Windows(Family):
    """One command for each sample of the batch, or for each strip of it."""

    @classmethod
    def takes(cls, op: Operator, graph: Graph) -> bool:
        """Tell whether results of `op` are scaled sums or maxima of windows."""
        return op.kind in _OPCODES

    def job(self, splits: int) -> Job:
        """Pack weights and parameter table; name the buffers."""
        op, shape = self.op, self._shape
        strips = strips_of(shape, self.npu.params["output_lanes"], splits)
        overlap = SafeOverlap(op.outputs[0], op.inputs[0], strips.distance)
        return self.make_job(
            op.inputs[:1],
            tuple(self._pack(shape)),
            (overlap,) if strips.useful else (),
            count=strips.count,
        )

    def encode(self, address: Callable[[str], int], splits: int) -> bytes:
        """Return the commands."""
        shape = self._shape
        strips = strips_of(shape, self.npu.params["output_lanes"], splits)
        source, target = address(self.op.inputs[0]), address(self.op.outputs[0])
        return b"".join(
            replace(
                self._describe(part.shape),
                input_address=source + part.input,
                output_address=target + part.output,
                weights_address=address(self._weights),
                parameters_address=address(self._parameters),
                input_row_pitch=shape.input[1] * shape.input[2],
                weight_block_bytes=shape.block_bytes(self.npu),
            ).encode()
            for part in strips.parts(source - target)
        )

    def busy(self, port: Port, commands: int) -> Busy:
        """Predict with what an instance is busy, see `effort_of`."""
        read, written = self._activations
        effort = effort_of(self._sets, commands, port, port.places(read, written))
        sizes = effort.read_bytes, effort.weight_bytes, effort.parameter_bytes
        reads = dict(zip((read.name, self._weights, self._parameters), sizes, strict=True))
        return Busy(cycles=effort.cycles, parts=effort.parts, reads=reads)

    @cached_property
    def _activations(self) -> tuple[Tensor, ...]:
        return self.tensors((self.op.inputs[0], self.op.outputs[0]))

    @cached_property
    def _sets(self) -> Sets:
        return sets_of(self._shape, self.npu)

    @cached_property
    def _weights(self) -> str:
        return f"{self.op.name}_weights"

    @cached_property
    def _parameters(self) -> str:
        return f"{self.op.name}_parameters"

    @cached_property
    def _shape(self) -> Geometry:
        return geometry_of(self.op, self.graph, self.npu)

    def _pack(self, shape: Geometry) -> Iterator[Tensor]:
        """Yield weights and parameter table."""
        inputs, lanes = self.npu.params["input_lanes"], self.npu.params["output_lanes"]
        values = weights_of(self.op, self.graph, shape, lanes)
        if shape.lines:
            packed = pack_lines(values, inputs, lanes)
        elif shape.depthwise:
            packed = pack_depthwise(values, lanes)
        else:
            rows = values.ndim == 4 and not shape.joined
            dense = values if rows else values.reshape(len(values), 1, 1, -1)
            packed = pack_dense(dense, inputs, lanes)
        table = pack_parameters(*scaling_of(self.op, self.graph, shape, lanes), lanes)
        yield Tensor(name=self._weights, shape=(len(packed),), dtype="int8", data=packed)
        entries = (len(table) // PARAMETER_BYTES, 4)
        yield Tensor(name=self._parameters, shape=entries, dtype="int32", data=table)

    def _describe(self, shape: Geometry) -> Descriptor:
        """Return the command of an image, without addresses."""
        op, graph = self.op, self.graph
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
