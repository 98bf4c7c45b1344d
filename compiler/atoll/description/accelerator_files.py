# SPDX-License-Identifier: Apache-2.0
"""Find and check the descriptions of the accelerators that a chip uses."""

from functools import partial
from pathlib import Path

from atoll.description.accelerator import Accelerator, Parameter
from atoll.description.accelerator_checks import check_driver, check_operators, check_patterns
from atoll.description.faults import Faults, nearest, nearest_part, note
from atoll.description.partial import PartDescription, read_part
from atoll.description.program_checks import check_program
from atoll.description.register_files import with_register_file
from atoll.description.remedies import like, remove, rename_fix
from atoll.description.share import description_in, is_path
from atoll.description.tree import SourceMap
from atoll.diagnostics.errors import DescriptionError, SourceLoc
from atoll.diagnostics.units import format_size
from atoll.plugins.registry import entries_in

MAX_REGISTERS = 4096
"""Bytes that the control port of docs/accelerators.md can address."""


AcceleratorDescription = PartDescription[Accelerator]


GROUP = "atoll.engines"
OWN = {
    "ethos_u55": "atoll_sim.engines.ethos_u",
    "ethos_u65": "atoll_sim.engines.ethos_u",
    "ethos_u85": "atoll_sim.engines.ethos_u",
    "reef": "atoll_sim.engines.reef",
    "ripple": "atoll_sim.engines.ripple",
}
"""Accelerators and DMA engines that come with Atoll, and the package that has ``NAME.yaml``."""


def known_accelerators() -> tuple[str, ...]:
    """Return the names of the accelerators and DMA engines of all installed packages."""
    return tuple(sorted({*OWN, *entries_in(GROUP)}))


def find_accelerator(word: str, folder: Path, at: SourceLoc | None) -> Path:
    """Return the description that a chip in `folder` means by `word`, written at `at`.

    Raises:
        DescriptionError: `word` is neither a path nor the name of an installed accelerator.
    """
    if is_path(word):
        return folder / word
    if package := OWN.get(word) or entries_in(GROUP).get(word):
        return description_in(package, word, GROUP, at)
    raise DescriptionError(
        "E022",
        f"no accelerator '{word}' is described",
        at=at,
        remedy=nearest_part(
            word, known_accelerators(), "give the path of your own accelerator's YAML"
        ),
    )


def load_accelerator(path: Path, at: SourceLoc | None) -> AcceleratorDescription:
    """Load the description at `path`, which a chip names at `at`.

    Raises:
        DescriptionError: it cannot be read, or contradicts itself.
    """
    faults = Faults()
    accelerator, where, gaps = read_part(Accelerator, path, at, faults)
    complete = with_register_file(accelerator, path.parent, where, faults)
    accelerator = complete or accelerator

    def knows(key: str) -> bool:
        return gaps.knows(key) and (complete is not None or key != "registers")

    if knows("parameters"):
        for name in accelerator.parameters:
            _check_parameter(name, accelerator, where, faults)
        _check_params(accelerator, where, faults)
    if knows("registers"):
        _check_registers(accelerator, where, faults)
    if knows("operators"):
        _check_limits(accelerator, where, faults)
        _check_timing(accelerator, where, faults)
        check_patterns(accelerator, where, faults)
        check_operators(accelerator, where, faults)
    if knows("timing"):
        _check_free(accelerator, where, faults)
    if all(map(knows, ("driver", "registers", "program"))):
        check_driver(accelerator, where, faults)
    if all(map(knows, ("operators", "registers", "program", "ports", "parameters"))):
        check_program(accelerator, where, faults)
    faults.raise_any()
    return PartDescription(path=path, model=accelerator, where=where)


def _check_parameter(name: str, accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    parameter: Parameter = accelerator.parameters[name]
    for index, other in enumerate(parameter.at_least):
        if other not in accelerator.parameters:
            faults.add(
                "E024",
                f"parameter '{name}' is compared with '{other}', which is no parameter",
                at=where.at("parameters", name, "at_least", str(index)),
                remedy=nearest(other, accelerator.parameters),
            )
    defaults = {key: value.default for key, value in accelerator.parameters.items()}
    if objection := parameter.objection(parameter.default, defaults):
        faults.add(
            "E045",
            f"the default of parameter '{name}' must be {objection}, not {parameter.default}",
            at=where.at("parameters", name, "default"),
            remedy="change the default or the values that are allowed",
        )


def _check_registers(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    seen: dict[int, str] = {}
    block = accelerator.registers
    if block.size > MAX_REGISTERS or block.size % 4:
        faults.add(
            "E038",
            f"a register block of {format_size(block.size)} does not fit a 12-bit control port",
            at=where.at("registers", "size"),
            remedy="choose a multiple of 4 bytes up to 4 KiB",
        )
    for name, offset in block.map.items():
        at = where.at("registers", "map", name)
        if offset % 4 or offset + 4 > block.size:
            faults.add(
                "E038",
                f"register '{name}' at {offset:#x} is no 32-bit word of the {block.size:#x} bytes",
                at=at,
                remedy="choose a multiple of 4 below the size",
            )
        if offset in seen:
            first = where.at("registers", "map", seen[offset])
            faults.add(
                "E031",
                f"registers '{seen[offset]}' and '{name}' are both at {offset:#x}",
                at=at,
                other=note(first, "the other one"),
                remedy="move one of them",
            )
        seen[offset] = name
    for name in block.fields:
        if name not in block.map:
            key = ("registers", "fields", name)
            faults.add(
                "E161",
                f"there is no register '{name}'",
                at=where.key_at(*key),
                remedy=like(name, block.map, partial(rename_fix, key), key),
            )


def _check_timing(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    timed = accelerator.timing.operators if accelerator.timing else ()
    for kind in timed:
        if kind not in accelerator.operators:
            key = ("timing", "operators", kind)
            faults.add(
                "E161",
                f"'{accelerator.accelerator}' has no operator '{kind}' to time",
                at=where.key_at(*key),
                remedy=like(kind, accelerator.operators, partial(rename_fix, key), key),
            )


def _check_free(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note operators that would take no cycles, so that placement would buy them for nothing."""
    timed = accelerator.timing.operators if accelerator.timing else {}
    for kind, each in timed.items():
        if each.factor == 0 and each.offset <= 0:
            key = ("timing", "operators", kind)
            faults.add(
                "E167",
                f"'{kind}' would take no cycles: its factor is 0, and nothing is added",
                at=where.at(*key, "factor"),
                remedy=remove(*key) if len(timed) > 1 else remove("timing"),
            )


def _check_params(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note parameters of instances of which something is stated, where there are no such."""
    for section in ("timing", "energy", "area"):
        stated = getattr(accelerator, section)
        for name in stated.params if stated else ():
            if name not in accelerator.parameters:
                key = (section, "params", name)
                faults.add(
                    "E161",
                    f"'{accelerator.accelerator}' has no parameter '{name}', of which '{section}'"
                    " could be",
                    at=where.key_at(*key),
                    remedy=like(name, accelerator.parameters, partial(rename_fix, key), key),
                )


def _check_limits(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    for kind, operator in accelerator.operators.items():
        for feature, limit in operator.limits.items():
            if limit.min is not None and limit.max is not None and limit.min > limit.max:
                faults.add(
                    "E045",
                    f"no {kind} has a '{feature}' from {limit.min} to {limit.max}",
                    at=where.at("operators", kind, "limits", feature),
                    remedy="write 'min' not larger than 'max'",
                )
