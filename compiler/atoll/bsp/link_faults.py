# SPDX-License-Identifier: Apache-2.0
"""Turn what a linker says into faults of the chip's description."""

import re
from collections.abc import Iterator

from atoll.diagnostics.errors import AtollError, Fault, PlanError, SourceLoc, ToolchainError
from atoll.diagnostics.units import format_size
from atoll.resolve.soc import Cpu, Region, ResolvedSoc
from atoll.utils.tools import tail

_OVERFLOW = re.compile(r"region [`']([\w.]+)'.*?overflowed by (\d+) bytes")
_BROKEN_RULE = re.compile(r"^\S*ld(?:\.lld)?: (?:error: )?(.+?): ((?:raise|give|change) .+)$", re.M)
_UNDEFINED = re.compile(r"undefined (?:symbol: |reference to [`'])([\w.$]+)")


def link_error(soc: ResolvedSoc, cpu: Cpu, log: str) -> AtollError:
    """Describe a failed link of the image of `cpu`.

    Regions overflow (E074); rules of the script are broken or symbols are missing (E073). The
    assertions of the script read "what is wrong: remedy".
    """
    if faults := tuple(_overflows(soc, cpu, log)):
        return PlanError.all(faults)
    if rules := tuple(_BROKEN_RULE.findall(log)):
        return ToolchainError.all(Fault(code="E073", message=m, remedy=r) for m, r in rules)
    if names := sorted(set(_UNDEFINED.findall(log))):
        return ToolchainError(
            "E073",
            f"undefined: {', '.join(names)}",
            remedy="link against objects of the same version of Atoll",
        )
    return ToolchainError("E073", f"the linker failed:\n{tail(log)}", remedy=_REMEDY)


_REMEDY = "run `atoll doctor`; if all is well there, report this as a bug of Atoll"


def _overflows(soc: ResolvedSoc, cpu: Cpu, log: str) -> Iterator[Fault]:
    missing: dict[str, int] = {}
    for name, size in _OVERFLOW.findall(log):
        missing[name] = max(missing.get(name, 0), int(size))
    for name in sorted(missing):
        region, key, at = _find_region(soc, cpu, name)
        yield Fault(
            code="E074",
            message=(
                f"region '{region.name}' of {format_size(region.size)} in memory "
                f"'{region.memory}' is {missing[name]} B too small for the firmware"
            ),
            at=at,
            remedy=f"set '{key}' to {format_size(region.size + missing[name])} or more",
            wants=((key, region.size + missing[name]),),
        )


def _find_region(soc: ResolvedSoc, cpu: Cpu, name: str) -> tuple[Region, str, SourceLoc | None]:
    """Return the region that the linker script calls `name`, its key in the YAML and its place."""
    if name.startswith("pool_"):
        pool = soc.pool(name.removeprefix("pool_"))
        return pool.region, f"pools.{pool.name}.size", pool.at
    spans = {"code": cpu.code, "load": cpu.load, "data": cpu.data, "stack": cpu.stack}
    region = spans[name]
    assert region is not None
    return region, f"devices.{cpu.name}.{name}.size", cpu.at
