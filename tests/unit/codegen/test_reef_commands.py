# SPDX-License-Identifier: Apache-2.0
"""The emitter's bytes, run by the accelerator model, equal the operators' reference."""

from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.benches.reef_layers import INSTANCES, LAYERS, Instance
from tests.effort import cases

from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.ops.registry import kind_of
from atoll.resolve.soc import AcceleratorSpec, Npu, Registers
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.reef.cycles import effort_of, sets_of
from atoll_sim.engines.reef.emitter import ReefEmitter
from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.model import ReefModel
from atoll_sim.engines.reef.places import Place, port_of
from atoll_sim.engines.reef.strips import Strips, strips_of

SPEC = AcceleratorSpec(
    name="reef",
    operators=(),
    registers={},
    rtl_module="reef",
    rtl_sources=(),
    emitter="atoll_sim.engines.reef.emitter:ReefEmitter",
    model="atoll_sim.engines.reef.model:ReefModel",
    driver="command_list",
    asynchronous=True,
)


def npu(
    input_lanes: int = 8, output_lanes: int = 8, data_bytes: int = 8, weight_rows: int = 64
) -> Npu:
    return Npu(
        name="npu",
        kind="npu",
        device_type=12,
        device_id=0,
        ordinal=1,
        clock=100_000_000,
        spec=SPEC,
        params={
            "input_lanes": input_lanes,
            "output_lanes": output_lanes,
            "weight_rows": weight_rows,
            "line_columns": 64,
            "vector": 2,
            "requantisers": 16,
            "data_bytes": data_bytes,
        },
        registers=Registers(origin=0x4000_0000, size=0x1000),
        irq=1,
        runs=("conv_2d", "depthwise_conv_2d", "fully_connected"),
    )


NEAR, FAR = Place(Fraction(8), "sram", 1), Place(Fraction(4), "psram", 16)


