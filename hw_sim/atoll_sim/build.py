"""Build the executable model of a chip with Verilator, once for each content."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import cocotb_tools.config

from atoll.cache import cache_folder, only_builder
from atoll.progress import Progress, silent
from atoll.resolve.soc import ResolvedSoc
from atoll.scratch import temporary_folder
from atoll_sim import shadow
from atoll_sim.build_tools import call_tool, make_variables
from atoll_sim.chip import Chip
from atoll_sim.generate import generate, sources
from atoll_sim.platform import plan_chip
from atoll_sim.rtl_faults import blame_accelerators
from atoll_sim.rtl_sources import RTL
from atoll_sim.waves.formats import WaveFormat

HERE = Path(__file__).parent
CPLUSPLUS = (
    *(
        HERE / name
        for name in ("main.cpp", "monitor.cpp", "backdoor.cpp", "recorder.cpp", "judge.cpp")
    ),
    *shadow.SOURCES,
)
HEADERS = (
    *(HERE / name for name in ("monitor.h", "backdoor.h", "recorder.h", "judge.h", "tables.h")),
    HERE / "faults" / "fault_task.h",
    *shadow.HEADERS,
)
TOP = "atoll_chip"
FAULTS = (
    *(HERE / "faults" / name for name in ("fault_main.cpp", "fault_task.cpp")),
    HERE / "backdoor.cpp",
)
# Only these signals can be reached from outside; Verilator optimises the rest freely.
VISIBLE = {
    TOP: ("rst_ni", "doorbell_o"),
    "atoll_memory_bank": ("rows_q",),
}
VISIBLE_HOST = {
    TOP: (
        *("host_toggle_i", "host_we_i", "host_addr_i", "host_wdata_i"),
        *("host_done_o", "host_rdata_o", "host_resp_o", "host_irq_o"),
    )
}
VERILATOR_FLAGS = (
    *("--cc", "--exe", "--vpi", "--prefix", f"V{TOP}", "--top-module", TOP, "-o", "model"),
    *("--no-timing", "--timescale", "1ns/1ps", "--assert", "-O3", "--output-split", "0"),
    *("--x-assign", "fast", "--x-initial", "fast"),
)
COMPILER_FLAGS = "-std=c++20 -DVL_TIME_CONTEXT"
MAKE_FLAGS = ("OPT_FAST=-O2", "OPT_GLOBAL=-O2", "OPT_SLOW=-O0")
WHAT = "the simulation"


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that decides what is built.

    Attributes:
        generated: text of the generated files by name.
        rtl: SystemVerilog sources, packages first.
        flags: of Verilator.
        cplusplus: sources of the simulator's main.
    """

    generated: Mapping[str, str]
    rtl: tuple[Path, ...]
    flags: tuple[str, ...]
    cplusplus: tuple[Path, ...]

    def digest(self) -> str:
        """Return a name for this content, the same wherever the files lie."""
        tools = (version("verilator"), version("cocotb"), str(cocotb_tools.config.libs_dir))
        settings = (tools, self.flags, COMPILER_FLAGS, MAKE_FLAGS, _compiler_version())
        digest = hashlib.sha256(repr((settings, sorted(self.generated.items()))).encode())
        settled = (*sorted(RTL.glob("*.svh")), RTL / "lint.vlt", *HEADERS)
        for path in (*self.rtl, *settled, *self.cplusplus):
            digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
        return digest.hexdigest()[:20]


def build_model(
    soc: ResolvedSoc,
    *,
    external_host: bool = False,
    waves: WaveFormat | None = None,
    faults: bool = False,
    loadable: bool = False,
    progress: Progress = silent,
) -> Path:
    """Return the executable model of `soc`, from the cache if the same was built before.

    Args:
        soc: the chip.
        external_host: leave the cores out; see `platform.plan_chip`.
        waves: able to write waveforms of this format, which costs speed.
        faults: a model for `faults.campaign`, with its own main and no Python.
        loadable: `model --judge` may exchange the windows of the firewalls.
        progress: is told what is being done, if it takes time.

    Raises:
        SimulationError: the chip cannot be simulated.
        ToolchainError: a tool is missing or fails.
    """
    planned = plan_chip(soc, external_host=external_host)
    chip = replace(planned, waves=waves is not None, faults=faults, loadable=loadable)
    inputs = _inputs(chip, waves)
    final = cache_folder() / "chips" / f"{soc.name}-{inputs.digest()}"
    with only_builder(final):
        if not _intact(final):
            with temporary_folder() as folder:
                _build(folder / "new", inputs, soc, progress)
                shutil.rmtree(final, ignore_errors=True)
                (folder / "new").rename(final)
    return final / "model"


def _inputs(chip: Chip, waves: WaveFormat | None) -> Inputs:
    visible = ["`verilator_config"]
    for table in (VISIBLE, VISIBLE_HOST if chip.external_host else {}):
        for module, names in table.items():
            visible += [f'public_flat_rw -module "{module}" -var "{name}"' for name in names]
    for master in chip.masters if chip.loadable else ():
        for kind in ("readable", "writable"):
            visible.append(f'public_flat_rw -module "{TOP}" -var "{master.signal}_{kind}"')
    return Inputs(
        generated={**generate(chip), "visible.vlt": "\n".join(visible) + "\n"},
        rtl=sources(chip),
        flags=(*VERILATOR_FLAGS, *((f"--trace-{waves}",) if waves else ())),
        cplusplus=FAULTS if chip.faults else CPLUSPLUS,
    )


def _build(folder: Path, inputs: Inputs, soc: ResolvedSoc, progress: Progress) -> None:
    folder.mkdir()
    for file, text in inputs.generated.items():
        (folder / file).write_text(text)
    libraries = cocotb_tools.config.libs_dir
    link = f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator -rdynamic"
    files = (RTL / "lint.vlt", folder / "visible.vlt", *inputs.rtl, folder / f"{TOP}.sv")
    verilate = ["verilator", *inputs.flags, f"-I{RTL}", "-Mdir", str(folder / "obj")]
    verilate += ["-CFLAGS", f"{COMPILER_FLAGS} -I{HERE} -I{folder}", "-LDFLAGS", link]
    verilate += map(str, (*files, *inputs.cplusplus))
    title = f"building the model of '{soc.name}': step"
    progress(f"{title} 1 of 3, Verilator (kept for later runs)")
    with blame_accelerators(soc, folder / f"{TOP}.sv"):
        call_tool(verilate, WHAT)
    make = ["make", "-s", "-j2", "-C", f"{folder}/obj", "-f", f"V{TOP}.mk", *MAKE_FLAGS]
    make += make_variables()
    count = call_tool([*make, "-n"], WHAT).count(" -c ")
    progress(f"{title} 2 of 3, C++ compiler (kept for later runs)")

    def watch() -> None:
        done = len(list((folder / "obj").glob("*.o")))
        step = f"2 of 3, C++ file {done + 1} of {count}" if done < count else "3 of 3, linker"
        progress(f"{title} {step} (kept for later runs)")

    call_tool(make, WHAT, watch)
    (folder / "obj" / "model").replace(folder / "model")
    shutil.rmtree(folder / "obj")
    (folder / "complete.json").write_text(json.dumps({"model": _sha256(folder / "model")}))


def _intact(final: Path) -> bool:
    try:
        marker = json.loads((final / "complete.json").read_text())
        return bool(marker["model"] == _sha256(final / "model"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _compiler_version() -> str:
    compiler = os.environ.get("CXX", "g++")
    return call_tool([compiler, "--version"], WHAT).splitlines()[0]
