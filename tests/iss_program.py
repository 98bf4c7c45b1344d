# SPDX-License-Identifier: Apache-2.0
"""Run a small program in assembly on an instruction-set simulator."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.small_program import link, request

from atoll.isa.find import instruction_set
from atoll.resolve import load_soc
from atoll.resolve.memory_views import core_as_it_sees
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.trace.simulation import SimResult

if TYPE_CHECKING:  # it needs Unicorn
    from atoll_sim.iss.tally import Tally


def script_of(begin: int) -> str:
    """Return a linker script of a program that begins at an address; its tables are aligned."""
    return f"SECTIONS {{ . = {begin}; .text : {{ *(.text*) }} .table : {{ *(.table) }} }}"


def run_program(
    folder: Path,
    core: str,
    isa: str,
    text: str,
    *,
    written_for: str = "",
    overrides: Sequence[str] = (),
    tally: "Tally | None" = None,
    **changes: object,
) -> SimResult:
    """Assemble `text`, which begins at `_start`, and run it on lagoon with a core.

    The assembler takes `written_for` instead of `isa`, if it is given; `tally` is told events.
    """
    soc = load_soc("lagoon", (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}", *overrides))
    source = folder / "test.S"
    source.write_text(text)
    reset = core_as_it_sees(soc, soc.host_cpu).reset_address
    elf = link(source, script_of(reset), folder, instruction_set(written_for or isa))
    return simulate(
        request(soc, elf, **changes), lambda memory: make_models(soc, memory), tally=tally
    )
