# SPDX-License-Identifier: Apache-2.0
"""Engines that Atoll has, found in a file by the names and places of their registers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from atoll.description.accelerator_files import (
    find_accelerator,
    known_accelerators,
    load_accelerator,
)
from atoll_import.facts import Engine, Source

_COPY = "COPY"


def engine_of(
    name: str, registers: Mapping[str, int], origin: int, irq: int | None, source: Source
) -> Engine | None:
    """Return the engine that a block of registers is, None if it is none of Atoll's, or several.

    Args:
        name: of the block.
        registers: offsets in bytes by name.
        origin: address of the first register.
        irq: line at the host.
        source: where the file has the block.
    """
    if not registers:
        return None
    same = [each for each in known_accelerators() if _registers(each)[0] == registers]
    if len(same) != 1:
        return None
    return Engine(
        name=name,
        accelerator=same[0],
        moves=_registers(same[0])[1],
        registers=origin,
        irq=irq,
        source=source,
    )


def engine_of_kind(
    dashed: str, name: str, origin: int, irq: int | None, source: Source
) -> Engine | None:
    """Return the engine that a devicetree of ours names, None if Atoll has none.

    Args:
        dashed: name of the accelerator with dashes, as devicetrees have it.
        name: of the device.
        origin: address of the first register.
        irq: line at the host.
        source: where the file has the device.
    """
    kind = next((each for each in known_accelerators() if each.replace("_", "-") == dashed), None)
    if kind is None:
        return None
    moves = _registers(kind)[1]
    return Engine(
        name=name, accelerator=kind, moves=moves, registers=origin, irq=irq, source=source
    )


@cache
def _registers(accelerator: str) -> tuple[Mapping[str, int], bool]:
    """Return the offsets of an engine's registers, and whether it does nothing but move."""
    model = load_accelerator(find_accelerator(accelerator, Path(), None), None).model
    return dict(model.registers.map), _COPY in model.operators
