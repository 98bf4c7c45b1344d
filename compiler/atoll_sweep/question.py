# SPDX-License-Identifier: Apache-2.0
"""What a sweep asks of each point, as data that goes to any worker."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import atoll
from atoll.api.requests import options_of
from atoll.description.sweep import (
    BUILD,
    METRICS,
    OTHER_COLUMNS,
    PLANNER,
    Sweep,
    read_sweep,
)
from atoll.description.tree import Listing, plain
from atoll.description.yaml_text import parse_yaml, read_text
from atoll.diagnostics.errors import AtollError, DescriptionError, Fault, path_of_text
from atoll.diagnostics.open_texts import OPEN_TEXTS
from atoll.driver.search import STRATEGIES
from atoll.memory.algorithms import PLANNERS
from atoll.plugins.loading import load
from atoll.records import dataclass
from atoll_sweep.chips import chip_names, chips_of, wrong_keys, wrong_values
from atoll_sweep.files import below, files_of, lay_out, named_below, texts_in, words_in
from atoll_sweep.installed import names_in

Function = Callable[[atoll.Soc, Mapping[str, atoll.Compilation]], float]
"""A user's objective: gets a chip and the compiled networks by name; less is better."""


@dataclass(frozen=True)
class Question:
    """A sweep as data.

    Attributes:
        document: the sweep file as JSON.
        folder: that its paths are relative to.
        networks: the files of its networks by name.
        functions: a user's objectives by name.
        files: that these and the chips name, by absolute path, as they are now.
        packages: that they name, which are installed.
        digest: of all that the answers depend on but functions that are given beside the file.
        version: of Atoll.
        elsewhere: the folder that the files have been laid out in; empty where they have not been.
    """

    document: str
    folder: str
    networks: Mapping[str, bytes]
    functions: Mapping[str, Function]
    files: Mapping[str, bytes]
    packages: tuple[str, ...]
    digest: str
    version: str = atoll.__version__
    elsewhere: str = ""

    @contextmanager
    def open_texts(self) -> Iterator[None]:
        """Let descriptions say what they said when the sweep began."""
        token = OPEN_TEXTS.set(self._texts)
        try:
            yield
        finally:
            OPEN_TEXTS.reset(token)

    @cached_property
    def _texts(self) -> Mapping[Path, str]:
        return {} if self.elsewhere else texts_in(self.files)

    def lay_out(self, folder: Path) -> "Question":
        """Lay the files out in a folder, and return the question that is asked there.

        Raises:
            OSError: the folder cannot be written.
        """
        lay_out(self.files, folder)
        place = below(folder, self.folder)
        place.mkdir(parents=True, exist_ok=True)
        document = json.loads(self.document)
        networks = document.pop("networks")
        moved = json.loads(named_below(json.dumps(document), self.files, folder))
        text = json.dumps(moved | {"networks": networks})
        return replace(self, document=text, folder=str(place), elsewhere=str(folder))

    def sweep(self) -> Sweep:
        """Read the sweep file."""
        folder = Path(self.folder)
        root = parse_yaml(self.document, path_of_text(self.document, "sweep", folder))
        return read_sweep(root, folder)


def question_of(sweep: Sweep, functions: Mapping[str, Function]) -> Question:
    """Check all that a sweep names, and return what it asks.

    Raises:
        AtollError: a chip or a network cannot be read; E244, an axis or its value is none of a
            chip or of a build file, a planner is not there, or a figure cannot be known.
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
    faults += _wrong_functions(sweep, functions)
    chips = [*chips_of(sweep)]
    wrong = [fault for chip in chips for fault in wrong_keys(sweep, chip)]
    faults += wrong or wrong_values(sweep)
    faults += _wrong_requests(sweep)
    if faults:
        raise DescriptionError.all(dict.fromkeys(faults))
    files = files_of(sweep, chip_names(sweep))
    objectives = (("", each) for each in sweep.model.objectives)
    return Question(
        _document_of(sweep),
        str(sweep.folder.resolve()),
        networks,
        functions,
        files,
        names_in((*words_in(files), *objectives)),
        _digest_of(sweep, networks, files, chips),
    )


def _document_of(sweep: Sweep) -> str:
    return json.dumps(plain(sweep.where.root))


def _digest_of(
    sweep: Sweep,
    networks: Mapping[str, bytes],
    files: Mapping[str, bytes],
    chips: list[atoll.Soc],
) -> str:
    """Return a digest of a sweep file, its networks, its files, its chips and their parts."""
    sign = sha256(_document_of(sweep).encode())
    for name, data in networks.items():
        sign.update(name.encode() + sha256(data).digest())
    for path, data in files.items():
        sign.update(Path(path).name.encode() + sha256(data).digest())
    for chip in chips:
        sign.update(json.dumps(plain(chip._root)).encode())
        for part in _part_files(chip):
            sign.update(read_text(part).encode())
    return sign.hexdigest()


def _part_files(chip: atoll.Soc) -> Iterator[Path]:
    """Yield the descriptions of a chip's accelerators, cores and function units."""
    if (source := chip._resolved.source) is not None:
        for parts in (source.accelerators, source.cores, source.function_units):
            yield from (part.path for part in parts.values())


def functions_of(sweep: Sweep) -> dict[str, Function]:
    """Return the objectives that a sweep file names as functions.

    Raises:
        AtollError: E041; one cannot be loaded.
    """
    named = [each for each in sweep.model.objectives if ":" in each]
    folder = sweep.folder.resolve()
    return {each: load(str(folder / each) if "/" in each else each) for each in named}


def _wrong_functions(sweep: Sweep, given: Mapping[str, Function]) -> Iterator[Fault]:
    """Yield a fault for each objective that is no function, or whose name a table has already."""
    try:
        named = functions_of(sweep)
    except AtollError as error:
        at = sweep.where.key_at("objectives")
        yield from (replace(fault, at=fault.at or at) for fault in error.faults)
        return
    for number, each in enumerate(sweep.model.objectives):
        if ":" in each and not callable(named[each]):
            yield Fault(
                code="E244",
                message=f"objective '{each}' is no function",
                at=sweep.where.at("objectives", str(number)),
                remedy="name a function of a chip and its compiled networks",
            )
    taken = (*sweep.axes, *METRICS, *OTHER_COLUMNS)
    for name, function in given.items():
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            yield Fault(
                code="E244",
                message=f"objective {name!r} has a name that a column cannot have, or has already",
                remedy="call it by a word such as 'price'",
            )
        elif not callable(function):
            yield Fault(
                code="E244",
                message=f"objective '{name}' is no function",
                remedy="give a function of a chip and its compiled networks",
            )


def _wrong_requests(sweep: Sweep) -> Iterator[Fault]:
    """Yield a fault for each planner, strategy and key of a build file that is not there."""
    for name, values in sweep.axes.items():
        for key, text in dict.fromkeys(pair for each in values for pair in each.sets):
            try:
                if key == PLANNER:
                    PLANNERS.get(text)
                elif key.startswith(BUILD):
                    (options,) = options_of(["network"], requests_of([(key, text)]))
                    STRATEGIES.get(options.requests.model.strategy)
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
