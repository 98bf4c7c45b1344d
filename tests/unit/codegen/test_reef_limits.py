"""What reef's commands have no field for stays with the cores; what they have is encoded."""

from types import MappingProxyType

import numpy as np
import pytest
from tests.unit.codegen.test_reef_commands import activation, constant, npu, out_extent

from atoll.ir.graph import Graph, Operator
from atoll.place.capabilities import obstacles
from atoll.resolve import load_soc
from atoll_sim.engines.reef.emitter import ReefEmitter

LAGOON = load_soc("lagoon")


def window(kind: str, shape: tuple[int, int, int, int], kernel: int, pad: int) -> Graph:
    """Make an operator with a window of some rows and one column, padded above."""
    attributes: dict[str, int | str] = {"stride_h": 1, "stride_w": 1, "activation": "none"}
    attributes |= {"dilation_h": 1, "dilation_w": 1, "depth_multiplier": 1}
    attributes |= {"filter_h": kernel, "filter_w": 1}
    attributes |= {"pad_top": pad, "pad_left": 0, "pad_bottom": 0, "pad_right": 0}
    samples, height, width, channels = shape
    x = activation("x", shape, 0.05, 0)
    made = (samples, out_extent(height, pad, 0, kernel, 1), width, channels)
    y = activation("y", made, 0.05, 0)
    pools = kind.endswith("pool_2d")
    values = np.ones((channels if kind == "conv_2d" else 1, kernel, 1, channels), np.int8)
    weights = constant("w", values, (0.1,) * channels, axis=0 if kind == "conv_2d" else 3)
    op = Operator(
        name="op",
        kind=kind,
        inputs=("x",) if pools else ("x", "w", ""),
        outputs=("y",),
        attributes=MappingProxyType(attributes),
        device="npu",
    )
    tensors = (x, y) if pools else (x, weights, y)
    return Graph(name="m", tensors=tensors, operators=(op,), inputs=("x",), outputs=("y",))


def against(graph: Graph) -> list[str]:
    return [*obstacles(graph.operators[0], graph, LAGOON.device("npu"), LAGOON)]


KINDS = ("conv_2d", "depthwise_conv_2d", "max_pool_2d", "average_pool_2d")


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_has_a_command_for_each_image(kind: str) -> None:
    most = window(kind, (65535, 1, 1, 2), 1, 0)
    assert against(most) == []
    assert ReefEmitter().prepare(most.operators[0], most, npu()).commands_count == 65535
    assert against(window(kind, (65536, 1, 1, 2), 1, 0)) == ["batches is 65536, at most 65535"]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_padding_is_less_than_the_kernel(kind: str) -> None:
    most = window(kind, (1, 4, 1, 1), 65535, 65534)
    assert against(most) == []
    ReefEmitter().encode(most.operators[0], most, npu(), lambda name: 64)
    for kernel, pad in ((3, 3), (3, 4), (65535, 65536)):
        told = [f"above is {pad - kernel}, at most -1"]
        assert against(window(kind, (1, 4, 1, 1), kernel, pad)) == told


def test_padding_of_maxima_is_less_than_their_window() -> None:
    assert against(window("max_pool_2d", (1, 4, 1, 1), 64, 63)) == []
    told = ["above is 0, at most -1"]
    assert against(window("max_pool_2d", (1, 4, 1, 1), 64, 64)) == told
    told = ["above is 65472, at most -1"]
    assert against(window("max_pool_2d", (1, 4, 1, 1), 64, 65536)) == told
