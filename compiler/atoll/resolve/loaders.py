# SPDX-License-Identifier: Apache-2.0
"""What brings the code of each device to where it runs: as described, else as its memory says."""

from collections.abc import Sequence

from atoll.description.devices import Cpu
from atoll.description.devices import Device as DeviceModel
from atoll.description.faults import note
from atoll.description.remedies import remove, write_pair
from atoll.description.tree import Key
from atoll.resolve.claims import code_memory, load_memory
from atoll.resolve.draft import Draft
from atoll.resolve.reach import access_of
from atoll.resolve.soc import Memory


def loader_of(draft: Draft, device: DeviceModel, memory: str) -> str:
    """Return the loader of a device whose code is in `memory`, "" for none."""
    return device.loader or _possible(draft, memory)[0]


def check_loaders(draft: Draft, memories: tuple[Memory, ...]) -> None:
    """Note loaders that cannot bring a device its code.

    They are none for its memory (E192) or for what it is (E193), lack what they copy from or to
    (E202), or a host that could write it (E204).
    """
    for name, device in draft.devices():
        memory = ""
        if isinstance(device, Cpu):
            memory = draft.real(device.code.memory or code_memory(device, memories)[0])
        if not _is_known(draft, name, memory):
            continue
        if isinstance(device, Cpu) and device.load is not None and device.loader != "copy":
            draft.faults.add(
                "E202",
                f"'{device.label or name}' has a 'load', from which nothing copies its code",
                at=draft.where.at("devices", name, "load"),
                remedy=remove("devices", name, "load")
                | write_pair(("devices", name, "loader"), "copy"),
            )
        if device.loader is None:
            continue
        if device.loader not in _possible(draft, memory):
            _refuse(draft, name, device, memory, memories)
        elif isinstance(device, Cpu) and device.loader == "copy":
            _check_copy(draft, name, device, memory, memories)
        elif isinstance(device, Cpu) and device.loader == "host":
            _check_host(draft, name, device, memory)


def _refuse(
    draft: Draft, name: str, device: DeviceModel, memory: str, memories: tuple[Memory, ...]
) -> None:
    loader, usual = device.loader or "", _possible(draft, memory)[0]
    key = ("devices", name, "loader")
    code = "E192" if memory or loader == "xip" else "E193"
    kind = "ram" if loader in ("copy", "host") else "rom" if loader == "xip" else ""
    others = [each.name for each in memories if each.kind == kind]
    other = f", or 'devices.{name}.code.memory: {others[0]}'" if memory and others else ""
    if code == "E193":
        other = ", or 'loader: external' if something outside every image brings its firmware"
    draft.faults.add(
        code,
        f"'{device.label or name}' cannot have 'loader: {loader}': {_reason(loader, memory)}",
        at=draft.where.at(*key),
        other=note(draft.where.at("memories", memory, "kind"), "the memory of its code")
        if memory
        else None,
        remedy=write_pair(key, usual) + other,
        keys=(key,),
    )


def _check_copy(
    draft: Draft, name: str, cpu: Cpu, memory: str, memories: tuple[Memory, ...]
) -> None:
    """A core that copies its own code reads a ROM, and writes the RAM that it runs from."""
    where = load_memory(cpu, memories)
    real = draft.real(where)
    given = cpu.load is not None and cpu.load.memory is not None
    key: Key = ("devices", name, *(("load", "memory") if given else ("loader",)))
    roms = [each.name for each in memories if each.kind == "rom"] if given else []
    wrong = ""
    if not where:
        wrong = "there is no ROM that it could lie in until then"
    elif real in draft.soc.memories and draft.soc.memories[real].kind != "rom":
        wrong = f"'{where}' is RAM, which is empty until something fills it"
    elif not _reaches(draft, name, cpu, memory, writes=True):
        wrong = f"it has no pool in '{memory}' that it may write"
        key = ("devices", name, "loader")
    if wrong:
        _fault(draft, "E202", name, cpu, wrong, key, "external", roms)


def _check_host(draft: Draft, name: str, cpu: Cpu, memory: str) -> None:
    """A core that its host loads is not the host, and stays in reset until then."""
    key, host = ("devices", name, "loader"), draft.host
    if host is None or not draft.knows("devices", host):
        return
    writer = dict(draft.cpus()).get(host)
    if name == host:
        _fault(draft, "E204", name, cpu, "it is the host itself", key, "copy")
    elif not (
        isinstance(cpu.mailbox, int)
        or (cpu.mailbox and cpu.release)
        or not draft.knows("devices", name, "mailbox")
        or not draft.knows("devices", name, "release")
    ):
        wrong = "nothing lets it begin: no registers of a mailbox, and no 'release'"
        _fault(draft, "E204", name, cpu, wrong, key, "external")
    elif writer and not _reaches(draft, host, writer, memory, writes=True):
        wrong = f"its host '{host}' has no pool in '{memory}' that it may write"
        _fault(draft, "E204", name, cpu, wrong, key, "external")
    elif not _reaches(draft, name, cpu, memory, writes=False):
        wrong = f"it has no pool in '{memory}' that it may read"
        _fault(draft, "E204", name, cpu, wrong, key, "external")


def _fault(
    draft: Draft,
    code: str,
    name: str,
    cpu: Cpu,
    wrong: str,
    key: Key,
    instead: str,
    roms: Sequence[str] = (),
) -> None:
    right = roms[0] if roms and key[-1] == "memory" else instead
    draft.faults.add(
        code,
        f"'{cpu.label or name}' cannot have 'loader: {cpu.loader}': {wrong}",
        at=draft.where.at(*key),
        remedy=write_pair(key, right),
        keys=(key,),
    )


def _reaches(draft: Draft, device: str, cpu: Cpu, memory: str, *, writes: bool) -> bool:
    """Tell whether a core reaches a memory, as far as the description says so.

    It does if its stack or data are there. Otherwise the pools there tell; without any, the
    default that the memory has for them.
    """
    own = (cpu.stack.memory, cpu.data.memory or cpu.stack.memory)
    if memory in map(draft.real, own):
        return True
    allowed = ("rw",) if writes else ("rw", "ro")
    pools = [name for name, pool in draft.pools() if draft.real(pool.memory) == memory]
    if pools:
        return any(access_of(draft, pool, device, "none") in allowed for pool in pools)
    described = draft.soc.memories.get(memory)
    default = described.reach if described else None
    return default is None or default in allowed


def _is_known(draft: Draft, name: str, memory: str) -> bool:
    parts = ("kind", "loader", "code", "load", "stack", "data")
    keys = (*(("devices", name, part) for part in parts), ("memories", memory, "kind"))
    return all(draft.knows(*key) for key in keys) and all(map(draft.whole, ("memories", "pools")))


def _possible(draft: Draft, memory: str) -> tuple[str, ...]:
    """Return the loaders of a device whose code is in `memory`, the usual one first."""
    if not memory:
        return ("none", "external")
    described = draft.soc.memories.get(memory)
    in_rom = described is not None and described.kind == "rom"
    return ("xip",) if in_rom else ("external", "copy", "host")


def _reason(loader: str, memory: str) -> str:
    if not memory:
        return "it is no core, and only descriptions of cores say what code to load"
    if loader == "none":
        return f"a core does nothing without its code, which is in '{memory}'"
    if loader == "xip":
        return f"its code is in RAM '{memory}', which is empty until something fills it"
    return f"its code is in ROM '{memory}', where it runs in place"
