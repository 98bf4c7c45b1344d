# SPDX-License-Identifier: Apache-2.0
"""A chip: loaded from a file, a shipped name, text or data; changed, checked and explained."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from atoll.api.notebook import Row, html_table, svg_element
from atoll.description.faults import Faults
from atoll.description.layers import read_layers
from atoll.description.loader import override
from atoll.description.share import find_soc
from atoll.description.tree import Node
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.errors import path_of_text
from atoll.records import dataclass
from atoll.resolve import explain as subjects
from atoll.resolve import resolve_tree
from atoll.resolve.at_speeds import at_speeds
from atoll.resolve.notes import notes_of
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table, as_data, as_text

if TYPE_CHECKING:
    from atoll.soc_checks import Player

Overrides = Mapping[str, object] | Sequence[str]
"""Values by dotted key, or texts ``key.path=value`` as ``--set`` takes them."""


@dataclass(frozen=True, slots=True)
class SocTables:
    """What follows from a description, one table for each subject."""

    soc_name: str
    _soc: ResolvedSoc = field(repr=False)
    _tables: tuple[Table, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The tables there are, such as ``memories``, ``pools`` and ``layers``."""
        return tuple(table.key for table in self._tables)

    def rows(self, table: str) -> list[Row]:
        """Return the rows of one table of `names`.

        Raises:
            KeyError: there is no such table.
        """
        return {each.key: each for each in self._tables}[table].as_data()

    def text(self, columns: int | None = None) -> str:
        """Return the tables as lines of at most so many columns."""
        return as_text(self._tables, columns)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll explain SOC --json`` prints."""
        return as_data(self._soc, self._tables)

    def _repr_html_(self) -> str:
        return "".join(html_table(each.title, each.as_data()) for each in self._tables if each.rows)


@dataclass(frozen=True, slots=True)
class SocCheck:
    """What a check of a chip found; faults are raised, these are the rest.

    Attributes:
        notes: what is perhaps not meant.
        not_checked: what was not looked at, each with the way to have it looked at.
    """

    notes: tuple[str, ...]
    not_checked: tuple[str, ...]
    _summary: SocTables = field(repr=False)
    _players: "tuple[Player, ...]" = field(repr=False)

    def rows(self) -> list[Row]:
        """Return who can play the cores and who cannot: ``cpu``, ``plays``, ``why_not``."""
        return [each.as_json() for each in self._players]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll check`` prints, in lines of at most so many columns."""
        said = [f"note: {each}" for each in self.notes]
        blocks = (said, _players(self._players), _list_lines("not checked:", self.not_checked))
        lines = "".join(
            "".join(f"\n{wrap(line, columns)}" for line in block) + "\n" * bool(block)
            for block in blocks
        )
        return f"{self._summary.text(columns)}{lines}\n{self._summary.soc_name}: no faults\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll check --json`` prints."""
        return {
            **self._summary.to_json(),
            "notes": self.notes,
            "players": self.rows() or None,
            "not_checked": self.not_checked,
        }

    def _repr_html_(self) -> str:
        title = f"{self._summary.soc_name}: no faults; who plays the cores"
        return html_table(title, self.rows(), [f"note: {each}" for each in self.notes])


