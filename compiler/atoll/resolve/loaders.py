# SPDX-License-Identifier: Apache-2.0
"""What brings the code of each device to where it runs: as described, else as its memory says."""

from atoll.description.devices import Cpu
from atoll.description.devices import Device as DeviceModel
from atoll.description.faults import note
from atoll.resolve.claims import code_memory
from atoll.resolve.draft import Draft
from atoll.resolve.soc import Memory

_NOBODY = {
    "copy": "the first instruction of a core lies where it runs when the core begins, and no"
    " start-up code of Atoll's copies it there",
    "host": "no image of a host has the code of another device, and all cores begin at once",
}
"""Why nothing makes what a loader stands for."""


def loader_of(draft: Draft, device: DeviceModel, memory: str) -> str:
    """Return the loader of a device whose code is in `memory`, "" for none."""
    return device.loader or _possible(draft, memory)[0]


def check_loaders(draft: Draft, memories: tuple[Memory, ...]) -> None:
    """Note loaders that cannot bring a device its code (E192), and those without a maker (E193)."""
    for name, device in draft.devices():
        memory = ""
        if isinstance(device, Cpu):
            memory = draft.real(device.code.memory or code_memory(device, memories)[0])
        loader, possible = device.loader, _possible(draft, memory)
        if loader is None or loader in possible or not _is_known(draft, name, memory):
            continue
        key = ("devices", name, "loader")
        if loader in _NOBODY:
            what = f"'{device.label or name}' has 'loader: {loader}', which Atoll does not make"
            code, message = "E193", f"{what}: {_NOBODY[loader]}"
        else:
            what = f"'{device.label or name}' cannot have 'loader: {loader}'"
            code, message = "E192", f"{what}: {_reason(draft, loader, memory)}"
        roms = [each.name for each in memories if each.kind == "rom"]
        other = f", or 'devices.{name}.code.memory: {roms[0]}'" if loader == "xip" and roms else ""
        draft.faults.add(
            code,
            message,
            at=draft.where.at(*key),
            other=note(draft.where.at("memories", memory, "kind"), "the memory of its code")
            if memory
            else None,
            remedy=f"write 'loader: {possible[0]}'" + (other if memory else ""),
            keys=(key,),
        )


def _is_known(draft: Draft, name: str, memory: str) -> bool:
    keys = (("devices", name, "kind"), ("devices", name, "loader"), ("devices", name, "code"))
    return all(draft.knows(*key) for key in (*keys, ("memories", memory, "kind"))) and (
        draft.whole("memories")
    )


def _possible(draft: Draft, memory: str) -> tuple[str, ...]:
    """Return the loaders of a device whose code is in `memory`, the usual one first."""
    if not memory:
        return ("none", "external")
    described = draft.soc.memories.get(memory)
    return ("xip",) if described and described.kind == "rom" else ("external",)


def _reason(draft: Draft, loader: str, memory: str) -> str:
    if not memory:
        return "it is no core, and runs no code in place that Atoll knows of"
    if loader == "none":
        return f"a core does nothing without its code, which is in '{memory}'"
    if loader == "xip":
        return f"its code is in RAM '{memory}', which is empty until something fills it"
    return f"its code is in ROM '{memory}', where it runs in place"
