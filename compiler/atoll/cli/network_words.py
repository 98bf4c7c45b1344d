# SPDX-License-Identifier: Apache-2.0
"""Which of several networks a word of the command line is about: ``NETWORK:NAME``."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal

from atoll.description.faults import nearest
from atoll.diagnostics.errors import UsageError
from atoll.frontend.registry import load_network
from atoll.records import dataclass

_WORD = r"[A-Za-z_]\w*"
_NAMED = re.compile(r"\s*(?:([^:]*):)?([A-Za-z_*?\[][\w.*?!\[\]-]*)\s*")
_OFFERED = 3

Known = Mapping[str, Collection[str]]
"""The names of one kind that each network has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of the command line that names a part of a network.

    Attributes:
        option: where it was given, such as ``--pin``.
        text: all of it; `name` comes first in it.
        name: ``NETWORK:NAME``, or ``NAME`` if there is one network.
        kind: of what it names.
    """

    option: str
    text: str
    name: str
    kind: Literal["operator", "tensor", "buffer"]


def network_of(
    word: Word, networks: Sequence[str], known: Callable[[], Known]
) -> tuple[str, str] | None:
    """Return the network that a word is about, and the word's text without it.

    Args:
        word: as it was given.
        networks: names of all networks.
        known: tells what they have; asked only if the word does not name its network.

    Returns:
        None if `word.name` is no name at all.

    Raises:
        UsageError: E150, it does not say which of several; E151, there is no such network.
    """
    found = _NAMED.fullmatch(word.name)
    if found is None:
        return None
    network, bare = found[1], found[2]
    if network is None and len(networks) == 1:
        return networks[0], word.text
    if network is None:
        raise _unclear(word, bare, known())
    if network not in networks:
        raise UsageError(
            "E151",
            f"'{word.option} {word.text}' names network '{network}', which is not a MODEL of this "
            "command",
            remedy=nearest(network, networks, "leave the option out"),
        )
    return network, bare + word.text[len(word.name) :]


def annotations_by_network(
    texts: Sequence[str], networks: Sequence[str], option: str = "--on-device"
) -> Mapping[str, list[str]]:
    """Sort ``NETWORK:OPS=SCOPE`` texts by network; a sole network need not be named.

    Raises:
        UsageError: E150, a text does not say which of several; E151, there is no such network.
    """
    sorted_texts: dict[str, list[str]] = {name: [] for name in networks}
    for text in texts:
        whom = text.partition("=")[0]
        network, colon, _ = whom.partition(":")
        if not colon and len(networks) > 1:
            raise UsageError(
                "E150",
                f"'{option} {text}' does not say which of {len(networks)} networks it is about",
                remedy=f"write '{option} {networks[0]}:{text}', or name another network",
            )
        if colon and network not in networks:
            raise UsageError(
                "E151",
                f"'{option} {text}' names network '{network}', which is not a MODEL of this "
                "command",
                remedy=nearest(network, networks, "leave the option out"),
            )
        sorted_texts[network if colon else networks[0]].append(
            text[len(network + colon) :] if colon else text
        )
    return sorted_texts


def parts_of(files: Sequence[Path], kind: Literal["operator", "tensor"]) -> Callable[[], Known]:
    """Return what tells the operators or the tensors of networks by reading their files."""

    @cache
    def read() -> Known:
        graphs = tuple(map(load_network, files))
        return {
            graph.name: [op.name for op in graph.operators]
            if kind == "operator"
            else list(graph.by_name)
            for graph in graphs
        }

    return read


def _unclear(word: Word, bare: str, known: Known) -> UsageError:
    """Say how to complete the word: with networks that have the name, else the nearest name."""
    rest = word.text[len(word.name) :]
    owners = [network for network, names in known.items() if bare in names]
    offered = [f"{network}:{bare}" for network in owners]
    if not owners:
        near = get_close_matches(
            bare, {n for names in known.values() for n in names}, n=1, cutoff=0
        )
        offered = [f"{each}:{name}" for name in near for each in known if name in known[each]]
    written = " or ".join(f"'{word.option} {each}{rest}'" for each in offered[:_OFFERED])
    return UsageError(
        "E150",
        f"'{word.option} {word.text}' does not say which of {len(known)} networks has "
        f"{word.kind} '{bare}'",
        remedy=f"write {written}" if written else "name the network, as in NETWORK:NAME",
    )
