# SPDX-License-Identifier: Apache-2.0
"""The cores of a chip in RTL: how each is set up from its description."""

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from atoll.diagnostics.errors import Fault
from atoll.resolve.soc import Cpu, Engine
from atoll_sim.chip.sources import Rtl


def _has(extension: str) -> Callable[[Cpu], str]:
    return lambda cpu: f"1'b{int(extension in cpu.isa[4:].partition('_')[0])}"


FACTS: Mapping[str, Callable[[Cpu], str]] = {
    "reset_address": lambda cpu: f"32'h{cpu.reset_address:08x}",
    "hart": lambda cpu: str(cpu.hart),
    "local_address": lambda cpu: f"32'h{cpu.spec.local or 0:08x}",
    "has_m": _has("m"),
    "has_c": _has("c"),
    "has_e": _has("e"),
    "has_b": lambda cpu: f"1'b{int({'zba', 'zbb', 'zbs'} <= {*cpu.isa.split('_')})}",
}
"""What a parameter of an adapter can be told, in SystemVerilog."""


def parameters_of(cpu: Cpu) -> Mapping[str, str]:
    """Return the parameters of a core's adapter, with their values in SystemVerilog."""
    values = cpu.spec.rtl_parameters.items()
    return {name: FACTS[value](cpu) if value in FACTS else value for name, value in values}


def package_sources(core: Rtl) -> tuple[Path, ...]:
    """Return the sources of the core itself, which Python packages bring.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    return tuple(_locate(core, lambda name: not name.endswith("/")))


def package_includes(core: Rtl) -> tuple[Path, ...]:
    """Return the folders of Python packages in which the sources find what they include.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    return tuple(_locate(core, lambda name: name.endswith("/")))


def package_versions(core: Rtl) -> Mapping[str, str]:
    """Return the version of each Python package that brings sources.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    return {package: version(package) for package in core.rtl_packages}


def _locate(core: Rtl, wanted: Callable[[str], bool]) -> Iterator[Path]:
    for package, names in core.rtl_packages.items():
        installed = distribution(package)
        yield from (Path(str(installed.locate_file(name))) for name in filter(wanted, names))


OTHER_CORES = (
    "use --cpu iss or --cpu native with --accelerator model, or another core",
    "use --cpu iss or --cpu native, or give the unit's YAML 'rtl'",
)
"""What helps in `atoll run` where there is no RTL of a core, and of its function unit."""


def core_faults(cpu: Cpu, instead: tuple[str, str] = OTHER_CORES) -> Iterator[Fault]:
    """Yield why the simulator cannot build `cpu`; nothing if it can.

    `instead` is what helps in the command at hand.
    """
    if cpu.isa not in cpu.spec.isas:
        yield Fault(
            code="E080",
            message=f"device '{cpu.name}': core '{cpu.spec.name}' cannot run '{cpu.isa}'",
            at=cpu.at,
            remedy=f"set 'isa' to one of: {', '.join(cpu.spec.isas)}",
        )
    if not cpu.spec.rtl_module:
        yield Fault(
            code="E080",
            message=f"device '{cpu.name}': core '{cpu.spec.name}' has no RTL",
            at=cpu.at,
            remedy=instead[0],
        )
    if cpu.unit and not cpu.unit.rtl_module:
        yield Fault(
            code="E080",
            message=f"device '{cpu.name}': its function unit '{cpu.unit.name}' has no RTL",
            at=cpu.at,
            remedy=instead[1],
        )
    told = {
        "release": cpu.release,
        "cache.maintenance": cpu.cache and cpu.cache.maintenance,
        "hart": cpu.hart and "hart" not in cpu.spec.rtl_parameters.values(),
    }
    for key in (key for key, given in told.items() if given and cpu.spec.rtl_module):
        yield Fault(
            code="E259",
            message=f"device '{cpu.name}': no RTL has the registers of its '{key}'",
            at=cpu.at,
            remedy="use --cpu iss"
            if instead is OTHER_CORES
            else f"leave '{key}' out of the description for RTL",
        )
    yield from package_faults(cpu)
    if cpu.unit:
        yield from _package_faults(cpu.unit, "function unit", cpu)


def package_faults(device: Cpu | Engine) -> Iterator[Fault]:
    """Yield a fault for each Python package with RTL of `device` that is not installed."""
    kind = "core" if isinstance(device, Cpu) else "accelerator"
    yield from _package_faults(device.spec, kind, device)


def _package_faults(spec: Rtl, kind: str, device: Cpu | Engine) -> Iterator[Fault]:
    for package in spec.rtl_packages:
        try:
            distribution(package)
        except PackageNotFoundError:
            yield Fault(
                code="E080",
                message=f"device '{device.name}': the RTL of {kind} '{spec.name}' comes "
                f"with the Python package '{package}', which is not installed",
                at=spec.places.get(f"rtl.packages.{package}") or device.at,
                remedy=f"install it: pip install {package}",
            )
