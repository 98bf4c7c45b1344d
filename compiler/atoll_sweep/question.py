# SPDX-License-Identifier: Apache-2.0
"""What a sweep asks of each point, as data that goes to any worker."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import atoll
from atoll.api.requests import options_of
from atoll.description.faults import Faults
from atoll.description.layers import layer_files
from atoll.description.loader import override
from atoll.description.share import find_soc
from atoll.description.sweep import BUILD, CHIP, PLANNER, Sweep, read_sweep
from atoll.description.tree import Listing, plain
from atoll.description.yaml_text import parse_yaml, read_text
from atoll.diagnostics.errors import AtollError, DescriptionError, Fault, path_of_text
from atoll.diagnostics.open_texts import OPEN_TEXTS
from atoll.memory.algorithms import PLANNERS

Function = Callable[[atoll.Soc, Mapping[str, atoll.Compilation]], float]
"""A user's objective: gets a chip and the compiled networks by name; less is better."""


@dataclass(frozen=True, slots=True)
class Question:
    """A sweep as data.

    Attributes:
        document: the sweep file as JSON.
        folder: that its paths are relative to.
        networks: the files of its networks by name.
        functions: a user's objectives by name.
        texts: descriptions that the chips are made of, by absolute path, as they are now.
        digest: of all that the answers depend on but a user's functions.
        version: of Atoll.
    """

    document: str
    folder: str
    networks: Mapping[str, bytes]
    functions: Mapping[str, Function]
    texts: Mapping[str, str]
    digest: str
    version: str = atoll.__version__

    @contextmanager
    def open_texts(self) -> Iterator[None]:
        """Let descriptions say what they said when the sweep began, here or on another machine."""
        token = OPEN_TEXTS.set({Path(path): text for path, text in self.texts.items()})
        try:
            yield
        finally:
            OPEN_TEXTS.reset(token)

    def sweep(self) -> Sweep:
        """Read the sweep file."""
        folder = Path(self.folder)
        root = parse_yaml(self.document, path_of_text(self.document, "sweep", folder))
        return read_sweep(root, folder)


def question_of(sweep: Sweep, functions: Mapping[str, Function]) -> Question:
    """Check all that a sweep names, and return what it asks.

    Raises:
        AtollError: a chip or a network cannot be read; E244, an axis is none of a chip or of a
            build file, or a planner is not there.
    """
    faults: list[Fault] = []
    networks = {}
    listed = isinstance(sweep.where.entries["networks",].value, Listing)
    for number, (name, file) in enumerate(sweep.model.networks.items()):
        try:
            networks[name] = atoll.load_network(sweep.folder / file, name=name)._source.data
        except AtollError as error:
            at = sweep.where.at("networks", str(number) if listed else name)
            faults += [replace(each, at=each.at or at) for each in error.faults]
    chips = [*chips_of(sweep)]
    faults += [fault for chip in chips for fault in _wrong_keys(sweep, chip)]
    faults += _wrong_requests(sweep)
    if faults:
        raise DescriptionError.all(dict.fromkeys(faults))
    document = json.dumps(plain(sweep.where.root))
    return Question(
        document,
        str(sweep.folder.resolve()),
        networks,
        functions,
        dict(_texts_of(sweep, chips)),
        digest_of(document, networks, chips),
    )


def chips_of(sweep: Sweep) -> Iterator[atoll.Soc]:
    """Yield the chips whose keys are changed.

    Raises:
        AtollError: one cannot be read.
    """
    for number, each in enumerate(sweep.axes.get(CHIP, ())):
        at = sweep.where.at("axes", CHIP, str(number))
        yield atoll.load_soc(find_soc(str(each.label), sweep.folder, at))
    if sweep.model.soc:
        yield atoll.load_soc(find_soc(sweep.model.soc, sweep.folder, sweep.where.at("soc")))


def digest_of(document: str, networks: Mapping[str, bytes], chips: list[atoll.Soc]) -> str:
    """Return a digest of a sweep file, its networks and its chips with their parts' files."""
    sign = sha256(document.encode())
    for name, data in networks.items():
        sign.update(name.encode() + sha256(data).digest())
    for chip in chips:
        sign.update(json.dumps(plain(chip._root)).encode())
        if (source := chip._resolved.source) is not None:
            for parts in (source.accelerators, source.cores, source.function_units):
                for part in parts.values():
                    sign.update(read_text(part.path).encode())
    return sign.hexdigest()


def _texts_of(sweep: Sweep, chips: list[atoll.Soc]) -> Iterator[tuple[str, str]]:
    """Yield all descriptions that chips are made of, by absolute path."""
    for name in chip_names(sweep):
        for path, _ in layer_files(find_soc(name, sweep.folder), Faults()):
            yield os.path.normpath(path.absolute()), read_text(path)
    for chip in chips:
        if (source := chip._resolved.source) is not None:
            for parts in (source.accelerators, source.cores, source.function_units):
                for part in parts.values():
                    yield os.path.normpath(part.path.absolute()), read_text(part.path)


def chip_names(sweep: Sweep) -> list[str]:
    """Return what the sweep file calls its chips."""
    named = [str(each.label) for each in sweep.axes.get(CHIP, ())]
    return [*named, sweep.model.soc] if sweep.model.soc else named


def is_of_chip(key: str) -> bool:
    """Tell whether an axis or a setting is a key of the chip."""
    return key not in (CHIP, PLANNER) and not key.startswith(BUILD)


def _wrong_keys(sweep: Sweep, chip: atoll.Soc) -> Iterator[Fault]:
    """Yield a fault for each key that a chip cannot have."""
    for name, values in sweep.axes.items():
        for key, text in {key: text for each in values for key, text in each.sets}.items():
            try:
                if is_of_chip(key):
                    override(chip._root, [f"{key}={text}"])
            except AtollError as error:
                yield Fault(
                    code="E244",
                    message=f"axis '{name}': chip '{chip.name}' has no key '{key}'",
                    at=sweep.where.key_at("axes", name),
                    remedy=error.faults[0].remedy,
                )


def _wrong_requests(sweep: Sweep) -> Iterator[Fault]:
    """Yield a fault for each planner and key of a build file that is not there."""
    for name, values in sweep.axes.items():
        for key, text in dict.fromkeys(pair for each in values for pair in each.sets):
            try:
                if key == PLANNER:
                    PLANNERS.get(text)
                elif key.startswith(BUILD):
                    options_of(["network"], requests_of([(key, text)]))
            except AtollError as error:
                yield Fault(
                    code="E244",
                    message=f"axis '{name}': {error.faults[0].message}",
                    at=sweep.where.key_at("axes", name),
                    remedy=error.faults[0].remedy,
                )


def requests_of(sets: list[tuple[str, str]]) -> dict[str, object]:
    """Return the build options that axes set."""
    return {
        key.removeprefix(BUILD): plain(parse_yaml(text, Path("axis")))
        for key, text in sets
        if key.startswith(BUILD)
    }