@dataclass(frozen=True, slots=True)
class Soc:
    """A chip, complete and consistent. It never changes: `with_` returns another one."""

    name: str
    _resolved: ResolvedSoc = field(repr=False)
    _base: Node = field(repr=False, compare=False)
    _folder: Path = field(repr=False, compare=False)
    _changes: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def _root(self) -> Node:
        """The description with all changes."""
        return override(self._base, self._changes)

    @property
    def host(self) -> str:
        """The core that runs the entry point."""
        return self._resolved.host

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of cores, accelerators and DMA engines."""
        return tuple(each.name for each in self._resolved.devices)

    @property
    def pools(self) -> tuple[str, ...]:
        """The names of the pools, in which buffers may lie."""
        return tuple(each.name for each in self._resolved.pools)

    @property
    def pool_size_bytes(self) -> dict[str, int]:
        """The size of each pool."""
        return {each.name: each.region.size for each in self._resolved.pools}

    @property
    def host_clock_hz(self) -> int:
        """The clock of the host; all cycles are counted in it."""
        return self._resolved.host_cpu.clock

    def with_(self, changes: Overrides) -> "Soc":
        """Return the chip with other values.

        Args:
            changes: values by dotted key; None deletes a key. ``KEY=VALUE`` texts do as well.

        Raises:
            UsageError: E097, E098; a value is missing, or a key is none of the chip.
            DescriptionError: the chip cannot be built so.

        >>> import atoll
        >>> chip = atoll.load_soc("lagoon")
        >>> chip.with_({"devices.npu.params.output_lanes": 4, "pools.shared.size": "128 KiB"})
        Soc(name='lagoon')
        """
        texts = tuple(override_texts(changes))
        found = at_speeds(self._resolved, texts) if texts else None
        if found is None:
            return _resolve(self._base, self._folder, (*self._changes, *texts))
        return Soc(found.name, found, self._base, self._folder, (*self._changes, *texts))

    def check(self, *, simulate: bool | None = None) -> SocCheck:
        """Find what keeps the chip from being built and simulated, as ``atoll check`` does.

        Args:
            simulate: True elaborates its RTL, False leaves the simulator out; None asks it for
                what takes no time.

        Raises:
            AtollError: with all faults.
        """
        from atoll.soc_checks import check_soc  # its emitters take long to import

        found = check_soc(self._resolved, simulate=simulate)
        summary = SocTables(self.name, self._resolved, subjects.summary(self._resolved))
        return SocCheck(
            (*notes_of(self._resolved), *found.notes), found.left_out, summary, found.players
        )

    def require_toolchain(self, name: str | None) -> None:
        """Refuse the name of a toolchain that is not there; None is the description's own.

        Raises:
            ToolchainError: E071.
        """
        if name is not None:
            from atoll.bsp.toolchain import find_toolchain  # few commands link

            find_toolchain(self._resolved.host_cpu, name)

    def explain(self) -> SocTables:
        """Return addresses, windows, limits and defaults, with the layer that set each."""
        return SocTables(self.name, self._resolved, subjects.explain(self._resolved))

    def rows(self) -> list[Row]:
        """Return the pools; `explain` has all other tables."""
        return self.explain().rows("pools")

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll explain SOC --json`` prints."""
        return self.explain().to_json()

    def svg(self) -> str:
        """Return a picture of the memories, and of who reaches them, as an SVG file."""
        from atoll.report.chip_svg import chip_svg  # few chips are drawn

        return chip_svg(self._resolved)

    def _repr_svg_(self) -> str:
        return svg_element(self.svg())


SocSource = Soc | Path | str | Mapping[str, object]
"""A chip, or what `load_soc` makes one of."""


def load_soc(
    source: SocSource, *, overrides: Overrides = (), folder: Path | str | None = None
) -> Soc:
    """Load a chip and resolve all that follows from its description.

    Args:
        source: the path of a YAML file, the name of a shipped chip such as ``lagoon``, the
            description itself as a mapping, or as YAML text of several lines.
        overrides: values on top, as `Soc.with_` takes them.
        folder: that paths in a mapping or a text are relative to; default: the working directory.

    Raises:
        DescriptionError: the description cannot mean a buildable chip.
        UsageError: an override is malformed or names an unknown key.

    >>> import atoll
    >>> atoll.load_soc("lagoon").host
    'cpu'
    >>> atoll.load_soc({"extends": "lagoon", "soc": "mine", "version": 1}).name
    'mine'
    """
    if isinstance(source, Soc):
        return source.with_(overrides) if overrides else source
    faults, texts = Faults(), tuple(override_texts(overrides))
    base = Path() if folder is None else Path(folder)
    if isinstance(source, Mapping):
        text = data_text(source)
        path = path_of_text(text, "mapping", base)
    elif is_text(source):
        text, path = source, path_of_text(source, "text", base)
    else:
        path = find_soc(source)
        return _resolve(read_layers(path, faults), path.parent, texts, faults)
    return _resolve(read_layers(path, faults, text), base, texts, faults)


def is_text(source: object) -> TypeGuard[str]:
    """Tell whether a source is a description itself, and not the place of one."""
    return isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))


def data_text(data: object) -> str:
    """Return plain data as a YAML text in which every place can be shown.

    Raises:
        TypeError: it is not plain.
    """
    return json.dumps(data, indent=2, ensure_ascii=False, default=_as_plain)


def override_texts(overrides: Overrides) -> list[str]:
    """Return values by dotted key as the texts that ``--set`` takes."""
    if isinstance(overrides, str):
        return [overrides]
    if isinstance(overrides, Mapping):
        return [f"{key}={_value(value)}" for key, value in overrides.items()]
    return list(overrides)


def _resolve(
    root: Node, folder: Path, changes: tuple[str, ...], faults: Faults | None = None
) -> Soc:
    resolved = resolve_tree(root, folder, faults, changes)
    return Soc(resolved.name, resolved, root, folder, changes)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_as_plain)


def _as_plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | set | frozenset):
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    raise TypeError(f"a description holds plain data, and no {type(value).__name__}")


def _players(players: "tuple[Player, ...]") -> list[str]:
    able = [each.cpu for each in players if not (each.faults or each.unknown)]
    why_not = [f"{each.cpu}: {fault.message}" for each in players for fault in each.faults]
    runs = [f"runs with --cpu {', '.join(able)}"] if able else []
    runs += [f"  {each.cpu}: {each.note}" for each in players if each.note]
    unknown = [f"{each.cpu}: {each.unknown}" for each in players if each.unknown]
    refused = _list_lines("does not run with --cpu", why_not)
    return runs + refused + _list_lines("not known to run with --cpu", unknown)


def _list_lines(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in lines)] if lines else []
