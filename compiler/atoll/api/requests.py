# SPDX-License-Identifier: Apache-2.0
"""What a caller asks of a build: the keys of a build file, and what planning may spend."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from atoll.api.chips import data_text
from atoll.api.driver import BuildOptions
from atoll.description.build import Words
from atoll.description.build_networks import requests_by_network
from atoll.description.tree import Node, Table, merge
from atoll.description.yaml_text import parse_yaml, read_yaml
from atoll.diagnostics.errors import path_of_text
from atoll.interchange.instance import UNLIMITED
from atoll.memory.algorithms import DEFAULT, PLANNERS
from atoll.memory.effort import USUAL, Effort

BuildSource = Path | str | Mapping[str, object] | None
"""A build file, or what it would say."""


class Requests(TypedDict, total=False):
    """What may be asked of a build; docs/placement.md says what each key means.

    What is about one of several networks stands below ``networks`` in `build`, by its name.

    Attributes:
        place: the device that runs an operator.
        pin: the pools that may hold a tensor, in order.
        pin_roles: likewise for all tensors of a role without a pin.
        scopes: the storage scope of a buffer.
        set_scope: storage scopes of what operators write and read.
        free: tensors that may be copied although they are pinned.
        on_device: devices of operators, patterns and regions.
        threads: the thread of a core on whose stack networks run.
        targets: the target of its core that an operator's code is made for.
        overlap: whether an output may lie over an input.
        spread: whether operators may be spread over cores.
        robust: whether devices are chosen by the high ends of the bands of estimates.
        tile: whether chains of operators may be cut into stripes.
        stream: whether constants are copied ahead.
        rewrite: whether operators are left out or joined where outputs stay the same.
        cuts: chains of operators that are cut into stripes, and no others.
    """

    place: Mapping[str, str]
    pin: Mapping[str, object]
    pin_roles: Mapping[str, object]
    scopes: Mapping[str, object]
    set_scope: Sequence[Mapping[str, object]]
    free: Sequence[str]
    on_device: Sequence[Mapping[str, object]]
    threads: Mapping[str, str]
    targets: Mapping[str, str]
    overlap: Literal["none", "free", "all"]
    spread: bool
    robust: bool
    tile: Literal["auto", "never"]
    stream: Literal["auto", "never", "always"]
    rewrite: bool
    cuts: Sequence[Mapping[str, object]]


def effort_of(budget_seconds: float | None, seed: int) -> Effort:
    """Return what planning may spend: the usual, or all that fits into a time."""
    if budget_seconds is None:
        return replace(USUAL, seed=seed)
    return Effort(nodes=UNLIMITED, seconds=budget_seconds, seed=seed)


def options_of(
    names: Sequence[str],
    build: BuildSource,
    *,
    accelerators: bool = True,
    algorithm: str = DEFAULT,
    effort: Effort = USUAL,
    **requests: Unpack[Requests],
) -> tuple[BuildOptions, ...]:
    """Return the build options of each network; `requests` win over `build`.

    Raises:
        DescriptionError: a key is unknown, a value ill-typed, or it is not said of which network.
        UsageError: E094; there is no such planner.
    """
    PLANNERS.get(algorithm)
    root = merge(_document(build), _document(dict(requests)))
    return tuple(
        BuildOptions(accelerators=accelerators, requests=each, algorithm=algorithm, effort=effort)
        for each in requests_by_network(root, {name: Words() for name in names})
    )


def _document(build: BuildSource) -> Node:
    if not build:
        return Table({}, None)
    if isinstance(build, Mapping):
        text = data_text(build)
        return parse_yaml(text, path_of_text(text, "build"))
    return read_yaml(Path(build))
