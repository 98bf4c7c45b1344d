# SPDX-License-Identifier: Apache-2.0
"""Which accelerators can have a data cache, and of which memories."""

from atoll.description.devices import Npu
from atoll.description.faults import note
from atoll.description.remedies import remove
from atoll.resolve.draft import Draft


def check_npu_caches(draft: Draft) -> None:
    """Note data caches of accelerators that cannot work."""
    for name, npu in draft.devices():
        if (
            not isinstance(npu, Npu)
            or npu.cache is None
            or not draft.knows("devices", name, "cache")
        ):
            continue
        if not draft.moves_data(name) and name in draft.description.accelerators:
            draft.faults.add(
                "E264",
                f"the host moves the data of '{name}', which has no port for a data cache",
                at=draft.where.at("devices", name, "cache"),
                remedy=remove("devices", name, "cache"),
            )
        for index, memory in enumerate(npu.cache.memories or ()):
            described = draft.soc.memories.get(memory)
            if described is not None and described.cached is False:
                key = ("devices", name, "cache", "memories", str(index))
                draft.faults.add(
                    "E264",
                    f"the data cache of '{name}' keeps lines of memory '{memory}', on which no"
                    " data cache works",
                    at=draft.where.at(*key),
                    other=note(
                        draft.where.at("memories", memory, "cached"), "'cached: false' is here"
                    ),
                    remedy=remove(*key),
                )
