# SPDX-License-Identifier: Apache-2.0
"""What wants room in which memory: code, stack and data of each core, and the pools."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.description.core import ProtectionUnit
from atoll.description.devices import Cpu, Npu
from atoll.description.tree import Key
from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.resolve.core_instances import SAU_GRANULE
from atoll.resolve.draft import Draft
from atoll.resolve.mailbox import SIDE
from atoll.resolve.pools import fits_memory
from atoll.resolve.soc import Memory, RegionKind

CODE_SIZE = 128 * 2**10
DATA_SIZE = 4 * 2**10
CODE_ALIGNMENT = 64
LEAST_ROM = 64 * 2**10
"""Bytes below which a ROM is taken for one that only boots."""
STACK_ALIGNMENT = 16
GUARD = 256
"""Bytes below each stack of a core with memory protection that hold nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A region that wants room in a memory.

    Attributes:
        offset: where it must begin, None where it may be anywhere.
        size: bytes, None for all that is left.
        key: the description's key of it.
        described: the memory that the description names: `memory`, or an alias of it.
        window: its bytes there, counted from the memory's origin.
        guard: bytes below it that nothing else may have.
    """

    name: str
    kind: RegionKind
    memory: str
    offset: int | None
    size: int | None
    alignment: int
    key: Key
    guard: int = 0
    described: str = ""
    window: range = range(0)

    @property
    def size_key(self) -> Key:
        """The description's key of its size."""
        return self.key if self.key[-2] == "threads" else (*self.key, "size")


def claims_of(draft: Draft, memories: tuple[Memory, ...]) -> Iterator[Claim]:
    """Yield what wants room, in the order in which it is served: the host's regions first.

    What is not known well enough is left out. Where a core's protection unit, its unit for worlds,
    or the isolation unit of a memory, tells nothing smaller than its granule apart, all begins at
    multiples of it. In a memory with aliases no two regions share a line of a data cache, which
    would keep it once for each address.
    """
    granules = [unit.granule for _, unit in protected_cores(draft)]
    granules += [SAU_GRANULE for _, cpu in draft.cpus() if cpu.world]
    granule = max(granules, default=1)
    cached = (each for _, each in draft.devices() if isinstance(each, (Cpu, Npu)))
    line = max((each.cache.line for each in cached if each.cache), default=1)
    shown_twice = {real for _, _, real in draft.aliases()}
    for claim in _claims(draft, memories):
        if _is_known(draft, claim):
            at = _in_memory(draft, claim)
            unit = draft.soc.memories[at.memory].isolation
            told_apart = unit.granule if unit else 1
            least = max(granule, told_apart, line if at.memory in shown_twice else 1)
            yield replace(at, alignment=max(claim.alignment, least))


def _in_memory(draft: Draft, claim: Claim) -> Claim:
    """Return a claim with the memory that has its bytes, where an alias is named."""
    named = draft.soc.memories[claim.memory]
    real = draft.real(claim.memory)
    begin = 0 if real == claim.memory else named.offset or 0
    return replace(
        claim,
        memory=real,
        described=claim.memory,
        offset=None if claim.offset is None else claim.offset + begin,
        window=range(begin, begin + named.size),
    )


def protected_cores(draft: Draft) -> Iterator[tuple[str, ProtectionUnit]]:
    """Yield the cores whose protection unit is on, and the units."""
    for name, cpu in draft.cpus():
        core = draft.description.cores.get(name)
        if cpu.protection and core and core.model.protection:
            yield name, core.model.protection


def _is_known(draft: Draft, claim: Claim) -> bool:
    if claim.kind is RegionKind.POOL:
        fields = ("memory", "role", "offset", "size", "alignment")
        keys = [("memories", claim.memory, "kind"), *((*claim.key, field) for field in fields)]
        return all(draft.knows(*key) for key in keys)
    if claim.memory not in draft.soc.memories:
        return False
    device = claim.key[:2]
    parts_of_core = ("stack", "code", "load", "data", "mailbox", "protection")
    shared = [(*device, part) for part in parts_of_core]
    parts = ("kind", "origin", "size")
    chosen_by = [("memories", name, field) for name in draft.soc.memories for field in parts]
    return all(draft.knows(*key) for key in (*shared, *chosen_by)) and draft.whole("memories")


