# SPDX-License-Identifier: Apache-2.0
"""Engines know how many bytes a cycle their memories deliver, for estimates."""

import pytest

from atoll.resolve import load_soc


@pytest.mark.parametrize(
    ("soc", "overrides", "widths"),
    [
        ("lagoon", (), {"npu": (4, 8)}),
        ("lagoon", ("memories.sram.width=4", "memories.flash.width=16"), {"npu": (16, 4)}),
        ("lagoon", ("pools.weights.read_bandwidth=2",), {"npu": (2, 8)}),
        ("lagoon", ("devices.npu.clock=100.1 MHz",), {"npu": (4, 8)}),
        ("lagoon", ("devices.npu.clock=250 MHz",), {"npu": (2, 3)}),
        ("lagoon", ("devices.npu.clock=1 GHz",), {"npu": (1, 1)}),
        ("lagoon", ("devices.npu.clock=50 MHz",), {"npu": (8, 16)}),
        ("lagoon", ("devices.npu.clock=200 MHz", "memories.flash.width=16"), {"npu": (4, 4)}),
        ("atoll2", (), {"npu_conv": (8, 8), "npu_dw": (8, 8)}),
        ("twin", (), {"npu_large": (8, 16), "npu_small": (8, 8), "dma": (8, 8)}),
    ],
)
def test_widths(soc: str, overrides: tuple[str, ...], widths: dict[str, tuple[int, int]]) -> None:
    engines = load_soc(soc, overrides).engines
    found = {each.name: (each.constants_width, each.workspace_width) for each in engines}
    assert found == widths


@pytest.mark.parametrize(
    ("soc", "overrides", "waits"),
    [
        ("lagoon", (), (2, 3)),
        ("lagoon", ("memories.flash.read_latency=6",), (6, 7)),
        ("lagoon", ("memories.flash.read_latency=6", "devices.npu.clock=50 MHz"), (3, 4)),
        ("lagoon", ("devices.npu.clock=150 MHz",), (3, 5)),
    ],
)
def test_latency(soc: str, overrides: tuple[str, ...], waits: tuple[int, int]) -> None:
    """Until the constants' memory answers; to change from that of activations to it and back."""
    (reef,) = load_soc(soc, overrides).engines
    assert (reef.constants_latency, reef.constants_wait) == waits
