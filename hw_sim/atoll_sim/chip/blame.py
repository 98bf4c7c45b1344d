# SPDX-License-Identifier: Apache-2.0
"""Say of which core, accelerator or function unit the RTL is that Verilator refuses."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from atoll.diagnostics.errors import AtollError, Fault, SourceLoc, ToolchainError
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll_sim.chip.ports import address_ports
from atoll_sim.chip.sources import Rtl, described_rtl, owner_of

SHOWN = 4
"""What a message lists of one accelerator; the rest has the same remedy."""

DOCUMENTS = {
    "core": "docs/extending.md",
    "accelerator": "docs/accelerators.md",
    "function unit": "docs/function-units.md",
}

BROKEN = {
    "OnlyIncrementingBursts": "a burst is not incrementing (INCR)",
    "NeverWiderThanThePort": "a burst has beats that are wider than the port",
    "NeverAcross4KiB": "a burst crosses a boundary of 4 KiB",
    "LastBeatIsMarked": "wlast marks another beat than the last of its burst",
    "OnlyAwaitedAnswers": "it answers what nobody asked",
    "OneAnswer": "ack and err come together",
}
"""What an accelerator has done if an assertion of an adapter fails (docs/accelerators.md)."""

_ASSERTION = re.compile(
    r"^(?:\[(\d+)\] )?%Error: .+?:\d+: Assertion failed in"
    r" (\w+\.u_(\w+)(?:\.[\w$.\[\]]*?)?(?:\.(\w+))?): (.*)$",
    re.M,
)
"""Time in picoseconds, path, instance of the top level, label, and what is said."""
_CORE_ASSERTION = re.compile(
    r"^(?:\[(\d+)\] )?%Error: .+?:\d+: Assertion failed in"
    r" (\w+)(?:\.u_(\w+))?(?:\.[\w$.\[\]]*)?: (.*)$",
    re.M,
)
"""Time in picoseconds, top level, instance there, and what is said; a kit has a core alone."""
_LINE = re.compile(r"^%(?:Error|Warning)(?:-(\w+))?: (.+?):([0-9]+):([0-9]+): (.+)$", re.M)
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
        faults = [fault for each in described_rtl(soc) for fault in _faults(soc, *each, said, top)]
        if error.faults[0].code != "E077" or not faults:
            raise
        raise AtollError.all(dict.fromkeys(faults)) from error


def _faults(
    soc: ResolvedSoc, spec: Rtl, kind: str, device: Cpu | Engine, said: str, top: Path
) -> Iterator[Fault]:
    text = top.read_text(encoding="utf-8") if top.is_file() else ""
    lines = _instance(spec, device, text.splitlines())
    place = spec.places.get("rtl.module") or device.at
    wrong: list[str] = []
    for rule, file, line, column, text in _LINE.findall(said):
        if file == str(top):
            wrong += [_wish(spec, text)] if int(line) in lines else []
        elif (owner := owner_of(soc, Path(file))) and owner[0] == spec:
            at = SourceLoc(Path(file), int(line), int(column))
            remedy = (
                "add its file to 'rtl.sources'" if _NO_MODULE.search(text) else "correct the line"
            )
            named = f" ({rule})" if rule else ""
            what = f"is refused by Verilator{named}: {text}"
            yield _fault(spec, kind, what, at, remedy, place)
            return
    if wrong:
        remedy = f"give the module the parameters and ports of {DOCUMENTS[kind]}"
        first = [*dict.fromkeys(wrong)][:SHOWN]
        yield _fault(spec, kind, "; ".join(first), place, remedy)


def broken_rule(soc: ResolvedSoc, log: str) -> Fault | None:
    """Return the rule that a device has broken, if that ended a simulation.

    Args:
        soc: the chip.
        log: what the simulator printed.
    """
    for found in _ASSERTION.finditer(log):
        for engine in sorted(soc.engines, key=lambda each: -len(each.name)):
            if what := _breach_text(engine, found):
                return Fault(
                    code="E087",
                    message=what,
                    at=engine.spec.places.get("rtl.module") or engine.at,
                    remedy="correct the RTL, or how the program of its description drives it",
                )
    for found in _CORE_ASSERTION.finditer(log):
        time, top, instance, said = found.groups()
        when = f", at {int(time) // 1000:,} ns" if time else ""
        for cpu in soc.cpus:
            alone = not instance and cpu.spec.rtl_module == top
            who, places = f"core {cpu.spec.name}", cpu.spec.places
            if cpu.unit and instance == f"{cpu.name}_unit":
                who, places = f"function unit '{cpu.unit.name}'", cpu.unit.places
            elif not (alone or instance == cpu.name):
                continue
            what = f"{who} breaks an assertion of its RTL (A10){when}: {said}"
            at = places.get("rtl.module") or cpu.at
            return Fault(code="E087", message=what, at=at, remedy="correct the RTL")
    return None


def _breach_text(engine: Engine, found: re.Match[str]) -> str:
    """Return what a failed assertion says of an accelerator, "" if it is not about it."""
    time, path, instance, label, said = found.groups()
    when = f", at {int(time) // 1000:,} ns" if time else ""
    which = said if path in said else f"{path}: {said}"
    port = instance.removeprefix(f"{engine.name}_")
    if instance == engine.name:
        return f"device '{engine.name}' breaks an assertion of its RTL (A10){when}: {which}"
    data = [each for each in engine.spec.ports.data if port in (each.name, "bus")]
    if port == instance or not (data or port == "control"):
        return ""  # the bus may as well be wrong
    if label not in BROKEN:
        return f"device '{engine.name}' breaks what its adapter relies on (A10){when}: {which}"
    where = f"'{data[0].name}'" if data else "of its registers"
    protocol = data[0].protocol if data else engine.spec.ports.control
    return (
        f"device '{engine.name}' breaks {protocol} (A10) at its port {where}{when}: {BROKEN[label]}"
    )


def _fault(
    spec: Rtl,
    kind: str,
    what: str,
    at: SourceLoc | None,
    remedy: str,
    described: SourceLoc | None = None,
) -> Fault:
    message = f"the RTL of {kind} '{spec.name}' {what}"
    other = (described, f"{kind} '{spec.name}' is described here") if described else None
    return Fault(code="E114", message=message, at=at, other=other, remedy=remedy)


def _wish(spec: Rtl, text: str) -> str:
    module = spec.rtl_module
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


def has_bits_enough(soc: ResolvedSoc, text: str) -> bool:
    """Tell whether a warning is of an address port that has all bits that somebody needs."""
    if not (found := _WIDTH.search(text)):
        return False
    name, own, _ = found.groups()
    needed = [address_ports(spec).get(name) for spec, _, _ in described_rtl(soc)]
    return any(needed) and all(int(own) >= bits for bits in needed if bits)


def _instance(spec: Rtl, device: Cpu | Engine, lines: list[str]) -> range:
    """Return the numbers of the lines that instantiate a module; beside a host none do a core."""
    unit = "_unit" if spec != device.spec else ""
    found = (number for number, line in enumerate(lines) if f") u_{device.name}{unit} (" in line)
    name = next(found, None)
    if name is None:
        return range(0)
    head = f"  {spec.rtl_module} #("
    begin = next((number for number in range(name, -1, -1) if lines[number] == head), None)
    if begin is None:
        return range(0)
    end = next(number for number in range(name, len(lines)) if lines[number] == "  );")
    return range(begin + 1, end + 2)


def warning_notes(soc: ResolvedSoc, warnings: Iterable[tuple[str, Path, int, str]]) -> list[str]:
    """Return what Verilator warns of, a note for each rule and description.

    Args:
        soc: the chip.
        warnings: rule, file, line and text of each.
    """
    first: dict[tuple[str, str, str], tuple[Path, int, str]] = {}
    count: dict[tuple[str, str, str], int] = {}
    for rule, file, line, text in dict.fromkeys(warnings):
        if owner := owner_of(soc, file):
            spec, kind, _ = owner
            key = (kind, spec.name, rule)
            first.setdefault(key, (file, line, text))
            count[key] = count.get(key, 0) + 1
    return [
        f"Verilator warns of the RTL of {kind} '{name}', {rule} {times(count[kind, name, rule])}: "
        f"{file.name}:{line}: {text}"
        for (kind, name, rule), (file, line, text) in first.items()
    ]


def times(count: int) -> str:
    """Return how often in words."""
    return "once" if count == 1 else f"{count} times, first"
