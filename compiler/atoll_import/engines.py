# SPDX-License-Identifier: Apache-2.0
"""Engines that Atoll has, found in a file by the names and places of their registers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from atoll.description.accelerator import Accelerator
from atoll.description.accelerator_files import (
    find_accelerator,
    known_accelerators,
    load_accelerator,
)
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import cut, printable
from atoll_import.facts import Engine, Source

_COPY = "COPY"
_ETHOS_U = "ethos_u"
_LONGEST = 60


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


def ethos_u_named(word: str) -> tuple[str, int | None]:
    """Return accelerator and multiply-accumulates of Vela's name, such as ``ethos-u55-128``.

    A name that begins otherwise is of another device, and tells neither.

    Raises:
        UsageError: E120; Vela has no such accelerator.
    """
    if not word.lower().startswith("ethos-u"):
        return "", None
    known = {
        f"{each.replace('_', '-')}-{macs}": (each, macs)
        for each in known_accelerators()
        if each.startswith(_ETHOS_U)
        for macs in _model(each).parameters["macs"].choices or ()
    }
    if word.lower() not in known:
        message = f"Vela has no accelerator '{cut(printable(word), _LONGEST)}'"
        raise UsageError("E120", message, remedy=f"use one of {', '.join(known)}")
    return known[word.lower()]


@cache
def _registers(accelerator: str) -> tuple[Mapping[str, int], bool]:
    """Return the offsets of an engine's registers, and whether it does nothing but move."""
    model = _model(accelerator)
    return dict(model.registers.map), _COPY in model.operators


@cache
def _model(accelerator: str) -> Accelerator:
    return load_accelerator(find_accelerator(accelerator, Path(), None), None).model
