# SPDX-License-Identifier: Apache-2.0
"""Say of which core or accelerator the RTL is that Verilator refuses."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atoll.diagnostics.errors import AtollError, Fault, SourceLoc, ToolchainError
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll_sim.chip.sources import built_devices, kind_of, rtl_sources
from atoll_sim.chip.units import unit_faults

SHOWN = 4
"""What a message lists of one accelerator; the rest has the same remedy."""

_LINE = re.compile(r"^%(?:Error|Warning)(?:-\w+)?: (.+?):([0-9]+):([0-9]+): (.+)$", re.M)
_NAME = re.compile(r"(Pin|Parameter) not found: '(\w+)'|missing pin: '(\w+)'")
_NO_MODULE = re.compile(r"module(?: reference)?: '(\w+)'")
_WIDTH = re.compile(r"connection '(\w+)' expects ([0-9]+) bits .* generates ([0-9]+) bits")


@contextmanager
def blame_devices(soc: ResolvedSoc, top: Path) -> Iterator[None]:
    """Turn what Verilator says of the RTL of devices into errors at their descriptions.

    Args:
        soc: the chip.
        top: the generated top level, which instantiates them.

    Raises:
        ToolchainError: E114 with a fault for each kind of device; else what was raised inside.
    """
    try:
        yield
    except ToolchainError as error:
        said = error.faults[0].message
        faults = [fault for device in built_devices(soc) for fault in _faults(device, said, top)]
        faults += unit_faults(soc, _LINE.findall(said), top)
        if error.faults[0].code != "E077" or not faults:
            raise
        raise AtollError.all(dict.fromkeys(faults)) from error


def _faults(device: Cpu | Engine, said: str, top: Path) -> Iterator[Fault]:
    sources = {str(path) for path in rtl_sources(device.spec) if not _is_shipped(device, path)}
    lines = _instance(device, top.read_text(encoding="utf-8").splitlines())
    wrong: list[str] = []
    for file, line, column, text in _LINE.findall(said):
        if file in sources:
            at = SourceLoc(Path(file), int(line), int(column))
            remedy = (
                "add its file to 'rtl.sources'" if _NO_MODULE.search(text) else "correct the line"
            )
            yield _fault(device, f"is refused by Verilator: {text}", at, remedy)
            return
        if file == str(top) and int(line) in lines:
            wrong.append(_wish(device, text))
    if wrong:
        document = "extending" if isinstance(device, Cpu) else "accelerators"
        remedy = f"give the module the parameters and ports of docs/{document}.md"
        place = device.spec.places.get("rtl.module") or device.at
        first = [*dict.fromkeys(wrong)][:SHOWN]
        yield _fault(device, "; ".join(first), place, remedy)


def _fault(device: Cpu | Engine, what: str, at: SourceLoc | None, remedy: str) -> Fault:
    message = f"the RTL of {kind_of(device)} '{device.spec.name}' {what}"
    return Fault(code="E114", message=message, at=at, remedy=remedy)


def _wish(device: Cpu | Engine, text: str) -> str:
    module = device.spec.rtl_module
    if found := _NAME.search(text):
        kind, name, missing = found.groups()
        if missing:
            return f"has a port '{missing}' in module '{module}' that no chip connects"
        return f"has no {'port' if kind == 'Pin' else 'parameter'} '{name}' in module '{module}'"
    if _NO_MODULE.search(text):
        return f"has no module '{module}'"
    if found := _WIDTH.search(text):
        name, own, other = found.groups()
        return f"has a port '{name}' of {own} bits in module '{module}', where the chip has {other}"
    return f"does not fit the chip: {text}"


def _is_shipped(device: Cpu | Engine, path: Path) -> bool:
    return path.name in device.spec.rtl_sources


def _instance(device: Cpu | Engine, lines: list[str]) -> range:
    """Return the numbers of the lines that instantiate `device`; beside a host none do a core."""
    found = (number for number, line in enumerate(lines) if f") u_{device.name} (" in line)
    name = next(found, None)
    if name is None:
        return range(0)
    head = f"  {device.spec.rtl_module} #("
    begin = next((number for number in range(name, -1, -1) if lines[number] == head), None)
    if begin is None:
        return range(0)
    end = next(number for number in range(name, len(lines)) if lines[number] == "  );")
    return range(begin + 1, end + 2)
