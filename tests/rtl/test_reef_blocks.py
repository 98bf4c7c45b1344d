# SPDX-License-Identifier: Apache-2.0
"""Blocks of the accelerator's RTL on their own, and its ports between independent AXI peers."""

import pytest
from tests.benches.reef_sources import PORTS_TOP, REEF, REQUANTIZE_BENCH, STREAM_BENCH, WRITER_BENCH
from tests.benches.runner import run_bench
from tests.effort import in_gate

pytestmark = pytest.mark.rtl


@pytest.mark.parametrize(("lanes", "scalers"), in_gate([(8, 8), (8, 2), (16, 4)], -1))
def test_requantize(lanes: int, scalers: int) -> None:
    parameters = {"OutputLanes": lanes, "Requantisers": scalers}
    run_bench("reef_requantize", "reef_requantize_bench", REQUANTIZE_BENCH, parameters)


@pytest.mark.parametrize(
    ("lanes", "data_bytes"), [((8, 8), 8), pytest.param((4, 16), 16, marks=pytest.mark.slow)]
)
def test_stream(lanes: tuple[int, int], data_bytes: int) -> None:
    parameters = {"InputLanes": lanes[0], "OutputLanes": lanes[1], "DataBytes": data_bytes}
    run_bench("reef_stream", "reef_stream_bench", STREAM_BENCH, parameters)


@pytest.mark.parametrize(
    ("lanes", "scalers", "data_bytes"),
    in_gate([(8, 8, 8), (8, 2, 8), pytest.param(16, 4, 16, marks=pytest.mark.slow)], 1),
)
def test_writer(lanes: int, scalers: int, data_bytes: int) -> None:
    parameters = {"OutputLanes": lanes, "Requantisers": scalers, "DataBytes": data_bytes}
    run_bench("reef_writer", "reef_writer_bench", WRITER_BENCH, parameters)


def test_ports() -> None:
    run_bench("reef_ports", "reef_ports_bench", REEF, generated=PORTS_TOP)
