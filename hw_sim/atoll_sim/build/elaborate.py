# SPDX-License-Identifier: Apache-2.0
"""Let Verilator elaborate a chip without building it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.diagnostics.errors import Fault, SimulationError, SourceLoc
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import TOP, WHAT
from atoll_sim.build.tools import call_tool
from atoll_sim.build.verilate import notes_of, verilate
from atoll_sim.chip.blame import blame_devices, has_bits_enough
from atoll_sim.chip.checks import check_cores, check_engines
from atoll_sim.chip.generate import defines, generate, in_order, includes, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import (
    FOLDERS,
    READ_INTO_MEMORY,
    RTL,
    Rtl,
    described_rtl,
    included_files,
    read_folders,
    rtl_includes,
    rtl_sources,
)

FLAGS = (
    "--lint-only",
    "--no-timing",
    "--timescale",
    "1ns/1ps",
    "--assert",
    "--relative-includes",
    "--top-module",
    TOP,
)


def elaborate(soc: ResolvedSoc) -> tuple[str, ...]:
    """Find out whether the RTL of `soc` fits together; return what Verilator warns of.

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
            command = ["verilator", *FLAGS, f"-I{RTL}", *folders, *map(str, files)]
            warnings = verilate(command, WHAT, folder, lambda each: has_bits_enough(soc, each.text))
        if faults := tuple(_absent_files(soc, folders)):
            raise SimulationError.all(faults)
    return notes_of(soc, warnings)


_MARK = re.compile(r'`line ([0-9]+) "(.+)" [0-9]')


def _absent_files(soc: ResolvedSoc, options: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each file that sources read into a memory, by its name, and that is absent.

    Those whose name is a parameter are only known when a simulation reads them.
    """
    folders = read_folders(soc)
    for spec, kind, device in described_rtl(soc):
        sources = [path for path in rtl_sources(spec) if path.parent not in FOLDERS]
        readers = [*sources, *included_files(sources, rtl_includes(spec))]
        if not any("$readmem" in path.read_text(errors="replace") for path in readers):
            continue
        plain = [str(path) for path in sources if path.suffix != ".vlt"]
        text = call_tool(["verilator", "-E", "--relative-includes", *options, *plain], WHAT)
        number, file = 0, ""
        for line in text.splitlines():
            if mark := _MARK.match(line):
                number, file = int(mark.group(1)) - 1, mark.group(2)
                continue
            number += 1
            for name in READ_INTO_MEMORY.findall(line):
                if not any((folder / name).is_file() for folder in (*folders, Path.cwd())):
                    yield Fault(
                        code="E255",
                        message=f"the RTL of {kind} '{spec.name}' reads '{name}' into a memory, and"
                        " there is no such file",
                        at=SourceLoc(Path(file), max(number, 1), 1),
                        other=_place_of(spec, kind, device),
                        remedy=f"put it beside the RTL that names it, or beside the {kind}'s YAML",
                    )


def _place_of(spec: Rtl, kind: str, device: Cpu | Engine) -> tuple[SourceLoc, str] | None:
    place = spec.places.get("rtl.module") or device.at
    return (place, f"{kind} '{spec.name}' is described here") if place else None
