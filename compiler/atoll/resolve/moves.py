# SPDX-License-Identifier: Apache-2.0
"""A DMA engine must reach what its description says it copies between."""

from atoll.description.devices import Dma
from atoll.resolve.draft import Draft
from atoll.resolve.reach import access_of


def check_moves(draft: Draft) -> None:
    """Note each pair of memories of which an engine cannot read one or write the other."""
    for name, dma in draft.devices():
        if not isinstance(dma, Dma) or not draft.knows("devices", name, "moves"):
            continue
        for index, pair in enumerate(dma.moves):
            for end, (memory, access) in enumerate(zip(pair, (("ro", "rw"), ("rw",)), strict=True)):
                if memory in draft.soc.memories and not _reaches(draft, name, memory, access):
                    _note(draft, name, (index, end), memory)


def _reaches(draft: Draft, device: str, memory: str, access: tuple[str, ...]) -> bool:
    if not draft.whole("pools"):
        return True
    return any(
        (draft.real(pool.memory) == draft.real(memory) or not draft.knows("pools", name, "memory"))
        and access_of(draft, name, device, "rw") in access
        for name, pool in draft.pools()
    )


def _note(draft: Draft, device: str, place: tuple[int, int], memory: str) -> None:
    index, end = place
    verb, access = ("to", "rw") if end else ("from", "ro")
    draft.faults.add(
        "E036",
        f"'{device}' copies {verb} memory '{memory}', but reaches no pool in it with '{access}'",
        at=draft.where.at("devices", device, "moves", str(index), str(end)),
        remedy=f"write '{device}: {access}' in the 'reach' of a pool in '{memory}', "
        "or delete the pair",
    )
