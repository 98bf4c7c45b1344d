# SPDX-License-Identifier: Apache-2.0
"""What the options of a command ask for each network."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import atoll
from atoll.api.compilation import compile_with
from atoll.api.driver import BuildOptions, Observer, names_of
from atoll.cli.network_words import Known, Word, annotations_by_network, network_of, parts_of
from atoll.cli.options import PlacementOptions
from atoll.cli.output import log, log_room
from atoll.description.build import Words
from atoll.description.build_networks import network_requests
from atoll.description.faults import nearest
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.errors import UsageError


def compile_files(
    soc: atoll.Soc,
    models: Sequence[Path],
    options: Sequence[BuildOptions],
    observe: Observer | None = None,
) -> atoll.Compilation:
    """Compile the networks of files, with what `build_options` read of a command line."""
    return compile_with(soc, tuple(map(atoll.load_network, models)), options, observe)


def log_notes(models: Iterable[atoll.CompiledNetwork], *, linked: bool) -> None:
    """Print a note about each operator that a wish or a pin made many times slower.

    If no image is linked, there is one about each stack of which only that would tell more.
    """
    log_each(note for model in models for note in model.notes)
    if not linked:
        log_unsure(models)


def log_unsure(models: Iterable[atoll.CompiledNetwork]) -> None:
    """Print a note about each stack of which only a linked image tells whether it suffices."""
    log_each(note for model in models for note in model.stack_notes)


def log_each(notes: Iterable[str]) -> None:
    """Print notes, a paragraph each."""
    for each in notes:
        log(wrap(f"note: {each}", log_room()))


def build_options(
    models: Sequence[Path], asked: PlacementOptions, *, accelerators: bool = True
) -> tuple[BuildOptions, ...]:
    """Return what the options of a command ask for each MODEL.

    Raises:
        UsageError: E090; E150, E151, an option that names an operator or a tensor does not say
            of which of several MODELs, or of one that is not there.
        DescriptionError: as `network_requests`.
        ToolchainError: E075; two MODELs have one name.
    """
    networks = names_of(models)
    operators, tensors = parts_of(models, "operator"), parts_of(models, "tensor")
    places = _by_network("--place", "operator", asked.place or (), networks, operators)
    pins = _by_network("--pin", "tensor", asked.pin or (), networks, tensors)
    scopes = _by_network("--scope", "tensor", asked.scope or (), networks, tensors)
    regions = _by_network("--set-scope", "operator", asked.set_scope or (), networks, operators)
    frees = _by_network("--free", "tensor", asked.free or (), networks, tensors)
    annotations = annotations_by_network(asked.on_device or (), networks)
    targets = annotations_by_network(asked.target or (), networks, "--target")
    threads = _for_networks("--thread", asked.thread or (), networks)
    roles = _for_networks("--pin-role", asked.pin_role or (), networks)
    wishes = {
        name: Words(
            place=places[name],
            pin=pins[name],
            pin_role=roles[name],
            scope=scopes[name],
            set_scope=regions[name],
            free=frees[name],
            on_device=annotations[name],
            thread=threads[name],
            target=targets[name],
            robust=asked.robust,
        )
        for name in networks
    }
    return tuple(
        BuildOptions(accelerators=accelerators, requests=requests)
        for requests in network_requests(
            asked.build_file,
            wishes,
            asked.overlap,
            asked.spread,
            lambda: {name: {*operators()[name], *tensors()[name]} for name in networks},
        )
    )


def _for_networks(
    option: str, texts: Sequence[str], networks: Sequence[str]
) -> Mapping[str, list[str]]:
    """Sort the texts of an option by network.

    Those that name no network are about each that has none of its own about the same.
    """
    common: list[tuple[str, str]] = []
    own: dict[str, dict[str, list[str]]] = {name: {} for name in networks}
    for text in texts:
        whom = text.partition("=")[0]
        network, colon, key = whom.partition(":")
        if not colon:
            common.append((whom.strip(), text))
        elif network in own:
            own[network].setdefault(key.strip(), []).append(text[len(network) + 1 :])
        else:
            raise UsageError(
                "E151",
                f"'{option} {text}' names network '{network}', which is not a MODEL of this "
                "command",
                remedy=nearest(network, networks),
            )
    return {
        name: [
            *(text for key, text in common if key not in keys),
            *(text for each in keys.values() for text in each),
        ]
        for name, keys in own.items()
    }


def _by_network(
    option: str,
    kind: Literal["operator", "tensor"],
    texts: Sequence[str],
    networks: Sequence[str],
    known: Callable[[], Known],
) -> Mapping[str, list[str]]:
    """Sort the texts of an option by network; one that is not understood goes to the first."""
    sorted_texts: dict[str, list[str]] = {name: [] for name in networks}
    for text in texts:
        name, equals, _ = text.partition("=")
        word = Word(option=option, text=text, name=name, kind=kind)
        whole = bool(equals) or option == "--free"
        found = network_of(word, networks, known) if whole else None
        network, rest = found or (networks[0], text)
        sorted_texts[network].append(rest)
    return sorted_texts
