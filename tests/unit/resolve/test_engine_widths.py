# SPDX-License-Identifier: Apache-2.0
"""Engines know how many bytes a cycle their memories deliver, for estimates."""

from fractions import Fraction

import pytest

from atoll.resolve import load_soc
from atoll.resolve.export import from_json, to_json
from atoll_sim.engines.common.transfers import beat_cycles


@pytest.mark.parametrize(
    ("soc", "overrides", "widths"),
    [
        ("lagoon", (), {"npu": (4, 8)}),
        ("lagoon", ("memories.sram.width=4", "memories.flash.width=16"), {"npu": (16, 4)}),
        ("lagoon", ("pools.weights.read_bandwidth=2",), {"npu": (2, 8)}),
        ("lagoon", ("devices.npu.clock=128 MHz",), {"npu": (3.125, 6.25)}),
        ("lagoon", ("devices.npu.clock=250 MHz",), {"npu": (1.6, 3.2)}),
        ("lagoon", ("devices.npu.clock=1 GHz",), {"npu": (0.4, 0.8)}),
        ("lagoon", ("devices.npu.clock=50 MHz",), {"npu": (8, 16)}),
        ("lagoon", ("devices.npu.clock=200 MHz", "memories.flash.width=16"), {"npu": (4, 4)}),
        ("atoll2", (), {"npu_conv": (8, 8), "npu_dw": (8, 8)}),
        ("twin", (), {"npu_large": (8, 16), "npu_small": (8, 8), "dma": (8, 8)}),
    ],
)
def test_widths(
    soc: str, overrides: tuple[str, ...], widths: dict[str, tuple[float, float]]
) -> None:
    engines = load_soc(soc, overrides).engines
    found = {
        each.name: (float(each.constants_width), float(each.workspace_width)) for each in engines
    }
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


@pytest.mark.parametrize(
    ("size", "width", "clock", "cycles"),
    [(8, 8, 1, 1), (8, 4, 1, 2), (3, 4, 8, 8), (8, 4, "5/2", 5), (8, 8, "2/3", 1)],
)
def test_a_beat_takes_whole_cycles_of_the_bus(
    size: int, width: int, clock: int | str, cycles: int
) -> None:
    """A few bytes of a beat take as long as all that the memory moves meanwhile."""
    assert beat_cycles(size, width / Fraction(clock), Fraction(clock)) == cycles


def test_a_fraction_comes_back_from_its_text() -> None:
    soc = load_soc("lagoon", ("devices.npu.clock=250 MHz",))
    (reef,) = from_json(to_json(soc)).engines
    assert reef == soc.engines[0]
    assert reef.constants_width == Fraction(8, 5)
