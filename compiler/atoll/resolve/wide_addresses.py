# SPDX-License-Identifier: Apache-2.0
"""Which devices see past 4 GiB, and what of a chip may lie there.

Memories may; on the bus nothing in them does. A core may see some pools there, in a view.
"""

from collections.abc import Iterator, Mapping

from atoll.description.devices import Cpu, Device, Master
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.remedies import add, write_pair
from atoll.description.tree import Key
from atoll.diagnostics.edit import Remedy
from atoll.diagnostics.units import format_size
from atoll.isa.find import NAMES, instruction_set
from atoll.isa.instruction_set import Family
from atoll.resolve.claims import Claim, claims_of
from atoll.resolve.draft import Draft
from atoll.resolve.reach import access_of
from atoll.resolve.soc import Memory, Region, RegionKind

LARGEST_POOL = 2**31
"""Bytes of a pool: generated code has offsets in one as numbers of 32 bits with a sign."""

_MAY_BE_FAR = ("workspace", "state")
_GRANULE = 16
_WIDE = 64


def narrow_core(draft: Draft) -> str:
    """Name a core of 32 bits, the host first; "" if a core of the chip may see past 4 GiB."""
    cores = sorted(draft.cpus(), key=lambda item: item[0] != draft.host)
    if any(_bits(draft, name, cpu) in (None, _WIDE) for name, cpu in cores):
        return ""
    return next((_core(name, cpu) for name, cpu in cores), "")


def sees_far(draft: Draft, device: str) -> bool:
    """Tell whether a device may have a view past 4 GiB: a RISC-V core of 64 bits."""
    cpu = draft.soc.devices.get(device)
    if not isinstance(cpu, Cpu) or _bits(draft, device, cpu) != _WIDE:
        return False
    return instruction_set(cpu.isa).family is Family.RISCV


def check_regions(
    draft: Draft, memories: tuple[Memory, ...], regions: Mapping[str, Region]
) -> None:
    """Note regions that end past 4 GiB, each with a device that does not see that far.

    On a chip without a core of 64 bits it is the memory that ends there.
    """
    if narrow_core(draft):
        return
    for claim in claims_of(draft, memories):
        region = regions.get(claim.name)
        if region is None:
            continue
        if (core := _far_viewer(draft, claim, region)) and (rule := _rule_of_far(draft, claim)):
            _note_unsuited(draft, claim, core, rule)
        elif region.end > ADDRESS_SPACE:
            _note_far(draft, claim, region)
        elif region.size > LARGEST_POOL:
            _note_large(draft, claim, region)


def _far_viewer(draft: Draft, claim: Claim, region: Region) -> str:
    """Name a core that sees a region past 4 GiB, "" if none does."""
    memory = draft.soc.memories[claim.memory]
    ends = {name: view + region.end - memory.origin for name, view in memory.views.items()}
    return next((name for name, end in sorted(ends.items()) if end > ADDRESS_SPACE), "")


def _rule_of_far(draft: Draft, claim: Claim) -> str:
    """Return the rule that a region breaks which a core sees past 4 GiB, "" if it breaks none."""
    pool = draft.soc.pools.get(claim.name)
    if claim.kind is not RegionKind.POOL or pool is None or pool.role not in _MAY_BE_FAR:
        return "only pools for workspace or state can be"
    if pool.provided != "internal":
        return "no pool of the application can be"
    if pool.heap:
        return "no pool can have a heap"
    users = (name for name, _ in _users(draft, claim))
    fed = next((name for name in users if draft.hands(name) != name), "")
    return f"the host cannot move data of '{fed}', whose addresses have 32 bits" if fed else ""


def _note_unsuited(draft: Draft, claim: Claim, core: str, rule: str) -> None:
    what = "pool " if claim.kind is RegionKind.POOL else ""
    draft.faults.add(
        "E261",
        f"{what}'{claim.name}' is in memory '{claim.memory}', which '{core}' sees past 4 GiB,"
        f" where {rule}",
        at=draft.where.at(*_memory_key(claim)),
        remedy="use another memory",
        keys=(_memory_key(claim),),
    )


def _memory_key(claim: Claim) -> Key:
    """Return the key that names the memory; that of a mailbox is itself."""
    return claim.key if claim.kind is RegionKind.MAILBOX else (*claim.key, "memory")


def _note_far(draft: Draft, claim: Claim, region: Region) -> None:
    pool = claim.kind is RegionKind.POOL
    below = max(0, ADDRESS_SPACE - region.origin) // _GRANULE * _GRANULE if pool else 0
    key = claim.size_key if below else _memory_key(claim)
    what = f"pool '{claim.name}'" if pool else f"'{claim.name}'"
    draft.faults.add(
        "E261",
        f"{what} ends at {region.end - 1:#x}, past 4 GiB: {_who(draft, claim)}",
        at=draft.where.at(*key),
        remedy=_smaller(claim, below) if below else "use a memory that begins below 4 GiB",
        keys=(key,),
    )


def _note_large(draft: Draft, claim: Claim, region: Region) -> None:
    draft.faults.add(
        "E037",
        f"pool '{claim.name}' has {format_size(region.size)}, and a description at most"
        f" {format_size(LARGEST_POOL)} of one",
        at=draft.where.at(*claim.size_key),
        remedy=_smaller(claim, LARGEST_POOL),
        keys=(claim.size_key,),
    )


def _smaller(claim: Claim, size: int) -> Remedy:
    made = write_pair if claim.size else add
    return made(claim.size_key, format_size(size))


def _who(draft: Draft, claim: Claim) -> str:
    """Say who reaches a region and does not see past 4 GiB, one of 32 bits first."""
    reasons = [_reason(draft, *each) for each in _users(draft, claim)]
    first = next((why for narrow, why in reasons if narrow), None)
    return first or next((why for _, why in reasons), "nothing that Atoll programs sees that far")


def _users(draft: Draft, claim: Claim) -> Iterator[tuple[str, Device]]:
    if claim.kind is not RegionKind.POOL:
        yield claim.key[1], draft.soc.devices[claim.key[1]]
        return
    for name, device in draft.devices():
        reaches = access_of(draft, claim.name, name, "none") != "none"
        if reaches and not isinstance(device, Master):
            yield name, device


def _reason(draft: Draft, name: str, device: Device) -> tuple[bool, str]:
    """Return whether a device has 32-bit addresses, and why it does not see past 4 GiB."""
    if not isinstance(device, Cpu):
        return True, f"the registers and ports of '{name}' carry 32-bit addresses"
    if _bits(draft, name, device) == _WIDE:
        return False, f"what Atoll generates for '{name}' has 32-bit addresses"
    return True, _core(name, device)


def _core(name: str, cpu: Cpu) -> str:
    return f"'{name}' is a core of 32 bits ({cpu.isa})"


def _bits(draft: Draft, name: str, cpu: Cpu) -> int | None:
    """Return the bits of a core's addresses, None if its instruction set is not known."""
    known = draft.knows("devices", name, "isa") and NAMES.fullmatch(cpu.isa)
    return instruction_set(cpu.isa).bits if known else None
