# SPDX-License-Identifier: Apache-2.0
"""Put one layer on top of another, where ``null`` deletes what the other one says."""

from atoll.description.faults import Faults, nearest_key
from atoll.description.tree import Entry, Key, Node, Scalar, Table, merge

_DEVICES, _POOLS, _REACH = "devices", "pools", "reach"


def put_on_top(base: Node, over: Node, faults: Faults) -> Node:
    """Return `base` with `over` on top; note each key that is deleted and not there.

    With a device go its entries in the `reach` of the pools of `base`.
    """
    _check(base, over, (), faults)
    return merge(_without_reach(base, _deleted_devices(over)), over)


def _check(base: Node, over: Node, key: Key, faults: Faults) -> None:
    if not (isinstance(base, Table) and isinstance(over, Table)):
        return
    for name, entry in over.entries.items():
        if name in base.entries:
            _check(base.entries[name].value, entry.value, (*key, name), faults)
        elif _deletes(entry):
            faults.add(
                "E130",
                f"null deletes '{'.'.join((*key, name))}', which does not exist",
                at=entry.key_at,
                remedy=nearest_key(".".join((*key, name)), base.entries),
            )


def _deletes(entry: Entry) -> bool:
    return isinstance(entry.value, Scalar) and entry.value.deletes


def _deleted_devices(over: Node) -> frozenset[str]:
    devices = _below(over, _DEVICES)
    return frozenset(name for name, entry in devices.items() if _deletes(entry))


def _without_reach(base: Node, devices: frozenset[str]) -> Node:
    """Return `base` without what its pools say of `devices`."""
    if not devices or not isinstance(base, Table) or not _below(base, _POOLS):
        return base
    pools = base.entries[_POOLS]
    kept = {
        name: Entry(entry.key_at, _without(entry.value, devices))
        for name, entry in _below(base, _POOLS).items()
    }
    table = Table(kept, pools.value.at)
    return Table({**base.entries, _POOLS: Entry(pools.key_at, table)}, base.at)


def _without(pool: Node, devices: frozenset[str]) -> Node:
    if not isinstance(pool, Table) or not _below(pool, _REACH):
        return pool
    reach = pool.entries[_REACH]
    kept = {name: entry for name, entry in _below(pool, _REACH).items() if name not in devices}
    return Table(
        {**pool.entries, _REACH: Entry(reach.key_at, Table(kept, reach.value.at))}, pool.at
    )


def _below(node: Node, name: str) -> dict[str, Entry]:
    """Return the entries of the mapping called `name` in `node`, none if there is no such one."""
    entry = node.entries.get(name) if isinstance(node, Table) else None
    return entry.value.entries if entry and isinstance(entry.value, Table) else {}
