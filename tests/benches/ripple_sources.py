# SPDX-License-Identifier: Apache-2.0
"""RTL sources of ripple in compile order, for the benches' builds."""

from pathlib import Path

from tests.benches.engine_bench import engine_bench

from atoll.description.accelerator_files import find_accelerator, load_accelerator

_RTL = load_accelerator(find_accelerator("ripple", Path(), None), None).model.rtl
assert _RTL
RIPPLE = _RTL.sources
RIPPLE_BENCH = (*RIPPLE, "engine_memory.sv")
RIPPLE_TOP = engine_bench("system_bench", "ripple", {"DataBytes": 8, "Turns": 1})
