"""RTL sources of ripple in compile order, for the benches' builds."""

from pathlib import Path

from atoll.description.accelerators import find_accelerator, load_accelerator

RIPPLE = load_accelerator(find_accelerator("ripple", Path(), None), None).model.rtl.sources
RIPPLE_BENCH = (*RIPPLE, "engine_memory.sv", "ripple_bench.sv")
