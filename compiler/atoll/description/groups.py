# SPDX-License-Identifier: Apache-2.0
"""Groups of equal devices: ``core: {count: 4, ...}`` stands for ``core_0`` to ``core_3``.

A group becomes its devices when all layers are one. Where the chip names the group in a `reach` or
in `views`, it means each of them, and as host the first, which has no mailbox: it starts the
others. What is said of one alone, such as ``core_2: {clock: 50 MHz}``, wins over its group.
"""

from collections.abc import Iterable, Iterator, Mapping

from atoll.description.fields import MOST_OF_A_GROUP
from atoll.description.tree import Entry, Node, Scalar, Table, merge
from atoll.utils.natural import natural

COUNT = "count"

_NOT_OF_A_HOST = ("mailbox", "irq", "signals", "release")
_NAMING_ONE = ("host", "default_device")
_NAMING_EACH = ("reach", "views", "masters")

Groups = Mapping[str, tuple[str, ...]]
"""The names of a group's devices, by that of the group."""


def expand_groups(root: Node) -> Node:
    """Return a description with the devices of each group in place of it.

    A count that is none is left where it is, as a fault of the model.
    """
    groups = groups_of(root)
    if not groups or not isinstance(root, Table):
        return root
    host, entries = _host(root, groups), dict(root.entries)
    for key in _NAMING_ONE:
        if isinstance(named := _value(root, key), Scalar) and str(named.value) in groups:
            first = Scalar(groups[str(named.value)][0], named.at)
            entries[key] = Entry(entries[key].key_at, first)
    devices = _value(root, "devices")
    assert isinstance(devices, Table), "it has groups"
    entries["devices"] = Entry(
        entries["devices"].key_at, Table(dict(_devices(devices, groups, host)), devices.at)
    )
    for key in ("devices", "memories", "pools"):
        if key in entries:
            entries[key] = Entry(entries[key].key_at, _naming_each(entries[key].value, groups))
    return Table(entries, root.at)


def groups_of(root: Node) -> Groups:
    """Return the groups of a description."""
    devices = _value(root, "devices")
    if not isinstance(devices, Table):
        return {}
    counts = {name: _value(entry.value, COUNT) for name, entry in devices.entries.items()}
    return {
        name: tuple(f"{name}_{number}" for number in range(count.value))
        for name, count in counts.items()
        if isinstance(count, Scalar)
        and type(count.value) is int
        and 1 <= count.value <= MOST_OF_A_GROUP
    }


def _host(root: Table, groups: Groups) -> str:
    """Return the host if it is a core of a group: the one that is named, else the first cpu."""
    if isinstance(named := _value(root, "host"), Scalar):
        return groups.get(str(named.value), (str(named.value),))[0]
    devices = _value(root, "devices")
    assert isinstance(devices, Table)
    cpus = [
        groups.get(name, (name,))[0]
        for name, entry in devices.entries.items()
        if isinstance(kind := _value(entry.value, "kind"), Scalar) and kind.value == "cpu"
    ]
    return min(cpus, key=natural, default="")


def _devices(devices: Table, groups: Groups, host: str) -> Iterator[tuple[str, Entry]]:
    members = {name for names in groups.values() for name in names}
    for name, entry in devices.entries.items():
        if name in groups:
            for each in groups[name]:
                left_out = (COUNT, *(_NOT_OF_A_HOST if each == host else ()))
                device: Node = _with_number(
                    _without(entry.value, left_out), each.removeprefix(name)
                )
                own = devices.entries.get(each)
                if own:
                    device = merge(device, own.value)
                yield each, Entry(own.key_at if own else entry.key_at, device)
        elif name not in members:
            yield name, entry


def _with_number(device: Table, number: str) -> Table:
    """Return a device with its own label, where the group has one."""
    label = _value(device, "label")
    if not isinstance(label, Scalar):
        return device
    own = Scalar(f"{label.value}{number}", label.at)
    return Table({**device.entries, "label": Entry(label.at, own)}, device.at)


def _naming_each(table: Node, groups: Groups) -> Node:
    """Return devices, memories or pools whose `reach` and `views` name cores, not groups."""
    if not isinstance(table, Table):
        return table
    parts = {}
    for name, part in table.entries.items():
        value = _naming_in(part.value, groups)
        if isinstance(value, Table) and "isolation" in value.entries:
            unit = value.entries["isolation"]
            inside = Entry(unit.key_at, _naming_in(unit.value, groups))
            value = Table({**value.entries, "isolation": inside}, value.at)
        parts[name] = Entry(part.key_at, value)
    return Table(parts, table.at)


def _naming_in(part: Node, groups: Groups) -> Node:
    for key in _NAMING_EACH:
        if isinstance(part, Table) and isinstance(named := _value(part, key), Table):
            each = Table(dict(_each(named.entries, groups)), named.at)
            part = Table({**part.entries, key: Entry(part.entries[key].key_at, each)}, part.at)
    return part


def _each(entries: Mapping[str, Entry], groups: Groups) -> Iterator[tuple[str, Entry]]:
    for name, entry in entries.items():
        for core in groups.get(name, (name,)):
            if core == name or core not in entries:
                yield core, entry


def _without(node: Node, keys: Iterable[str]) -> Table:
    assert isinstance(node, Table), "a group has a count"
    entries = {name: entry for name, entry in node.entries.items() if name not in keys}
    return Table(entries, node.at)


def _value(node: Node, key: str) -> Node | None:
    entry = node.entries.get(key) if isinstance(node, Table) else None
    return entry.value if entry else None
