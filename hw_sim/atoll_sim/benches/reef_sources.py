"""RTL sources of reef in compile order, for the benches' builds."""

REEF = (
    *("reef_pkg.sv", "reef_fifo.sv", "reef_registers.sv", "reef_control.sv", "reef_fetch.sv"),
    *("reef_lanes.sv", "reef_pixels.sv", "reef_sequencer.sv", "reef_commands.sv"),
    *("reef_reader.sv", "reef_aligner.sv", "reef_parameters.sv", "reef_weights.sv"),
    *("reef_array.sv", "reef_requantize.sv", "reef_datapath.sv", "reef_writer.sv", "reef.sv"),
)
SYSTEM_BENCH = (*REEF, "reef_memory.sv", "reef_system_bench.sv")
PORTS_BENCH = (*REEF, "reef_bench.sv")
STREAM_BENCH = (
    *("reef_pkg.sv", "reef_fifo.sv", "reef_reader.sv", "reef_aligner.sv"),
    "reef_stream_bench.sv",
)
WRITER_BENCH = ("reef_pkg.sv", "reef_fifo.sv", "reef_writer.sv", "reef_writer_bench.sv")
