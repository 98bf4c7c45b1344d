"""Whole operators on the accelerator's RTL."""

import pytest

from atoll_sim.runner import run_bench

SOURCES = (
    *("reef_pkg.sv", "reef_fifo.sv", "reef_registers.sv", "reef_control.sv", "reef_fetch.sv"),
    *("reef_lanes.sv", "reef_pixels.sv", "reef_sequencer.sv", "reef_commands.sv"),
    *("reef_reader.sv", "reef_aligner.sv", "reef_parameters.sv", "reef_weights.sv"),
    *("reef_array.sv", "reef_requantize.sv", "reef_datapath.sv", "reef_writer.sv", "reef.sv"),
)
SYSTEM = (*SOURCES, "reef_memory.sv", "reef_system_bench.sv")


@pytest.mark.rtl
def test_operators() -> None:
    run_bench("reef_operators", "reef_system_bench", SYSTEM)
