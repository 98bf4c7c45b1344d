# SPDX-License-Identifier: Apache-2.0
"""Candidates for whole sections that are missing, made of the names that the others use."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from atoll.description.edits import hexadecimal
from atoll.description.tree import Key
from atoll.resolve.remedy.case import ACCESS, Case

_CORE = "cpu"


def devices(case: Case, _: Key) -> Iterator[dict[str, Any]]:
    """Yield a core, and what else the pools name."""
    named = [name for pool in case.table("pools") for name in case.table("pools", pool, "reach")]
    host = case.at("host") if isinstance(case.at("host"), str) else None
    first = host or next((name for name in named if "cpu" in name), _CORE)
    others = [name for name in dict.fromkeys(named) if name != first]
    memory = next(iter([*case.memories("ram"), *case.table("memories")]), "sram")
    yield {first: _core(memory)} | {
        name: _other(name, number, memory) for number, name in enumerate(others)
    }


def memories(case: Case, _: Key) -> Iterator[dict[str, Any]]:
    """Yield a memory for each name that somebody uses; those of constants only are ROM."""
    kinds: dict[str, str] = {}
    for pool in case.table("pools"):
        role = case.at("pools", pool, "role")
        name = str(case.at("pools", pool, "memory"))
        kinds[name] = "rom" if role == "constants" and kinds.get(name) != "ram" else "ram"
    for device in case.table("devices"):
        for part in ("stack", "data", "code"):
            if isinstance(name := case.at("devices", device, part, "memory"), str):
                kinds[name] = kinds.get(name, "rom") if part == "code" else "ram"
    names = kinds or {"flash": "rom", "sram": "ram"}
    yield {
        name: {"origin": hexadecimal(number << 28), "size": "1 MiB", "kind": kind}
        for number, (name, kind) in enumerate(names.items())
    }


def pools(case: Case, _: Key) -> Iterator[dict[str, Any]]:
    """Yield a pool of constants and one of workspace that all devices reach."""
    rom, ram = case.memories("rom"), case.memories("ram")
    homes = {"constants": (rom or ram)[:1], "workspace": ram[:1]}
    yield {
        role: {
            "memory": name,
            "role": role,
            "reach": dict.fromkeys(case.table("devices"), "rw" if name in ram else ACCESS[role]),
        }
        for role, names in homes.items()
        for name in names
    }


def _core(memory: str) -> dict[str, Any]:
    return {"kind": "cpu", "isa": "rv32imc", "stack": {"memory": memory, "size": "4 KiB"}}


def _other(name: str, number: int, memory: str) -> dict[str, Any]:
    """Return a core or an accelerator, whichever the name sounds like."""
    if any(word in name for word in ("dsp", "cpu", "core")):
        return _core(memory) | {"kind": "dsp"}
    block = {"registers": hexadecimal(0x4000_0000 + number * 4096), "irq": 3 + number}
    return {"kind": "npu", "accelerator": "reef"} | block


SECTIONS: Mapping[str, Callable[[Case, Key], Iterator[Any]]] = {
    ".devices": devices,
    ".memories": memories,
    ".pools": pools,
}
