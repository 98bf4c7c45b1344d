# SPDX-License-Identifier: Apache-2.0
"""Files that belong to one network each: ``NETWORK=FILE``, or one for each MODEL in order."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from atoll.description.faults import nearest
from atoll.diagnostics.errors import UsageError

_NAMED = re.compile(r"([^=/]+)=(.+)", re.DOTALL)


def files_by_network(
    option: str, texts: Sequence[str], networks: Sequence[str]
) -> Mapping[str, Path]:
    """Return the files of an option by network; those that are named may leave others out.

    A file whose own name looks like ``NETWORK=FILE`` is given as ``./NETWORK=FILE``.

    Raises:
        UsageError: E093, there is not one file for each network, or not all are named; E151, one
            names a network that is not there.
    """
    found = [_NAMED.fullmatch(text) for text in texts]
    if not any(found):
        _require_each(option, texts, len(networks))
        return dict(zip(networks, map(Path, texts), strict=False))
    files: dict[str, Path] = {}
    for text, match in zip(texts, found, strict=True):
        if match is None:
            raise UsageError(
                "E093",
                f"'{option} {text}' does not say which network it is for, and others do",
                remedy=f"write '{option} {_leftover_text(networks, files)}={text}'",
            )
        _require_known(option, text, match[1], networks)
        if match[1] in files:
            raise UsageError(
                "E093",
                f"{option} names 2 files for network '{match[1]}'",
                remedy=f"leave out '{option} {text}'",
            )
        files[match[1]] = Path(match[2])
    return files


def path_of(text: str) -> Path:
    """Return the file that a value of such an option names."""
    match = _NAMED.fullmatch(text)
    return Path(match[2] if match else text)


def _leftover_text(networks: Sequence[str], files: Mapping[str, Path]) -> str:
    return next((name for name in networks if name not in files), networks[-1])


def _require_known(option: str, text: str, network: str, networks: Sequence[str]) -> None:
    if network not in networks:
        raise UsageError(
            "E151",
            f"'{option} {text}' names network '{network}', which is none of {', '.join(networks)}",
            remedy=nearest(network, networks, f"write './{text}' for a file of that name"),
        )


def _require_each(option: str, files: Sequence[str], networks: int) -> None:
    if files and len(files) != networks:
        named = "1 file" if len(files) == 1 else f"{len(files)} files"
        given = "1 network" if networks == 1 else f"{networks} networks"
        raise UsageError(
            "E093",
            f"{option} names {named} for {given}",
            remedy=f"give {option} once for each MODEL, in the same order, or as "
            f"{option} NETWORK=FILE",
        )
