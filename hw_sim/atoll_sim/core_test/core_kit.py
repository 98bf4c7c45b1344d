# SPDX-License-Identifier: Apache-2.0
"""Put a conformance run together: a chip around the core, its program, its adapter alone in RTL."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.bsp.core_images import script_name
from atoll.bsp.linker import linker_files
from atoll.bsp.render import FOLDER
from atoll.bsp.startup import startup_files
from atoll.bsp.toolchain import Link, find_toolchain
from atoll.diagnostics.errors import SimulationError, ToolchainError
from atoll.diagnostics.progress import Progress, silent
from atoll.records import dataclass
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import write_text
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.module import build_alone
from atoll_sim.build.verilate import kept_warnings, notes_of
from atoll_sim.chip.generate import BUS_SOURCES
from atoll_sim.chip.rtl_cores import (
    core_faults,
    parameters_of,
)
from atoll_sim.chip.sources import (
    RTL,
    read_folders,
    source_faults,
)
from atoll_sim.core_test.layout import CODE, DATA, MEMORY, header
from atoll_sim.core_test.trial import PartRun, Promise, Task, faults_of
from atoll_sim.model.process import (
    LOG,
    bench_environment,
    reading_from,
    run_logged,
    said_notes,
    unfinished_error,
)

BEAT = 8
MOST_CYCLES = 400_000
CHIP = """
soc: core_test
version: 1
devices:
  core: {{kind: cpu, core: {core}, isa: {isa}, stack: {{memory: ram, size: 1 KiB}}}}
memories:
  rom: {{origin: {code:#x}, size: {size}, kind: rom}}
  ram: {{origin: {data:#x}, size: {size}, kind: ram, width: 8}}
pools:
  constants: {{memory: rom, role: constants, reach: {{core: ro}}}}
  work: {{memory: ram, role: workspace, reach: {{core: rw}}}}
host: core
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the adapter of a core did.

    Attributes:
        trials: runs of its program's parts, each with what is wrong.
        notes: what Verilator warned of in the RTL, and what the RTL printed.
    """

    core: str
    isa: str
    module: str
    trials: Sequence[tuple[PartRun, tuple[str, ...]]]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing is wrong."""
        return not any(faults for _, faults in self.trials)


def run_core_test(
    core: str,
    isa: str,
    *,
    seed: int = 1,
    toolchain: str | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Hold the adapter of `core` against the bus.

    Args:
        core: name of an installed core, or an absolute path of its description.
        isa: the instruction set that it has in the test.
        seed: of the bus's waits.
        toolchain: that of the program.
        progress: is told what is being done.

    Raises:
        DescriptionError: the description of the core is wrong.
        SimulationError: E080, E113, a source is not there; E087, the simulation broke off.
        ToolchainError: a tool is missing, or refuses the RTL or the program.
    """
    with temporary_folder() as folder:
        words = {"core": json.dumps(core), "isa": json.dumps(isa)}
        text = CHIP.format(**words, code=CODE, data=DATA, size=MEMORY)
        write_text(folder / "core_test.yaml", text)
        soc = load_soc(folder / "core_test.yaml")
        cpu = soc.host_cpu
        if not cpu.spec.rtl_module:
            raise SimulationError(
                "E080",
                f"core '{cpu.spec.name}' has no RTL, and so no adapter to test",
                remedy="give its YAML 'rtl', or test another core",
            )
        if faults := (*core_faults(cpu), *source_faults(soc)):
            raise SimulationError.all(faults)
        progress("compiling the program")
        image = _image(soc, folder / "program", toolchain)
        progress("building the adapter in RTL (kept for later runs)")
        model = _model(soc)
        progress("simulating")
        task = Task(beat=BEAT, memories=image, seed=seed, most_cycles=MOST_CYCLES)
        runs = _simulate(model, task, soc, folder / "run")
        notes = (*notes_of(soc, kept_warnings(model)), *said_notes(folder / "run"))
    promise = Promise(
        reset=cpu.reset_address,
        lines=(cpu.spec.bus_error_line, *cpu.spec.lines),
        traps=cpu.spec.traps,
    )
    judged = tuple(
        (run, tuple(f"core {cpu.spec.name}: {fault} (A14)" for fault in faults_of(run, promise)))
        for run in runs
    )
    return Outcome(
        core=cpu.spec.name, isa=isa, module=cpu.spec.rtl_module, trials=judged, notes=notes
    )


def _image(soc: ResolvedSoc, folder: Path, toolchain: str | None) -> dict[int, bytes]:
    """Return what the memories hold at first."""
    cpu = soc.host_cpu
    lines = {
        "BUS_ERROR_LINE": cpu.spec.bus_error_line,
        "FIRST_LINE": cpu.spec.first_line,
        "LAST_LINE": cpu.spec.last_line,
    }
    shipped = (Path(__file__).with_name("program.c"), FOLDER / "runtime" / "memory.c")
    files = {
        **startup_files(soc, (), {}),
        **linker_files(soc, (), {}),
        **{path.name: path.read_text(encoding="utf-8") for path in shipped},
        "core_test.h": header(lines),
    }
    folder.mkdir()
    for name, text in files.items():
        write_text(folder / name, text)
    tools = find_toolchain(cpu, toolchain)
    objects = []
    for source in (name for name in files if name.endswith((".c", ".S"))):
        objects.append(f"{source.replace('.', '_')}.o")
        tools.compile(source, folder / objects[-1], folder=folder)
    link = Link(
        folder=folder,
        objects=tuple(objects),
        script=script_name(soc, cpu),
        elf="program.elf",
        map="program.map",
        objects_folder=".",
    )
    if log := tools.link(link):
        raise ToolchainError(
            "E073",
            f"the program of the core test cannot be linked:\n{log}",
            remedy="define what is missing in the core's start-up code",
        )
    memories = {CODE: bytearray(MEMORY), DATA: bytearray(random.Random(0).randbytes(MEMORY))}
    with (folder / link.elf).open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            at = segment["p_paddr"] - CODE
            if segment["p_filesz"]:
                memories[CODE][at : at + segment["p_filesz"]] = segment.data()
    return {origin: bytes(content) for origin, content in memories.items()}


def _model(soc: ResolvedSoc) -> Path:
    return build_alone(
        soc.host_cpu.spec,
        soc.host_cpu.spec.rtl_module,
        soc,
        beside=[RTL / f"{name}.sv" for name in BUS_SOURCES],
        parameters={**parameters_of(soc.host_cpu), "DataBytes": str(BEAT)},
    )


def _simulate(model: Path, task: Task, soc: ResolvedSoc, folder: Path) -> tuple[PartRun, ...]:
    folder.mkdir()
    task.write(folder)
    module = soc.host_cpu.spec.rtl_module
    environment = {
        **bench_environment("atoll_sim.core_test.bench", module),
        **reading_from(read_folders(soc)),
    }
    status = run_logged([str(model)], folder, environment, LOG)
    runs = PartRun.read_all(folder)
    if status or not runs:
        raise unfinished_error(folder, status, soc)
    return runs
