# SPDX-License-Identifier: Apache-2.0
"""Give each source of a chip a place in a folder of its own, whoever brings it."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import distribution
from pathlib import Path

from atoll.records import dataclass
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import (
    described_parts,
    in_order,
    includes,
    own_includes,
    sources,
)
from atoll_sim.chip.sources import (
    FOLDERS,
    READ_INTO_MEMORY,
    RTL,
    Rtl,
    included_files,
    read_folders,
    rtl_includes,
    rtl_sources,
)

SHIPPED = Path("rtl/atoll")
PACKAGES = Path("rtl/packages")
OTHERS = Path("rtl/own")
GENERATED = Path("rtl")
_LICENCE = re.compile(r"(LICENSE|LICENCE|COPYING|NOTICE)(\.|-|$)", re.I)


@dataclass(frozen=True)
class SourceTree:
    """The sources of a chip and their places, all relative to one folder.

    Attributes:
        chip: what is written down.
        texts: of its generated files, by name.
    """

    chip: Chip
    texts: Mapping[str, str]

    @cached_property
    def _roots(self) -> Mapping[Path, Path]:
        """Return where each folder that has sources goes; the innermost is asked first."""
        roots = dict.fromkeys((RTL, *FOLDERS), SHIPPED)
        for spec in described_parts(self.chip):
            for package in spec.rtl_packages:
                roots[Path(str(distribution(package).locate_file(""))).resolve()] = PACKAGES
            if (own := _common_folder(spec)) and own not in roots:
                same = sum(place.parent == OTHERS for place in roots.values())
                roots[own] = OTHERS / (f"{spec.name}_{same}" if same else spec.name)
        return dict(sorted(roots.items(), key=lambda pair: -len(pair[0].parts)))

    def place(self, path: Path) -> Path:
        """Return where a source goes."""
        path = path.resolve()
        root = next(each for each in self._roots if path.is_relative_to(each))
        return self._roots[root] / path.relative_to(root)

    @cached_property
    def compiled(self) -> tuple[Path, ...]:
        """Return the places of all that is compiled, packages first."""
        made = in_order(self.texts, self._sources, GENERATED)
        return tuple(path if path.parent == GENERATED else self.place(path) for path in made)

    @cached_property
    def waivers(self) -> tuple[Path, ...]:
        """Return the places of what says which warnings of Verilator are known."""
        return tuple(map(self.place, self._waivers))

    @property
    def _waivers(self) -> tuple[Path, ...]:
        named = (path for path in sources(self.chip) if path.suffix == ".vlt")
        return (RTL / "lint.vlt", *named)

    @cached_property
    def include_folders(self) -> tuple[Path, ...]:
        """Return the folders in which sources find what they include: also what is beside them."""
        beside = dict.fromkeys(path.parent for path in (*self._sources, *self._included))
        asked = [folder for folder in beside if self._includes_beside(folder)]
        folders = (RTL, *includes(self.chip), *asked)
        return tuple(dict.fromkeys((GENERATED, *map(self.place, folders))))

    def _includes_beside(self, folder: Path) -> bool:
        inside = [path for path in (*self._sources, *self._included) if path.parent == folder]
        return bool(included_files(inside, ()))

    @cached_property
    def headers(self) -> tuple[Path, ...]:
        """Return the places of all that is included."""
        return tuple(self.place(path) for path in self._included)

    @property
    def _sources(self) -> tuple[Path, ...]:
        return tuple(path for path in sources(self.chip) if path.suffix != ".vlt")

    @cached_property
    def _included(self) -> tuple[Path, ...]:
        own = own_includes(self.chip)
        folders = (RTL, *includes(self.chip))
        named = included_files((*self._sources, *own), folders)
        return tuple(dict.fromkeys((*own, *named)))

    def files(self) -> Iterator[tuple[Path, bytes]]:
        """Yield all files with their content."""
        for path in (*self._sources, *self._included, *self._waivers):
            yield self.place(path), path.read_bytes()
        for name, text in self.texts.items():
            if name.endswith(".sv"):
                yield GENERATED / name, self._relative(text).encode()

    def _relative(self, text: str) -> str:
        """Return a generated text that includes sources by their places."""
        for path in self._included:
            place = self.place(path).relative_to(GENERATED)
            text = text.replace(f'`include "{path}"', f'`include "{place}"')
        return text

    def licences(self) -> Iterator[tuple[Path, bytes]]:
        """Yield the licences of the packages that bring sources."""
        packages = {name for spec in described_parts(self.chip) for name in spec.rtl_packages}
        for package in sorted(packages):
            for file in distribution(package).files or ():
                if _LICENCE.match(file.name):
                    path = Path(str(file.locate()))
                    yield PACKAGES / file, path.read_bytes()

    def memory_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that sources read into memories, by the names that they call them.

        A name that leads out of the folder in which a simulation starts is left as it is.
        """
        folders = read_folders(self.chip.soc)
        for path in (*self._sources, *self._included):
            if any(path.is_relative_to(folder) for folder in FOLDERS):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in filter(_is_inside, READ_INTO_MEMORY.findall(text)):
                found = (folder / name for folder in folders)
                if data := next((each for each in found if each.is_file()), None):
                    yield name, data.read_bytes()


def _is_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _common_folder(spec: Rtl) -> Path | None:
    """Return the folder that holds all sources that a description brings itself."""
    folders = [path.parent for path in _own(rtl_sources(spec))]
    folders += _own(rtl_includes(spec))
    folders += [path.parent for path in _own(included_files(folders and rtl_sources(spec), ()))]
    return Path(os.path.commonpath([path.resolve() for path in folders])) if folders else None


def _own(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if not any(path.is_relative_to(each) for each in FOLDERS))
