# SPDX-License-Identifier: Apache-2.0
"""Find and check the descriptions of the cores that a chip uses."""

from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from atoll.description.core import EXTRAS, LINES, LOCAL_SIZE, Core, CycleClass
from atoll.description.core_names import core_remedy
from atoll.description.faults import Faults
from atoll.description.partial import PartDescription, read_part
from atoll.description.remedies import remove, write, write_pair
from atoll.description.share import description_in, is_path, shared_folder
from atoll.description.tree import SourceMap
from atoll.description.vocabulary import CORES
from atoll.diagnostics.edit import Edit, Remedy
from atoll.diagnostics.errors import DescriptionError, SourceLoc
from atoll.isa.find import NAMES, usual_like
from atoll.plugins.registry import entries_in

GROUP = "atoll.cores"

NEEDED_BY_RTL = {
    "interrupts": "{first: 3, last: 31, bus_error: 2}",
    "startup": "./start.S",
    "asleep": "[0x1050_0073, 0xFFDF_F06F]",
}
"""Keys of a core that may be left out only where it has no RTL, with a value each."""


_NO_CODE = "delete it: docs/cores.md lists the instruction sets that Atoll generates code for"


CoreDescription = PartDescription[Core]


def known_cores() -> tuple[str, ...]:
    """Return the names of the cores of all installed packages."""
    return tuple(sorted({*CORES, *entries_in(GROUP)}))


def find_core(word: str, device: str, folder: Path, at: SourceLoc | None) -> Path:
    """Return the description that `device` of a chip in `folder` means by `word`, written at `at`.

    Without a `device` the word is of a command line.

    Raises:
        DescriptionError: E042, `word` is neither a path nor the name of an installed core.
    """
    if is_path(word):
        return folder / word
    if word in CORES:
        return shared_folder("socs") / "cores" / f"{word}.yaml"
    if package := entries_in(GROUP).get(word):
        return description_in(package, word, GROUP, at)
    whose = f" of '{device}'" if device else ""
    raise DescriptionError(
        "E042",
        f"core '{word}'{whose} is none of {', '.join(known_cores())}",
        at=at,
        remedy=core_remedy(word, known_cores()),
    )


def load_core(path: Path, at: SourceLoc | None) -> CoreDescription:
    """Load the description at `path`, which a chip names at `at`.

    Raises:
        DescriptionError: it cannot be read, or contradicts itself.
    """
    faults = Faults()
    core, where, gaps = read_part(Core, path, at, faults)
    for index, isa in enumerate(core.isas if gaps.knows("isas") else ()):
        if not NAMES.fullmatch(isa):
            close = get_close_matches(isa, usual_like(isa), n=1, cutoff=0)
            item = ("isas", str(index))
            faults.add(
                "E040",
                f"no back end generates code for '{isa}', an instruction set of '{core.core}'",
                at=where.at(*item),
                remedy=write(item, close[0]) | Remedy("delete it", remove(*item).fixes)
                if close
                else _NO_CODE,
            )
    if gaps.knows("local") and core.local is not None and core.local % LOCAL_SIZE:
        faults.add(
            "E038",
            f"the own registers of core '{core.core}' are at {core.local:#x}, which is not a"
            " multiple of 64 KiB",
            at=where.at("local"),
            remedy=write_pair(("local",), f"{core.local // LOCAL_SIZE * LOCAL_SIZE:#x}")
            + ", for example",
        )
    for key, example in NEEDED_BY_RTL.items() if core.rtl else ():
        if not where.is_set(key) and gaps.knows(key):
            faults.add(
                "E010",
                f"'{key}' is missing: core '{core.core}' has RTL, which runs firmware",
                at=where.at(),
                remedy=Remedy(f"add '{key}: {example}', for example", ((Edit((key,), example),),)),
            )
    if gaps.knows("timing"):
        _check_timing(core, where, faults)
    if gaps.knows("interrupts"):
        _check_interrupts(core, where, faults)
    faults.raise_any()
    return PartDescription(path=path, model=core, where=where)


def _check_timing(core: Core, where: SourceMap, faults: Faults) -> None:
    """Note a core whose instructions would take no cycles: placement would give it all."""
    if core.timing is None:
        return
    usual = {name: name not in EXTRAS for name in get_args(CycleClass)}
    if not any((usual | core.timing.cycles).values()):
        faults.add(
            "E167",
            f"no instruction of core '{core.core}' would take a cycle",
            at=where.at("timing", "cycles"),
            remedy=remove("timing"),
        )


def _check_interrupts(core: Core, where: SourceMap, faults: Faults) -> None:
    lines = core.interrupts
    if lines.first > lines.last:
        faults.add(
            "E044",
            f"core '{core.core}' has no line from {lines.first} to {lines.last} for devices",
            at=where.at("interrupts", "first"),
            remedy=write_pair(("interrupts", "last"), lines.first) + " or more",
        )
    elif lines.last >= LINES and (lines.controller != "nvic" or core.rtl):
        faults.add(
            "E044",
            f"core '{core.core}' has no line {lines.last}: only an NVIC without RTL has more than"
            f" {LINES}",
            at=where.at("interrupts", "last"),
            remedy=write_pair(("interrupts", "last"), LINES - 1) + " or less",
        )
    elif lines.first <= lines.bus_error <= lines.last:
        free = [n for n in range(LINES) if not lines.first <= n <= lines.last]
        faults.add(
            "E044",
            f"core '{core.core}' has line {lines.bus_error} for bus errors and for devices",
            at=where.at("interrupts", "bus_error"),
            remedy=write_pair(("interrupts", "bus_error"), free[0])
            if free
            else write_pair(("interrupts", "first"), 1),
        )
