"""Say which accelerator's RTL it is that Verilator refuses."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atoll.errors import AtollError, Fault, SourceLoc, ToolchainError
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.chip.sources import engine_sources

SHOWN = 4
"""What a message lists of one accelerator; the rest has the same remedy."""

_LINE = re.compile(r"^%(?:Error|Warning)(?:-\w+)?: (.+?):([0-9]+):([0-9]+): (.+)$", re.M)
_NAME = re.compile(r"(Pin|Parameter) not found: '(\w+)'|missing pin: '(\w+)'")
_NO_MODULE = re.compile(r"module(?: reference)?: '(\w+)'")


@contextmanager
def blame_accelerators(soc: ResolvedSoc, top: Path) -> Iterator[None]:
    """Turn what Verilator says of an accelerator's RTL into errors at its description.

    Args:
        soc: the chip.
        top: the generated top level, which instantiates the accelerators.

    Raises:
        ToolchainError: E114 with a fault for each accelerator; else what was raised inside.
    """
    try:
        yield
    except ToolchainError as error:
        said = error.faults[0].message
        faults = [fault for npu in soc.engines for fault in _faults(npu, said, top)]
        if error.faults[0].code != "E077" or not faults:
            raise
        raise AtollError.all(dict.fromkeys(faults)) from error


def _faults(npu: Engine, said: str, top: Path) -> Iterator[Fault]:
    sources = {str(path) for path in engine_sources(npu) if not _is_shipped(npu, path)}
    lines = _instance(npu, top.read_text(encoding="utf-8").splitlines())
    wrong: list[str] = []
    for file, line, column, text in _LINE.findall(said):
        if file in sources:
            at = SourceLoc(Path(file), int(line), int(column))
            yield _fault(npu, f"is refused by Verilator: {text}", at, "correct the line")
            return
        if file == str(top) and int(line) in lines:
            wrong.append(_wish(npu, text))
    if wrong:
        remedy = "give the module the parameters and ports of docs/accelerators.md"
        place = npu.spec.places.get("rtl.module") or npu.at
        first = [*dict.fromkeys(wrong)][:SHOWN]
        yield _fault(npu, "; ".join(first), place, remedy)


def _fault(npu: Engine, what: str, at: SourceLoc | None, remedy: str) -> Fault:
    message = f"the RTL of accelerator '{npu.spec.name}' {what}"
    return Fault(code="E114", message=message, at=at, remedy=remedy)


def _wish(npu: Engine, text: str) -> str:
    module = npu.spec.rtl_module
    if found := _NAME.search(text):
        kind, name, missing = found.groups()
        if missing:
            return f"has a port '{missing}' in module '{module}' that no chip connects"
        return f"has no {'port' if kind == 'Pin' else 'parameter'} '{name}' in module '{module}'"
    if _NO_MODULE.search(text):
        return f"has no module '{module}'"
    return f"does not fit the chip: {text}"


def _is_shipped(npu: Engine, path: Path) -> bool:
    return path.name in npu.spec.rtl_sources


def _instance(npu: Engine, lines: list[str]) -> range:
    """Return the numbers of the lines that instantiate `npu`."""
    name = next(number for number, line in enumerate(lines) if f") u_{npu.name} (" in line)
    head = f"  {npu.spec.rtl_module} #("
    begin = next(number for number in range(name, -1, -1) if lines[number] == head)
    end = next(number for number in range(name, len(lines)) if lines[number] == "  );")
    return range(begin + 1, end + 2)
