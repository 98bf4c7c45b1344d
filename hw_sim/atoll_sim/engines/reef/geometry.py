"""The shapes of an operator in the terms of the reef accelerator (docs/reef.md)."""

from dataclasses import dataclass

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.packing import dense_block_bytes, depthwise_block_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """An operator as reef sees it: one image, however many times.

    Attributes:
        samples: images in the batch, contiguous in memory; one descriptor each.
        input: height, width, channels.
        output: height, width, channels.
        kernel: height, width.
        stride: down, across.
        pad: top, left.
        depth_multiplier: 1 unless depthwise.
        depthwise: every output channel reads one input channel.
    """

    samples: int
    input: tuple[int, int, int]
    output: tuple[int, int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    depth_multiplier: int
    depthwise: bool

    @property
    def kernel_row(self) -> int:
        """Bytes of one row of the kernel for one output channel."""
        return self.kernel[1] * (1 if self.depthwise else self.input[2])

    def block_bytes(self, npu: Engine) -> int:
        """Return the bytes of the packed weights of one block of output channels."""
        input_lanes, lanes = npu.params["input_lanes"], npu.params["output_lanes"]
        if self.depthwise:
            return depthwise_block_bytes(*self.kernel, lanes)
        return dense_block_bytes(self.kernel[0], self.kernel_row, input_lanes, lanes)


def geometry_of(op: Operator, graph: Graph) -> Geometry:
    """Return the shapes of a conv_2d, depthwise_conv_2d or fully_connected."""
    x, weights = operand(op, graph, 0), operand(op, graph, 1)
    (output,) = graph.results(op)
    if op.kind == "fully_connected":
        channels, depth = weights.shape
        rows = x.elements // depth
        return Geometry(
            samples=1,
            input=(1, rows, depth),
            output=(1, rows, channels),
            kernel=(1, 1),
            stride=(1, 1),
            pad=(0, 0),
            depth_multiplier=1,
            depthwise=False,
        )
    depthwise = op.kind == "depthwise_conv_2d"
    samples, *image = x.shape
    return Geometry(
        samples=samples,
        input=(image[0], image[1], image[2]),
        output=(output.shape[1], output.shape[2], output.shape[3]),
        kernel=(weights.shape[1], weights.shape[2]),
        stride=(op.integer("stride_h"), op.integer("stride_w")),
        pad=(op.integer("pad_top"), op.integer("pad_left")),
        depth_multiplier=op.integer("depth_multiplier") if depthwise else 1,
        depthwise=depthwise,
    )


def operand(op: Operator, graph: Graph, position: int) -> Tensor:
    """Return an operand that must be there."""
    tensor = graph.operands(op)[position]
    assert tensor is not None, f"{op.name} lacks operand {position}"
    return tensor