class Memory:
    """A flat memory that remembers which bytes were read and written."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)
        self.read_bytes = np.zeros(size, bool)
        self.written_bytes = np.zeros(size, bool)

    def read(self, address: int, size: int) -> bytes:
        self.read_bytes[address : address + size] = True
        return bytes(self.data[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.written_bytes[address : address + len(data)] = True
        self.data[address : address + len(data)] = data


def constant(
    name: str, values: NDArray[np.generic], scales: tuple[float, ...], axis: int = 0
) -> Tensor:
    zeros = (0,) * len(scales)
    return Tensor(
        name=name,
        shape=values.shape,
        dtype=str(values.dtype),
        quantization=Quantization(scales=scales, zero_points=zeros, axis=axis),
        data=values.tobytes(),
    )


def activation(name: str, shape: tuple[int, ...], scale: float, zero: int) -> Tensor:
    quantization = Quantization(scales=(scale,), zero_points=(zero,))
    return Tensor(name=name, shape=shape, dtype="int8", quantization=quantization)


def random_scales(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    return tuple(float(np.float32(rng.uniform(0.001, 0.02))) for _ in range(count))


def out_extent(size: int, before: int, after: int, kernel: int, stride: int) -> int:
    return (size + before + after - kernel) // stride + 1


def random_convolution(seed: int, depthwise: bool) -> Graph:
    rng = np.random.default_rng(seed)
    kernel = rng.integers(1, 5, 2)
    pads = [int(rng.integers(0, kernel[i % 2])) for i in range(4)]  # top, left, bottom, right
    size = rng.integers(4, 12, 2)
    stride = rng.integers(1, 4, 2)
    samples, depth = int(rng.integers(1, 3)), int(rng.integers(1, 21))
    multiplier = int(rng.integers(1, 4)) if depthwise else 1
    channels = depth * multiplier if depthwise else int(rng.integers(1, 21))
    taps = (channels, *kernel, depth) if not depthwise else (1, *kernel, channels)
    height = out_extent(size[0], pads[0], pads[2], kernel[0], stride[0])
    width = out_extent(size[1], pads[1], pads[3], kernel[1], stride[1])
    filters = rng.integers(-128, 128, taps).astype(np.int8)
    weights = constant("w", filters, random_scales(rng, channels), axis=3 if depthwise else 0)
    bias = constant("b", rng.integers(-(2**14), 2**14, channels).astype(np.int32), (0.001,))
    attributes: dict[str, Attribute] = {
        "stride_h": int(stride[0]),
        "stride_w": int(stride[1]),
        "dilation_h": 1,
        "dilation_w": 1,
        "activation": str(rng.choice(["none", "relu", "relu6", "relu_n1_to_1"])),
    }
    attributes |= dict(zip(("pad_top", "pad_left", "pad_bottom", "pad_right"), pads, strict=True))
    if depthwise:
        attributes["depth_multiplier"] = multiplier
    x = activation(
        "x", (samples, int(size[0]), int(size[1]), depth), 0.05, int(rng.integers(-128, 128))
    )
    y = activation(
        "y", (samples, int(height), int(width), channels), 0.1, int(rng.integers(-128, 128))
    )
    with_bias = bool(rng.integers(0, 2))
    return single(
        "depthwise_conv_2d" if depthwise else "conv_2d",
        x,
        weights,
        bias if with_bias else None,
        y,
        attributes,
    )


def random_dense(seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    rows, depth, channels = (int(n) for n in rng.integers(1, 40, 3))
    weights = constant("w", rng.integers(-128, 128, (channels, depth)).astype(np.int8), (0.01,))
    bias = constant("b", rng.integers(-(2**14), 2**14, channels).astype(np.int32), (0.001,))
    x = activation("x", (rows, depth), 0.05, int(rng.integers(-128, 128)))
    y = activation("y", (rows, channels), 0.3, int(rng.integers(-128, 128)))
    return single(
        "fully_connected", x, weights, bias, y, {"activation": "relu", "keep_num_dims": False}
    )


def single(
    kind: str,
    x: Tensor,
    weights: Tensor,
    bias: Tensor | None,
    y: Tensor,
    attributes: dict[str, Attribute],
) -> Graph:
    constants = (weights, bias) if bias else (weights,)
    op = Operator(
        name=f"{kind}_0",
        kind=kind,
        inputs=("x", "w", "b" if bias else ""),
        outputs=("y",),
        attributes=MappingProxyType(attributes),
        device="npu",
    )
    return Graph(
        name="m", tensors=(x, *constants, y), operators=(op,), inputs=("x",), outputs=("y",)
    )


def run(graph: Graph, device: Npu, x: NDArray[np.int8]) -> tuple[Outcome, NDArray[np.int8], Memory]:
    """Lay the buffers out with gaps between them and run the operator's commands."""
    (op,) = graph.operators
    emitter = ReefEmitter()
    job = emitter.prepare(op, graph, device)
    sizes = {"x": x.size, "y": graph.tensor("y").size, job.commands: job.commands_size}
    sizes |= {each.name: each.size for each in job.constants}
    address, top = {}, 64
    for number, (name, size) in enumerate(sizes.items()):
        # Activations start at odd addresses, everything else where the contract wants it.
        address[name] = top + 5 + number if name in "xy" else top
        top = -(-(address[name] + size + 64) // 64) * 64
    memory = Memory(top)
    commands = emitter.encode(op, graph, device, address.__getitem__)
    assert len(commands) == job.commands_size
    memory.data[address[job.commands] : address[job.commands] + len(commands)] = commands
    memory.data[address["x"] : address["x"] + x.size] = x.tobytes()
    for each in job.constants:
        assert each.data is not None
        start = address[each.name]
        memory.data[start : start + each.size] = each.data
    outcome = ReefModel(device).run(memory, address[job.commands], len(commands) // 64)
    allowed = np.zeros(top, bool)
    for name, size in sizes.items():
        allowed[address[name] : address[name] + size] = name != "y"
    assert not (memory.read_bytes & ~allowed).any(), "read outside its buffers"
    start = address["y"]
    assert memory.written_bytes.nonzero()[0].tolist() == list(range(start, start + sizes["y"]))
    y = np.frombuffer(bytes(memory.data[start : start + sizes["y"]]), np.int8)
    return outcome, y.reshape(graph.tensor("y").shape), memory


def scalar_result(graph: Graph, x: NDArray[np.int8]) -> NDArray[np.int8]:
    (op,) = graph.operators
    (y,) = kind_of(op).reference(
        op, graph, [x, *(each.array if each else None for each in graph.operands(op)[1:])]
    )
    return y.astype(np.int8)


@pytest.mark.parametrize(("input_lanes", "output_lanes"), [(4, 4), (8, 8), (16, 4), (4, 16)])
@pytest.mark.parametrize("seed", range(cases(25)))
@pytest.mark.parametrize("kind", ["conv_2d", "depthwise_conv_2d", "fully_connected"])
def test_model_runs_the_commands_bit_exact(
    kind: str, seed: int, input_lanes: int, output_lanes: int
) -> None:
    graph = (
        random_dense(seed)
        if kind == "fully_connected"
        else random_convolution(seed, kind == "depthwise_conv_2d")
    )
    x = np.random.default_rng(seed).integers(-128, 128, graph.tensor("x").shape).astype(np.int8)
    outcome, y, _ = run(graph, npu(input_lanes, output_lanes, 16), x)
    assert outcome == Outcome(0, 0, graph.tensor("x").shape[0] if kind != "fully_connected" else 1)
    np.testing.assert_array_equal(y, scalar_result(graph, x))


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("name", LAYERS)
def test_p1_estimates_are_near_what_the_bench_measured(name: str, instance: Instance) -> None:
    """The bench's memory reads and writes at once, as one that is not known is taken to."""
    layer = LAYERS[name]
    shape, measured = layer.shape, layer.cycles[INSTANCES.index(instance)]
    geometry = Geometry(
        samples=1,
        input=shape.image,
        output=(*shape.output, shape.channels),
        kernel=shape.kernel,
        stride=shape.stride,
        pad=shape.pad,
        depth_multiplier=shape.multiplier,
        depthwise=shape.depthwise,
        lines=shape.lines,
        joined=shape.joined,
    )
    input_lanes, output_lanes, data_bytes, weight_rows, _ = instance
    device = npu(input_lanes, output_lanes, data_bytes, weight_rows)
    near = Place(Fraction(device.params["data_bytes"]))
    port = port_of(device)
    effort = effort_of(sets_of(geometry, device), 0, port, port.between(near, near))
    assert effort.cycles == pytest.approx(measured, rel=0.12)


@pytest.mark.parametrize(
    ("image", "channels", "depthwise", "places", "measured"),
    [
        ((10, 10, 5), 72, False, (NEAR, FAR), 17_623),
        ((5, 7, 16), 59, False, (NEAR, FAR), 9_041),
        ((37, 25, 12), 12, True, (FAR, FAR), 11_082),
    ],
)
def test_p1_estimates_count_each_turn_of_the_port_to_another_memory(
    image: tuple[int, int, int],
    channels: int,
    depthwise: bool,
    places: tuple[Place, Place],
    measured: int,
) -> None:
    """Reads and writes take turns beat by beat; measured on `tests/data/shoal.yaml`."""
    device = replace(
        npu(weight_rows=256),
        constants_width=Fraction(4),
        constants_latency=2,
        constants_wait=3,
        workspace_width=Fraction(4),
    )
    shape = Geometry(
        samples=1,
        input=image,
        output=(*image[:2], channels),
        kernel=(3, 3) if depthwise else (1, 1),
        stride=(1, 1),
        pad=(1, 1) if depthwise else (0, 0),
        depth_multiplier=1,
        depthwise=depthwise,
        lines=depthwise,
    )
    port = port_of(device)
    effort = effort_of(sets_of(shape, device), 1, port, port.between(*places))
    assert effort.cycles == pytest.approx(measured, rel=0.1)


def test_strips_rest_on_whether_lanes_have_all_channels() -> None:
    shape = Geometry(
        samples=1,
        input=(6, 6, 8),
        output=(6, 6, 8),
        kernel=(3, 3),
        stride=(1, 1),
        pad=(1, 1),
        depth_multiplier=1,
        depthwise=False,
    )
    found = [(strips_of(shape, lanes, 4), Strips(shape, lanes, 4)) for lanes in (8, 4, 16)]
    for kept, made in found:
        assert (kept.distance, kept.count) == (made.distance, made.count)
    assert found[0][0].distance != found[1][0].distance
