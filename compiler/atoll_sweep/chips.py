# SPDX-License-Identifier: Apache-2.0
"""The chips of a sweep: each is loaded with the values of a point, and some before any work.

A key that no chip has, and a value that no chip can have whatever the other axes say, are refused
beforehand. A value that contradicts others is a point without figures.
"""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

import atoll
from atoll.cost.areas import logic_of
from atoll.cost.energy import area_of
from atoll.description.loader import override
from atoll.description.share import find_soc
from atoll.description.sweep import BUILD, CHIP, NETWORK, PLANNER, Sweep, figures_asked
from atoll.description.tree import COMMAND_LINE, Listing
from atoll.diagnostics.errors import AtollError, Fault
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll_sweep.space import Choice

_NEVER = ("E011", "E012", "E020", "E021", "E022", "E023", "E024", "E042")
"""A value that has no meaning, or names what is not there."""

_BEYOND = "E045"
"""A value beyond bounds, which a range may end with: an axis must have others."""

_MOST_TRIED, _MOST_AROUND = 512, 16
"""Values of all axes that are tried beforehand, and choices of other axes for one that fails."""


@dataclass(frozen=True)
class Chips:
    """Loads chips."""

    sweep: Sweep
    _read: dict[str, atoll.Soc] = field(default_factory=dict)

    def load(self, choice: Choice) -> atoll.Soc:
        """Return the chip of a point.

        Raises:
            AtollError: there can be none.
        """
        return self.load_with(self.sweep.sets_of(choice))

    def load_with(self, sets: Sequence[tuple[str, str]]) -> atoll.Soc:
        """Return the chip that keys and texts of axes make.

        Raises:
            AtollError: there can be none.
        """
        source = str(next((text for key, text in sets if key == CHIP), self.sweep.model.soc))
        chip = self._read.get(source)
        if chip is None:
            chip = self._read[source] = atoll.load_soc(find_soc(source, self.sweep.folder))
        changes = [f"{key}={text}" for key, text in sets if is_of_chip(key)]
        return chip.with_(changes) if changes else chip


def is_of_chip(key: str) -> bool:
    """Tell whether an axis or a setting is a key of the chip."""
    return key not in (CHIP, NETWORK, PLANNER) and not key.startswith(BUILD)


def chip_names(sweep: Sweep) -> list[str]:
    """Return what the sweep file calls its chips."""
    sets = [pair for values in sweep.axes.values() for each in values for pair in each.sets]
    named = dict.fromkeys(text for key, text in sets if key == CHIP)
    return [*named, sweep.model.soc] if sweep.model.soc else [*named]


def chips_of(sweep: Sweep) -> Iterator[atoll.Soc]:
    """Yield the chips whose keys are changed.

    Raises:
        AtollError: one cannot be read.
    """
    listed = {str(each.label): number for number, each in enumerate(sweep.axes.get(CHIP, ()))}
    for name in chip_names(sweep):
        place = ("axes", CHIP, str(listed[name])) if name in listed else ("axes",)
        at = sweep.where.at("soc") if name == sweep.model.soc else sweep.where.at(*place)
        yield atoll.load_soc(find_soc(name, sweep.folder, at))


def wrong_keys(sweep: Sweep, chip: atoll.Soc) -> Iterator[Fault]:
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
                    remedy=error.faults[0].remedy
                    if len(chip_names(sweep)) == 1
                    else "let 'settings' of one axis set 'soc' and the keys of each chip together",
                )


def wrong_values(sweep: Sweep) -> Iterator[Fault]:
    """Yield a fault for each axis with a value that no chip can have, or for figures of none."""
    trial = _Trial(sweep)
    wrong = [*trial.wrong_values()]
    yield from wrong or trial.unknown_figures()


