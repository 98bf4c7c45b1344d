"""Blocks of the accelerator's RTL on their own, and its ports between independent AXI peers."""

import pytest
from tests.benches.reef_sources import PORTS_BENCH, STREAM_BENCH, WRITER_BENCH
from tests.benches.runner import run_bench

pytestmark = pytest.mark.rtl


def test_requantize() -> None:
    run_bench("reef_requantize", "reef_requantize", ("reef_requantize.sv",))


@pytest.mark.parametrize(
    ("lanes", "data_bytes"), [((8, 8), 8), pytest.param((4, 16), 16, marks=pytest.mark.slow)]
)
def test_stream(lanes: tuple[int, int], data_bytes: int) -> None:
    parameters = {"InputLanes": lanes[0], "OutputLanes": lanes[1], "DataBytes": data_bytes}
    run_bench("reef_stream", "reef_stream_bench", STREAM_BENCH, parameters)


@pytest.mark.parametrize(
    ("lanes", "data_bytes"), [(8, 8), pytest.param(16, 16, marks=pytest.mark.slow)]
)
def test_writer(lanes: int, data_bytes: int) -> None:
    parameters = {"OutputLanes": lanes, "DataBytes": data_bytes}
    run_bench("reef_writer", "reef_writer_bench", WRITER_BENCH, parameters)


def test_ports() -> None:
    run_bench("reef_ports", "reef_bench", PORTS_BENCH)
