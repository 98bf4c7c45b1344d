# SPDX-License-Identifier: Apache-2.0
"""Who plays cores and accelerators, as callers and the option ``--accelerator`` say it."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from atoll.description.identifiers import identifier
from atoll.diagnostics.errors import UsageError
from atoll_sim.backends.session import AcceleratorKind, Backends, CpuKind

Accelerator = str | Mapping[str, str] | Backends | None
"""Who plays the accelerators: a word for all, words by name, or what `backends_of` returned."""

OF_ONE = (AcceleratorKind.RTL, AcceleratorKind.MODEL)
"""What a single accelerator may be played by."""


def backends_of(words: Sequence[str] | None) -> Backends | None:
    """Return what ``--accelerator`` asks for, None if it was not given.

    Raises:
        UsageError: E163; a word is none, or contradicts another one.
    """
    if not words:
        return None
    kinds: list[AcceleratorKind] = []
    named: dict[str, AcceleratorKind] = {}
    for word in words:
        written, equals, kind = word.rpartition("=")
        name = identifier(written)
        allowed = OF_ONE if equals else tuple(AcceleratorKind)
        if kind not in allowed or (equals and not name):
            raise _wrong(word)
        if equals and named.setdefault(name, AcceleratorKind(kind)) != kind:
            raise UsageError(
                "E163",
                f"--accelerator says twice who plays '{name}'",
                remedy="give one of them",
            )
        if not equals:
            kinds.append(AcceleratorKind(kind))
    if len(set(kinds)) > 1 or (named and AcceleratorKind.NONE in kinds):
        given = ", ".join(words)
        raise UsageError(
            "E163",
            f"--accelerator contradicts itself: {given}",
            remedy="give one word for all, and NAME=rtl or NAME=model for single ones",
        )
    return Backends(kinds[0] if kinds else AcceleratorKind.RTL, named, asked=bool(kinds))


def parse_cpu(word: str) -> CpuKind:
    """Return who plays the cores.

    Raises:
        UsageError: E090; nobody is called so.
    """
    kind = next((each for each in CpuKind if each == word), None)
    if kind is None:
        message = f"nobody called '{word:.60}' plays cores"
        raise UsageError("E090", message, remedy=f"use one of {', '.join(CpuKind)}")
    return kind


def parse_backends(asked: Accelerator) -> Backends | None:
    """Return who plays the accelerators; None if nobody is asked for.

    Raises:
        UsageError: E163; a word is none.
    """
    if asked is None or isinstance(asked, Backends):
        return asked
    if isinstance(asked, str):
        return backends_of([asked])
    return backends_of([f"{name}={word}" for name, word in asked.items()])


def takes_part(backends: Backends | None) -> bool:
    """Tell whether operators may run on accelerators at all."""
    return backends is None or backends.kind is not AcceleratorKind.NONE


def _wrong(word: str) -> UsageError:
    return UsageError(
        "E163",
        f"--accelerator takes no '{word:.60}'",
        remedy="write rtl, model, none, NAME=rtl or NAME=model",
    )


def complete(context: typer.Context, incomplete: str) -> list[str]:
    """Return the words for all accelerators that begin so."""
    return [kind for kind in AcceleratorKind if kind.startswith(incomplete)]


AcceleratorOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="none|[NAME=]rtl|model",
        help="Who plays the accelerators, or the one of this NAME; none alone: every operator on"
        " the host. By default rtl, and model where there is no RTL.",
        autocompletion=complete,
    ),
]
