# SPDX-License-Identifier: Apache-2.0
"""RTL sources of reef in compile order, for the benches' builds."""

from tests.benches.engine_bench import engine_bench

from atoll.resolve import load_soc

REEF = load_soc("lagoon").npus[0].spec.rtl_sources
SYSTEM_BENCH = (*REEF, "engine_memory.sv")
_SIZES = {"InputLanes": 8, "OutputLanes": 8, "WeightRows": 128, "DataBytes": 8, "LineColumns": 64}
SYSTEM_TOP = engine_bench("system_bench", "reef", {**_SIZES, "Requantisers": 8, "Vector": 2})
PORTS_TOP = engine_bench("ports_bench", "reef", _SIZES)
STREAM_BENCH = (
    *("engine_pkg.sv", "reef_pkg.sv", "atoll_fifo.sv", "engine_reader.sv", "reef_aligner.sv"),
    "reef_stream_bench.sv",
)
REQUANTIZE_BENCH = (
    *("reef_pkg.sv", "reef_scaler.sv", "reef_requantize.sv"),
    "reef_requantize_bench.sv",
)
WRITER_BENCH = (
    *("engine_pkg.sv", "reef_pkg.sv", "atoll_fifo.sv", "engine_write_port.sv", "reef_writer.sv"),
    "reef_writer_bench.sv",
)