def _claims(draft: Draft, memories: tuple[Memory, ...]) -> Iterator[Claim]:
    cores = sorted(draft.cpus(), key=lambda item: item[0] != draft.host)
    for name, _ in cores:
        core = draft.description.cores.get(name)
        least = core.model.reset.alignment if core else CODE_ALIGNMENT
        yield _code(draft, name, memories, max(least, CODE_ALIGNMENT))
        yield from _load(draft, name, memories, max(least, CODE_ALIGNMENT))
    for name, cpu in cores:
        stack = _claim(name, RegionKind.STACK, cpu.stack.memory, cpu.stack.size, STACK_ALIGNMENT)
        for each in (stack, *_threads(name, cpu)):
            yield replace(each, guard=GUARD, alignment=GUARD) if cpu.protection else each
    for name, cpu in cores:
        memory = cpu.data.memory or cpu.stack.memory
        yield _claim(name, RegionKind.DATA, memory, cpu.data.size or DATA_SIZE, STACK_ALIGNMENT)
    for name, cpu in cores:
        if isinstance(cpu.mailbox, str):
            claim = _claim(name, RegionKind.MAILBOX, cpu.mailbox, 2 * SIDE, SIDE)
            yield replace(claim, key=("devices", name, "mailbox"))
    for name, pool in draft.pools():
        if not fits_memory(draft, pool):
            continue
        yield Claim(
            name=name,
            kind=RegionKind.POOL,
            memory=pool.memory,
            offset=pool.offset,
            size=pool.size,
            alignment=pool.alignment,
            key=("pools", name),
        )


def _threads(name: str, cpu: Cpu) -> Iterator[Claim]:
    for thread, size in sorted(cpu.stack.threads.items()):
        yield Claim(
            name=f"{name}.{thread}.{RegionKind.STACK}",
            kind=RegionKind.STACK,
            memory=cpu.stack.memory,
            offset=None,
            size=size,
            alignment=STACK_ALIGNMENT,
            key=("devices", name, "stack", "threads", thread),
        )


def code_memory(cpu: Cpu, memories: tuple[Memory, ...]) -> tuple[str, str]:
    """Return the memory of a core's code if the description names none, and why this one.

    It is the largest ROM; a ROM of less than `LEAST_ROM`, such as a boot ROM, only if the stack's
    memory has no more.
    """
    own = cpu.stack.memory
    sizes = {memory.name: memory.size for memory in memories}
    roms = [memory for memory in memories if memory.kind == "rom"]
    if not roms:
        return own, "there is no rom; the memory of the stack"
    largest = max(roms, key=lambda memory: memory.size)
    if largest.size < LEAST_ROM and sizes.get(own, 0) > largest.size:
        small = f"'{largest.name}' has only {format_size(largest.size)}"
        return own, f"the memory of the stack, because the largest rom {small}"
    return largest.name, "the largest rom" if len(roms) > 1 else "the only rom"


def load_memory(cpu: Cpu, memories: tuple[Memory, ...]) -> str:
    """Return the ROM that a core copies its code from: the largest one by default, "" if none."""
    if cpu.load and cpu.load.memory:
        return cpu.load.memory
    roms = [memory for memory in memories if memory.kind == "rom"]
    return max(roms, key=lambda memory: memory.size).name if roms else ""


def _load(draft: Draft, name: str, memories: tuple[Memory, ...], alignment: int) -> Iterator[Claim]:
    cpu = dict(draft.cpus())[name]
    if cpu.loader == "copy" and (where := load_memory(cpu, memories)):
        own = cpu.load.size if cpu.load else None
        size = own or _code_size(draft, where, alignment)
        yield _claim(name, RegionKind.LOAD, where, size, alignment)


def _code(draft: Draft, name: str, memories: tuple[Memory, ...], alignment: int) -> Claim:
    cpu = dict(draft.cpus())[name]
    where = cpu.code.memory or code_memory(cpu, memories)[0]
    size = cpu.code.size or _code_size(draft, where, alignment)
    return _claim(name, RegionKind.CODE, where, size, alignment)


def _code_size(draft: Draft, memory: str, alignment: int) -> int:
    described = draft.soc.memories.get(memory)
    room = described.size if described else CODE_SIZE
    return min(CODE_SIZE, max(room // 2 & -alignment, alignment))


def _claim(device: str, kind: RegionKind, memory: str, size: int, alignment: int) -> Claim:
    return Claim(
        name=f"{device}.{kind}",
        kind=kind,
        memory=memory,
        offset=None,
        size=size,
        alignment=alignment,
        key=("devices", device, str(kind)),
    )
