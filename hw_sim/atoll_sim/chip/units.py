# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the RTL of function units: sources that are not there, or do not elaborate."""

from collections.abc import Iterator
from pathlib import Path

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.chip.sources import rtl_sources, unreadable

Said = tuple[str, str, str, str]
"""File, line, column and text of a message of Verilator."""

_DOCUMENT = "docs/function-units.md"


def unit_source_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each source of a function unit that cannot be read."""
    for cpu, unit in _units(soc):
        for index, path in enumerate(rtl_sources(unit)):
            if reason := unreadable(path):
                yield Fault(
                    code="E113",
                    message=f"RTL source of function unit '{unit.name}' cannot be read:"
                    f" '{path}': {reason}",
                    at=unit.places.get(f"rtl.sources.{index}") or cpu.at,
                    remedy="correct the path; it is relative to the unit's YAML",
                )


def unit_faults(soc: ResolvedSoc, said: list[Said], top: Path) -> Iterator[Fault]:
    """Yield a fault for each unit whose RTL Verilator refuses; `top` instantiates them."""
    lines = top.read_text(encoding="utf-8").splitlines()
    for cpu, unit in _units(soc):
        sources = {str(path) for path in rtl_sources(unit)}
        instance = _instance(unit, cpu, lines)
        for file, line, column, text in said:
            if file in sources:
                at = SourceLoc(Path(file), int(line), int(column))
                yield _fault(unit, f"is refused by Verilator: {text}", at, "correct the line")
                break
            if file == str(top) and int(line) in instance:
                place = unit.places.get("rtl.module") or cpu.at
                what = f"does not fit the core: {text}"
                yield _fault(unit, what, place, f"give the module the ports of {_DOCUMENT}")
                break


def _units(soc: ResolvedSoc) -> Iterator[tuple[Cpu, FunctionUnit]]:
    for cpu in soc.cpus:
        if cpu.unit:
            yield cpu, cpu.unit


def _instance(unit: FunctionUnit, cpu: Cpu, lines: list[str]) -> range:
    """Return the numbers of the lines that instantiate a unit."""
    head = f"  {unit.rtl_module} u_{cpu.name}_unit ("
    if head not in lines:
        return range(0)
    begin = lines.index(head)
    return range(begin + 1, lines.index("  );", begin) + 2)


def _fault(unit: FunctionUnit, what: str, at: SourceLoc | None, remedy: str) -> Fault:
    message = f"the RTL of function unit '{unit.name}' {what}"
    return Fault(code="E114", message=message, at=at, remedy=remedy)
