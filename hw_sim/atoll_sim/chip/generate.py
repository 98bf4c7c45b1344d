# SPDX-License-Identifier: Apache-2.0
"""Write a planned chip down: its top level in SystemVerilog and its memory table in C++."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import AcceleratorSpec, CoreSpec
from atoll.utils.kept_templates import KeptTemplates
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.file_list import include_files
from atoll_sim.chip.ports import (
    CONTROL,
    DATA,
    IDENTIFIER_BITS,
    control_signals,
    data_signals,
    engine_wiring,
    identifiers_of,
    unit_wiring,
    watched_channels,
)
from atoll_sim.chip.rtl_cores import package_includes, package_sources, package_versions
from atoll_sim.chip.sources import (
    RTL,
    Rtl,
    compiled_sources,
    included_files,
    keyword_files,
    rtl_defines,
    rtl_includes,
    rtl_sources,
)
from atoll_sim.protocol.systemverilog import PACKAGE, protocol_package

TEMPLATES = {"atoll_chip.sv": "chip.sv.j2", "chip.h": "chip.h.j2"}
BUS_SOURCES = (
    *("atoll_bus_pkg", "atoll_arbiter", "atoll_memory_bank", "atoll_memory_port", "atoll_memory"),
    *("atoll_firewall", "atoll_demux", "atoll_word_port", "atoll_console", "atoll_guard"),
    *("atoll_reset_sync", "atoll_watchdog"),
    *("atoll_monitor", "atoll_doorbell", "atoll_fifo", "atoll_axi_burst"),
    "atoll_rest_clock",
    "atoll_external_host",
)
BENCH_SOURCES = ("atoll_monitor", "atoll_doorbell", "atoll_external_host")
"""Of these, what only the simulator needs."""

CROSSING_SOURCES = ("atoll_synchroniser", "atoll_async_fifo", "atoll_bus_crossing")
AXIL_ADAPTER = "atoll_bus_to_axil"
"""The adapter of a control port that has its own word access; the others share one."""

CROSSING_DEPTH = 16
"""Beats between two clocks: enough for one per cycle, whichever is the faster."""


def generate(chip: Chip) -> Mapping[str, str]:
    """Return the generated files of `chip` by name; equal chips give equal text."""
    environment = environment_of("atoll_sim.chip")
    environment.globals.update(
        range_of=lambda width: f"[{width - 1}:0]",
        controls=CONTROL,
        datas=DATA,
        control_signals=control_signals,
        data_signals=data_signals,
        engine_wiring=engine_wiring,
        unit_wiring=unit_wiring,
        identifiers_of=identifiers_of,
        identifier_bits=IDENTIFIER_BITS,
        watched_channels=watched_channels,
        crossing_depth=CROSSING_DEPTH,
    )
    made = {
        name: environment.get_template(template).render(chip=chip)
        for name, template in TEMPLATES.items()
    }
    others = {
        name: text for spec in described_parts(chip) for name, text in keyword_files(spec).items()
    }
    return {PACKAGE: protocol_package(), **made, **others}


def environment_of(package: str) -> Environment:
    """Return what fills the templates of a package."""
    return Environment(
        bytecode_cache=KeptTemplates(),
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def sources(chip: Chip) -> tuple[Path, ...]:
    """Return the sources of `chip` besides its own top level: waivers, packages, modules."""
    left_out = BENCH_SOURCES if chip.exported else ()
    names = [f"{name}.sv" for name in BUS_SOURCES if name not in left_out]
    names += [f"{name}.sv" for name in CROSSING_SOURCES] if len(chip.clocks) > 1 else []
    names += ["atoll_mailbox.sv"] if chip.mailboxes else []
    names += ["atoll_msip.sv"] if chip.software else []
    names += ["atoll_operator_name.sv"] if chip.waves else []
    names += ["atoll_view.sv"] if any(master.views for master in chip.masters) else []
    names += ["atoll_fault_port.sv"] if chip.faults else []
    names += ["atoll_throttle.sv"] if chip.throttled else []
    names += [f"{name}.sv" for name in dict.fromkeys((*_adapters(chip), *_monitors(chip)))]
    cores = _cores(chip)
    paths = [path for core in cores for path in package_sources(core)]
    paths += [RTL / name for name in names]
    paths += [path for core in cores for path in compiled_sources(core)]
    others: list[Rtl] = [*_units(chip), *_engines(chip)]
    for spec in others:
        paths += [*package_sources(spec), *compiled_sources(spec)]
    return tuple(sorted(dict.fromkeys(paths), key=lambda path: path.suffix != ".vlt"))


def _adapters(chip: Chip) -> Iterator[str]:
    """Yield what joins the accelerators to the bus."""
    for master in chip.masters:
        if master.unit and master.unit.rtl_interface:
            yield "atoll_unit_to_xif"
        if master.stand_in:
            yield "atoll_stand_in"
        elif master.npu:
            control = CONTROL[master.npu.spec.ports.control]
            yield control.adapter
            yield from ["atoll_word_access"] if control.adapter != AXIL_ADAPTER else []
            yield from (DATA[port.protocol].adapter for port in master.ports)
            known = (identifiers_of(master.npu.spec, port) for port in master.ports)
            yield from ["atoll_axi_ids"] if any(known) else []
            yield from ["atoll_merge"] if len(master.ports) > 1 else []


def _monitors(chip: Chip) -> Iterator[str]:
    """Yield what watches the ports of accelerators and function units."""
    for master in chip.masters:
        if master.npu and not master.stand_in and chip.watched:
            yield "atoll_device_monitor"
            yield from ["atoll_channel_monitor"] if master.ports else []
        if master.unit and master.core and chip.watched:
            yield "atoll_unit_monitor"


def includes(chip: Chip) -> tuple[Path, ...]:
    """Return the folders in which sources find what they include."""
    folders = [path for spec in described_parts(chip) for path in package_includes(spec)]
    folders += [path for spec in described_parts(chip) for path in rtl_includes(spec)]
    return tuple(dict.fromkeys(folders))


def own_includes(chip: Chip) -> tuple[Path, ...]:
    """Return the files that sources of descriptions include, which may change from run to run."""
    found: list[Path] = []
    for spec in described_parts(chip):
        folders = rtl_includes(spec)
        own = rtl_sources(spec)
        found += [path for path in own if path not in compiled_sources(spec)]
        found += [*include_files(folders), *included_files(own, folders)]
    return tuple(dict.fromkeys(found))


def defines(chip: Chip) -> Mapping[str, str]:
    """Return the macros of all sources, which hold for the whole chip."""
    return {
        name: text for spec in described_parts(chip) for name, text in rtl_defines(spec).items()
    }


def versions(chip: Chip) -> Mapping[str, str]:
    """Return the version of each Python package that brings sources."""
    found = (package_versions(spec) for spec in described_parts(chip))
    return {name: text for each in found for name, text in each.items()}


def described_parts(chip: Chip) -> list[Rtl]:
    """Return the descriptions of all that is built: cores, function units, accelerators."""
    return [*_cores(chip), *_units(chip), *_engines(chip)]


def _units(chip: Chip) -> list[FunctionUnit]:
    return [master.unit for master in chip.masters if master.unit]


def _engines(chip: Chip) -> list[AcceleratorSpec]:
    built = (master.npu for master in chip.masters if master.npu and not master.stand_in)
    return [npu.spec for npu in built]


def _cores(chip: Chip) -> list[CoreSpec]:
    return [master.core for master in chip.masters if master.core]


def in_order(generated: Iterable[str], rtl: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """Return all SystemVerilog, packages first.

    Args:
        generated: names of files in `folder`, SystemVerilog and others.
        rtl: packages first.
        folder: holds `generated`.
    """
    made = [folder / name for name in generated if name.endswith(".sv")]
    packages = [path for path in made if path.stem.endswith("_pkg")]
    return (*packages, *rtl, *(path for path in made if path not in packages))