class _Trial:
    """Loads chips with each value alone, and with some of other axes where that fails."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep, self._chips = sweep, Chips(sweep)
        self._lacks: dict[str, set[str]] = {}
        self._all_tried = True

    def wrong_values(self) -> Iterator[Fault]:
        """Yield a fault for the first value of each axis that no chip can have."""
        axes = self._sweep.axes
        first = [(CHIP, each) for each in chip_names(self._sweep)][:1]
        alone = {
            name: {one: self._faults([*values[one].sets, *first]) for one in self._spread(values)}
            for name, values in axes.items()
        }
        fit = {
            name: [axes[name][one].sets for one, faults in found.items() if not faults]
            for name, found in alone.items()
        }
        for name, found in alone.items():
            others = [sets for other, sets in fit.items() if other != name and sets]
            why = {
                one: self._reason(axes[name][one].sets, faults, others)
                for one, faults in found.items()
            }
            all_beyond = all(why.values()) and len(why) == len(axes[name])
            wrong = {
                one: fault
                for one, fault in why.items()
                if fault and (fault.code != _BEYOND or all_beyond)
            }
            if wrong:
                yield self._fault(name, *next(iter(wrong.items())), len(wrong) - 1)

    def unknown_figures(self) -> Iterator[Fault]:
        """Yield a fault for each figure for which all chips so far lack the same."""
        where, objectives = self._sweep.where, [*self._sweep.model.objectives]
        for name, lacks in self._lacks.items():
            if lacks and self._all_tried:
                yield Fault(
                    code="E244",
                    message=f"'{name}' cannot be known: nothing says {', '.join(sorted(lacks))}",
                    at=where.at("objectives", str(objectives.index(name)))
                    if name in objectives
                    else where.key_at("constraints", name),
                    remedy="state them in the chip, as docs/estimate.md says, or leave it out",
                )

    def _spread(self, values: Sequence[object]) -> Sequence[int]:
        """Return numbers of values, from the first to the last."""
        most = max(2, _MOST_TRIED // len(self._sweep.axes))
        if len(values) <= most:
            return range(len(values))
        self._all_tried = False
        return [each * (len(values) - 1) // (most - 1) for each in range(most)]

    def _faults(self, sets: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Fault]:
        """Return what keeps a chip from having values."""
        try:
            chip = self._chips.load_with(sets)._resolved
        except AtollError as error:
            return {(each.code, each.message): each for each in error.faults}
        for name in figures_asked(self._sweep):
            lacks = set(_lacks_of(name, chip))
            self._lacks[name] = self._lacks.get(name, lacks) & lacks
        return {}

    def _reason(
        self,
        own: Sequence[tuple[str, str]],
        faults: Mapping[tuple[str, str], Fault],
        others: Sequence[Sequence[Sequence[tuple[str, str]]]],
    ) -> Fault | None:
        """Return a fault of a value that it has whatever others say; None if there is none."""
        always = {key: each for key, each in faults.items() if each.code in (*_NEVER, _BEYOND)}
        drawn = random.Random(0)
        for _ in range(_MOST_AROUND if always else 0):
            found = self._faults([*own, *(pair for sets in others for pair in drawn.choice(sets))])
            always = {key: each for key, each in always.items() if key in found}
        return next(iter(always.values()), None)

    def _fault(self, name: str, one: int, fault: Fault, more: int) -> Fault:
        also = f", nor {more} other{'s' * (more > 1)}" if more else ""
        words = fault.message.replace(f" (from {COMMAND_LINE})", "")
        where = self._sweep.where
        is_listed = isinstance(where.entries["axes", name].value, Listing)
        return Fault(
            code="E244",
            message=f"no chip can have '{self._sweep.axes[name][one].label}' of axis '{name}'"
            f"{also}: {words}",
            at=where.at("axes", name, str(one)) if is_listed else where.key_at("axes", name),
            remedy="write other values, or delete them"
            if fault.code in ("E012", _BEYOND)
            else fault.remedy,
        )


def _lacks_of(figure: str, chip: ResolvedSoc) -> Collection[str]:
    """Return what keeps a figure of a chip from being known, whatever runs on it."""
    if figure == "energy_pj":
        stated = [*(each.energy for each in chip.devices), *(each.energy for each in chip.memories)]
        return () if any(stated) else ("the energy of any part",)
    if figure == "area_um2":
        return () if area_of(chip) else ("the area of any part",)
    return logic_of(chip).lacks if figure in ("logic_um2", "sram_bytes") else ()
