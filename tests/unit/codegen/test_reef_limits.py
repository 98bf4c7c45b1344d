# SPDX-License-Identifier: Apache-2.0
"""What reef's commands have no field for stays with the cores; what they have is encoded."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from tests.unit.codegen.test_reef_commands import activation, constant, npu, out_extent
from tests.unit.codegen.test_reef_shares import softmax
from tests.unit.codegen.test_reef_sums import reduction

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


def test_sums_are_of_neighbouring_dimensions_and_of_few_values() -> None:
    scales = (0.05, 0.05)
    assert against(reduction("mean", (65535, 2048, 1, 1), (1, 2, 3), scales)) == []
    for kind in ("mean", "sum"):
        far = reduction(kind, (2, 3, 4, 5), (1, 3), scales)
        assert against(far) == ["apart is 1, at most 0"]
        many = reduction(kind, (1, 2049, 1, 8), (1,), scales)
        assert against(many) == ["reduced is 2049, at most 2048"]
        tall = reduction(kind, (65536, 2), (1,), scales)
        assert against(tall) == ["rows is 65536, at most 65535"]


def test_shares_are_of_int8_values_and_not_of_too_many_rows() -> None:
    assert against(softmax((65535, 4095), 0.1)) == []
    assert against(softmax((65536, 2), 0.1)) == ["rows is 65536, at most 65535"]
    graph = softmax((4, 10), 0.1)
    x, y = graph.tensors
    wide = replace(graph, tensors=(x, replace(y, dtype="int16")))
    assert against(wide) == ["'y' is int16, and softmax is of int8 there"]
