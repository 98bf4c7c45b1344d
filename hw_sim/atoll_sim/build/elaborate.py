# SPDX-License-Identifier: Apache-2.0
"""Let Verilator elaborate a chip without building it."""

from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import TOP, WHAT
from atoll_sim.build.tools import call_tool
from atoll_sim.chip.blame import blame_devices
from atoll_sim.chip.checks import check_cores, check_engines
from atoll_sim.chip.generate import defines, generate, in_order, includes, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import RTL

FLAGS = ("--lint-only", "--no-timing", "--timescale", "1ns/1ps", "--assert", "--top-module", TOP)


def elaborate(soc: ResolvedSoc) -> None:
    """Find out whether the RTL of `soc` fits together.

    Raises:
        SimulationError: E080 to E083, E113; the chip cannot be simulated.
        ToolchainError: E070, E077, E114; Verilator is missing, or refuses the RTL.
    """
    check_cores(soc)
    absent = frozenset(engine.name for engine in soc.engines if not engine.spec.rtl_module)
    check_engines(soc, absent)
    chip = plan_chip(soc, stand_ins=absent)
    with temporary_folder() as folder:
        texts = generate(chip)
        for file, text in texts.items():
            (folder / file).write_text(text)
        files = (RTL / "lint.vlt", *in_order(texts, sources(chip), folder))
        with blame_devices(soc, folder / f"{TOP}.sv"):
            folders = [f"+incdir+{path}" for path in includes(chip)]
            folders += [f"+define+{name}={text}" for name, text in defines(chip).items()]
            call_tool(["verilator", *FLAGS, f"-I{RTL}", *folders, *map(str, files)], WHAT)
