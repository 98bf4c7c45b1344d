# SPDX-License-Identifier: Apache-2.0
"""Which cores have a mailbox: any but the host, with an address and a line together."""

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.resolve.draft import Draft

_PARTS = ("mailbox", "irq")


def check_mailbox(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note half a mailbox, and one at the host, which has nobody to obey."""
    if not all(draft.knows("devices", name, part) for part in (*_PARTS, "kind")):
        return
    given = [part for part in _PARTS if getattr(cpu, part) is not None]
    if given and name == draft.host:
        draft.faults.add(
            "E039",
            f"'{name}' is the host: it runs its operators itself and takes no '{given[0]}'",
            at=draft.where.at("devices", name, given[0]),
            other=note(draft.where.at("host"), "the host is named here")
            if draft.where.is_set("host")
            else None,
            remedy=f"delete {' and '.join(map(repr, given))}, or name another core as 'host'",
        )
    elif len(given) == 1:
        (missing,) = set(_PARTS) - set(given)
        draft.faults.add(
            "E039",
            f"core '{name}' has '{given[0]}' and no '{missing}': its mailbox needs an address"
            " and an interrupt line at the host",
            at=draft.where.at("devices", name, given[0]),
            remedy=f"add '{missing}', or delete '{given[0]}'",
        )
