# SPDX-License-Identifier: Apache-2.0
"""Build the executable model of a chip with Verilator."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from atoll.diagnostics.progress import Progress, silent
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.build.verilator import RTL_IO, Design, build_executable
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.chip.blame import blame_devices, has_bits_enough
from atoll_sim.chip.checks import check_cores, check_engines, check_memories
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import (
    defines,
    generate,
    includes,
    own_includes,
    sources,
    versions,
)
from atoll_sim.chip.plan import NOBODY, plan_chip
from atoll_sim.chip.sources import RTL, has_case_pragmas
from atoll_sim.shadow import memory as shadow

TOP = "atoll_chip"
WHAT = "the simulation"
PLACE = "chips/"
"""Folder below the cache."""

MODEL = Path(__file__).parents[1] / "model"
FAULTS = MODEL.with_name("faults")
MAIN = (MODEL / "main.cpp", MODEL / "memory_map.cpp")
MAIN_WITH_WAVES = (*MAIN, MODEL / "recorder.cpp")
COMMON = (*(MODEL / name for name in ("monitor.cpp", "backdoor.cpp", "judge.cpp")), RTL_IO)
STAND_INS = MODEL / "stand_in.cpp"
MAIN_OF_FAULTS = (FAULTS / "fault_main.cpp", MODEL / "memory_map.cpp")
COMMON_OF_FAULTS = (FAULTS / "fault_task.cpp", MODEL / "backdoor.cpp", RTL_IO)
HEADERS = (*MODEL.glob("*.h"), *FAULTS.glob("*.h"), *shadow.HEADERS, *RTL.glob("*.svh"))
# Only these signals can be reached from outside; Verilator optimises the rest freely.
VISIBLE = {
    TOP: ("rst_ni", "doorbell_o"),
    "atoll_memory_bank": ("rows_q",),
}
COVERED = ("--coverage-line", "--coverage-toggle", "--coverage-user")
UNCOVERED = ("atoll_chip", "atoll_monitor", "atoll_*_monitor", "atoll_console")
"""Files of modules that only join others, or that only simulation has."""
VISIBLE_BENCH = (
    'public_flat_rd -module "atoll_chip" -var "*"',
    'public_flat_rw -module "atoll_chip" -var "bench_*"',
)
VISIBLE_HOST = {
    TOP: (
        *("host_toggle_i", "host_we_i", "host_addr_i", "host_wdata_i"),
        *("host_done_o", "host_rdata_o", "host_resp_o", "host_irq_o"),
    )
}


def build_model(
    soc: ResolvedSoc,
    *,
    external_host: bool = False,
    stand_ins: frozenset[str] = NOBODY,
    waves: WaveFormat | None = None,
    coverage: bool = False,
    faults: bool = False,
    bench: bool = False,
    progress: Progress = silent,
) -> Path:
    """Return the executable model of `soc`, from the cache if the same was built before.

    Args:
        soc: the chip.
        external_host: leave the cores out; see `chip.plan.plan_chip`.
        stand_ins: accelerators that software models play.
        waves: able to write waveforms of this format, which costs speed.
        coverage: counts which lines and bits of its RTL a run reaches, which costs more.
        faults: a model for `faults.campaign`, with its own main and no Python.
        bench: signals of the top level are there for a user's bench, which costs speed.
        progress: is told what is being done, if it takes time.

    Raises:
        SimulationError: the chip cannot be simulated.
        ToolchainError: a tool is missing or fails.
    """
    chip = _chip(soc, external_host=external_host, stand_ins=stand_ins)
    chip = replace(chip, waves=waves is not None, faults=faults, bench=bench)
    title = f"building the model of '{soc.name}'"
    return build_executable(
        design_of(chip, waves, coverage=coverage),
        PLACE,
        tell=lambda step, /, *, left=None: progress(f"{title}: {step}", left=left),
        blame=partial(blame_devices, soc),
    )


def name_of(soc: ResolvedSoc, *, external_host: bool, stand_ins: frozenset[str]) -> str:
    """Return the folder below the cache of what `build_model` returns for the same.

    Raises:
        SimulationError: the chip cannot be simulated.
    """
    chip = _chip(soc, external_host=external_host, stand_ins=stand_ins)
    return f"{PLACE}{design_of(chip, None).digest()}"


def _chip(soc: ResolvedSoc, *, external_host: bool, stand_ins: frozenset[str]) -> Chip:
    if not external_host:
        check_cores(soc)
    check_engines(soc, stand_ins)
    check_memories(soc)
    return plan_chip(soc, external_host=external_host, stand_ins=stand_ins)


def design_of(chip: Chip, waves: WaveFormat | None, *, coverage: bool = False) -> Design:
    """Return what decides about the model of `chip`."""
    return Design(
        top=TOP,
        what=WHAT,
        rtl=sources(chip),
        generated={
            **generate(chip),
            "visible.vlt": _visible(chip),
            **({"covered.vlt": _counting()} if coverage else {}),
        },
        cplusplus=(*_main(chip), *_stand_ins(chip)),
        common=COMMON_OF_FAULTS if chip.faults else (*COMMON, *shadow.SOURCES),
        common_headers=shadow.GENERATED,
        headers=HEADERS,
        includes=(RTL, MODEL, FAULTS, shadow.HERE),
        packages=versions(chip),
        rtl_includes=includes(chip),
        included=own_includes(chip),
        tolerant=True,
        harmless=lambda warning: has_bits_enough(chip.soc, warning.text),
        defines=defines(chip),
        flags=(
            "--no-timing",
            *((f"--trace-{waves}",) if waves else ()),
            *(COVERED if coverage else ()),
            *(("--no-assert-case",) if _promises(chip) else ()),
        ),
        compiler_flags="-std=c++20 -DVL_TIME_CONTEXT",
        optimisation="-O3",
        make_flags=("OPT_GLOBAL=-O2",),
    )


def _promises(chip: Chip) -> bool:
    return has_case_pragmas((*sources(chip), *own_includes(chip)))


def _main(chip: Chip) -> tuple[Path, ...]:
    if chip.faults:
        return MAIN_OF_FAULTS
    return MAIN_WITH_WAVES if chip.waves else MAIN


def _stand_ins(chip: Chip) -> tuple[Path, ...]:
    return (STAND_INS,) if any(master.stand_in for master in chip.masters) else ()


def _visible(chip: Chip) -> str:
    """Return the configuration of Verilator that lets the model's main reach some signals."""
    lines = ["`verilator_config"]
    for table in (VISIBLE, VISIBLE_HOST if chip.external_host else {}):
        for module, names in table.items():
            lines += [f'public_flat_rw -module "{module}" -var "{name}"' for name in names]
    if chip.bench:
        lines += VISIBLE_BENCH
    return "\n".join(lines) + "\n"


def _counting() -> str:
    """Return the configuration that keeps what is no hardware out of the counts."""
    lines = (f'coverage_off -file "*/{module}.sv"' for module in UNCOVERED)
    return "\n".join(("`verilator_config", *lines)) + "\n"
