# SPDX-License-Identifier: Apache-2.0
"""Build options of several networks: those of the whole file, and those of each network's own."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from atoll.description.build import Build, BuildRequests, CutRequest, Words, requests_from
from atoll.description.faults import in_order, nearest
from atoll.description.messages import validate
from atoll.description.tree import Node, SourceMap, Table, merge
from atoll.description.whom import Whom
from atoll.description.yaml_text import read_yaml
from atoll.diagnostics.errors import DescriptionError, Fault

OF_ONE = ("place", "pin", "scopes", "set_scope", "free", "on_device", "targets", "cuts")
"""Keys that name operators and tensors, which belong to one network."""


Parts = Mapping[str, Collection[str]]
"""The operators and tensors of each network, by its name."""


def network_requests(
    path: Path | None,
    wishes: Mapping[str, Words],
    overlap: str | None = None,
    spread: bool | None = None,
    parts: Callable[[], Parts] = dict,
) -> tuple[BuildRequests, ...]:
    """Load the build options of each network from a YAML file, if there is one.

    The rest is as in `requests_by_network`.
    """
    root = read_yaml(path, None) if path else Table({}, None)
    return requests_by_network(root, wishes, overlap, spread, parts)


def requests_by_network(
    root: Node,
    wishes: Mapping[str, Words],
    overlap: str | None = None,
    spread: bool | None = None,
    parts: Callable[[], Parts] = dict,
) -> tuple[BuildRequests, ...]:
    """Return the build options of each network, with those of the command line on top.

    Args:
        root: the document; what it says below ``networks`` counts for one network each.
        wishes: by network, in the order of the networks.
        overlap: of all networks.
        spread: of all networks.
        parts: tells the operators and tensors of each network, for remedies.

    Raises:
        DescriptionError: as `requests_from`; the file is no YAML; E150, it says of several
            networks what can be true of one; E151, it speaks of a network that is not there.
        UsageError: as `requests_from`.
    """
    where = SourceMap(root)
    model = validate(Build, where)
    if faults := (
        *_unknown(model, where, tuple(wishes)),
        *_unclear(model, where, tuple(wishes), parts),
    ):
        raise DescriptionError.all(in_order(faults))
    return tuple(
        requests_from(_part(root, name), asked, overlap, spread) for name, asked in wishes.items()
    )


def _part(root: Node, network: str) -> Node:
    """Return what a file says of one network."""
    assert isinstance(root, Table)
    entries = dict(root.entries)
    sections = entries.pop("networks", None)
    common = Table(entries, root.at)
    if sections is None or not isinstance(sections.value, Table):
        return common
    own = sections.value.entries.get(network)
    return merge(common, own.value) if own else common


def _unknown(model: Build, where: SourceMap, networks: Sequence[str]) -> Iterator[Fault]:
    for name in model.networks:
        if name not in networks:
            yield Fault(
                code="E151",
                message=f"build options name network '{name}', which is not a MODEL of this "
                "command",
                at=where.key_at("networks", name),
                remedy=nearest(name, networks),
            )


def _unclear(
    model: Build, where: SourceMap, networks: Sequence[str], parts: Callable[[], Parts]
) -> Iterator[Fault]:
    for key in OF_ONE if len(networks) > 1 else ():
        if where.is_set(key):
            names = tuple(_names_in(getattr(model, key)))
            having = [
                network
                for network, known in parts().items()
                if all(name in known or any(_match_each(name, known)) for name in names)
            ]
            places = [f"'networks.{name}.{key}'" for name in having or networks]
            yield Fault(
                code="E150",
                message=f"'{key}' does not say which of {len(networks)} networks it is about",
                at=where.key_at(key),
                remedy=f"move it to {' or '.join(places)}",
            )


def _match_each(pattern: str, known: Collection[str]) -> Iterator[bool]:
    return (fnmatchcase(name, pattern) for name in known)


def _names_in(asked: object) -> Iterator[str]:
    """Yield the operators and tensors that the value of a key names."""
    for each in asked if isinstance(asked, Mapping | Sequence) else ():
        if isinstance(each, str):
            yield each
        elif isinstance(each, CutRequest):
            yield from (each.first, each.last)
        elif isinstance(each, Whom):
            yield from each.names
