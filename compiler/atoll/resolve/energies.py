# SPDX-License-Identifier: Apache-2.0
"""What parts of a chip take of energy and area: as each states it, else as its description does."""

from dataclasses import fields
from typing import Any, TypeVar

from atoll.description.accelerator_files import AcceleratorDescription
from atoll.description.chip import Memory
from atoll.description.core_files import CoreDescription
from atoll.description.devices import Cpu, Device, Master
from atoll.description.energy import OfParameters, Stated
from atoll.description.remedies import remove
from atoll.description.tree import Key
from atoll.resolve.accelerators import params_of
from atoll.resolve.draft import Draft
from atoll.resolve.specs import Area, DeviceEnergy, MemoryEnergy

_ACTIVE: Key = ("energy", "active_pj_per_cycle")
Numbers = TypeVar("Numbers", DeviceEnergy, MemoryEnergy, Area)


def check_energies(draft: Draft) -> None:
    """Note devices that would work for nothing."""
    for name, model in draft.devices():
        energy = energy_of(draft, name, model)
        if energy is None or energy.active_pj_per_cycle != 0 or energy.pj_per_mac:
            continue
        part = _part(draft, name) if not draft.where.is_set("devices", name, "energy") else None
        where, key = (part.where, _ACTIVE) if part else (draft.where, ("devices", name, *_ACTIVE))
        draft.faults.add(
            "E166",
            f"'{name}' would work without energy: 'active_pj_per_cycle' is 0, and there is no"
            " 'pj_per_mac'",
            at=where.at(*key),
            remedy=remove(*key),
        )


def energy_of(draft: Draft, name: str, model: Device) -> DeviceEnergy | None:
    """Return what a device takes of energy, None if that is not stated."""
    if isinstance(model, Master):
        return None
    part = _part(draft, name)
    stated = model.energy or (_applicable(part.model.energy, part, model) if part else None)
    return _numbers(DeviceEnergy, stated)


def area_of(draft: Draft, name: str, model: Device) -> Area | None:
    """Return what a device takes of the chip, None if that is not stated."""
    part = _part(draft, name)
    return _numbers(
        Area, model.area or (_applicable(part.model.area, part, model) if part else None)
    )


def of_memory(model: Memory) -> tuple[MemoryEnergy | None, Area | None]:
    """Return what a memory takes of energy and of the chip, None where that is not stated."""
    return _numbers(MemoryEnergy, model.energy), _numbers(Area, model.area)


def _numbers(kind: type[Numbers], stated: Stated | None) -> Numbers | None:
    if stated is None:
        return None
    return kind(**{each.name: getattr(stated, each.name) for each in fields(kind)})


def _part(draft: Draft, name: str) -> CoreDescription | AcceleratorDescription | None:
    description = draft.description
    return description.cores.get(name) or description.accelerators.get(name)


def _applicable(
    stated: Stated | None, part: CoreDescription | AcceleratorDescription, model: Device
) -> Stated | None:
    """Return what a part states, None of an instance with other parameters than it is of."""
    if isinstance(stated, OfParameters) and not isinstance(model, Cpu | Master):
        accelerator: Any = part.model
        usual = {key: each.default for key, each in accelerator.parameters.items()}
        return stated if params_of(model, accelerator) == usual | stated.params else None
    return stated
