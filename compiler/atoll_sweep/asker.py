# SPDX-License-Identifier: Apache-2.0
"""Asks points: loads the chip of each, compiles the networks for it, and says what they take.

A row depends on its point alone, never on those that were asked before: what points share is kept
by `atoll.utils.remember`, under all that it depends on.
"""

import contextlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Literal

import atoll
from atoll.api.beside import function_of
from atoll.api.compilation import CompiledNetwork, compile_with
from atoll.api.driver import estimated_basis
from atoll.api.requests import options_of
from atoll.cost.areas import logic_of
from atoll.cost.bands import add_parts, joint_band
from atoll.cost.basis import joint_basis
from atoll.cost.energy import area_of
from atoll.description.layers import key_words
from atoll.description.sweep import BUILT, CHIP, NETWORK, PLAN, PLANNER, RUNS, Sweep, figures_asked
from atoll.description.tree import COMMAND_LINE
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import report_to, silent
from atoll.diagnostics.shown import printable
from atoll.driver.compiled import cost_of
from atoll.driver.speeds import at_speeds_of
from atoll.memory.algorithms import DEFAULT
from atoll.plugins.loading import foreign_code
from atoll.records import dataclass
from atoll.resolve.places import Memory
from atoll.resolve.soc import Device, ResolvedSoc
from atoll.resolve.timeless import timeless
from atoll.utils.scratch import temporary_folder
from atoll_sweep.chips import Chips, is_of_chip
from atoll_sweep.question import Function, Question, functions_of, requests_of
from atoll_sweep.space import Choice, choice_of

Row = dict[str, Any]

FINE = "ok"
"""The `status` of a row with figures; else it is the code of an error."""

KILLED, CRASHED = "E234", "crashed"
"""The `status` of a point at which workers die, and of one that meets an error of Atoll's own."""

WRONG = "wrong"
"""The `status` of a run whose bytes or accesses are not what they must be."""

_KEPT_CHIPS, _KEPT_COMPILATIONS = 64, 64


@dataclass(frozen=True)
class Asker:
    """Answers one question for any point."""

    question: Question
    _at_hand: dict[Choice, atoll.Soc] = field(default_factory=dict)
    _compiled: dict[tuple[Choice, str], atoll.Compilation] = field(default_factory=dict)

    @cached_property
    def sweep(self) -> Sweep:
        """The sweep file."""
        return self.question.sweep()

    @cached_property
    def _chips(self) -> Chips:
        return Chips(self.sweep)

    @cached_property
    def networks(self) -> Mapping[str, atoll.Network]:
        """The networks by name."""
        files = self.question.networks.items()
        return {name: atoll.load_network(data, name=name) for name, data in files}

    def _networks_of(self, choice: Choice) -> Mapping[str, atoll.Network]:
        """Return the networks of a point: the one that an axis names, or all."""
        sets = self.sweep.sets_of(choice)
        named = [text for key, text in sets if key == NETWORK]
        return {name: self.networks[name] for name in named} if named else self.networks

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """A user's objectives by name."""
        return {**functions_of(self.sweep), **self.question.functions}

    def answer(self, number: int, stage: str) -> Row:
        """Return the row of a point in a stage."""
        with self.question.open_texts(), report_to(silent):
            if stage in RUNS:
                return self.run(number, "iss" if stage == "iss" else "rtl")
            if stage == BUILT:
                return self.build(number)
            return self.ask(number, planned=PLAN in (stage, self.sweep.stages[0]))

    def ask(self, number: int, *, planned: bool = True) -> Row:
        """Return the row of a point, planned or with the program of one that differs in speed."""
        choice = choice_of(number, self.sweep.lengths)
        row: Row = {"point": number}
        name = None
        try:
            soc = self.chip(choice)
            made = {}
            for name, network in self._networks_of(choice).items():
                compile_it = self._plan if planned else self._estimate
                made[name] = compile_it(choice, soc, network)
            name = None
            return row | {"status": FINE} | self._figures(soc, made)
        except AtollError as error:
            return row | _words(error, name)

    def build(self, number: int) -> Row:
        """Build the firmware of each network, and return what the largest takes."""
        row: Row = {"point": number}
        name = None
        try:
            choice = choice_of(number, self.sweep.lengths)
            soc, found = self.chip(choice), list[Row]()
            for network in self._networks_of(choice).values():
                name = network.name
                found.append(_built_use(soc, self._plan(choice, soc, network)))
            largest = {key: max(each[key] for each in found) for key in found[0]}
            return row | {"status": FINE} | largest
        except AtollError as error:
            return row | _words(error, name)

    def run(self, number: int, cpu: Literal["iss", "rtl"]) -> Row:
        """Run the networks of a point, checked, and return what that took.

        The cycles are those from the first operator to the last, and None where no clock ran.
        """
        row: Row = {"point": number}
        name = None
        try:
            choice = choice_of(number, self.sweep.lengths)
            soc, total = self.chip(choice), 0
            for name, network in self._networks_of(choice).items():
                made = atoll.run(self._plan(choice, soc, network), cpu=cpu).network
                if not made.passed:
                    found = [*made.violations, *made.mismatches]
                    words = printable(str(found[0])) if found else "the run did not pass"
                    return row | {"status": WRONG, "fault": words, "network": name}
                total += _length(made) if cpu == "rtl" else 0
            return row | {"status": FINE, "cycles": total if cpu == "rtl" else None}
        except AtollError as error:
            return row | _words(error, name)

    def name_of_model(self, number: int, stage: str) -> str | None:
        """Return the name of the model that a run of a point needs, None if it needs none."""
        name: str | None = self._of_simulator("name_of_model", number, stage)
        return name

    def build_model(self, number: int, stage: str) -> tuple[str, bytes] | None:
        """Return that model, built or found, with its name; None if there can be none."""
        built: tuple[str, bytes] | None = self._of_simulator("build_model", number, stage)
        return built

    def keep_model(self, name: str, data: bytes) -> None:
        """Take over a model that was built elsewhere."""
        function_of("atoll_sim.api.chip_models:keep_model", "sweep")(name, data)

    def _of_simulator(self, function: str, number: int, stage: str) -> Any:
        try:
            with self.question.open_texts(), report_to(silent):
                soc = self.chip(choice_of(number, self.sweep.lengths))
                return function_of(f"atoll_sim.api.chip_models:{function}", "sweep")(
                    soc._resolved, cores=stage == "rtl"
                )
        except AtollError:
            return None

    def chip(self, choice: Choice) -> atoll.Soc:
        """Return the chip of a point: one that is at hand, at other speeds.

        Raises:
            AtollError: there can be none.
        """
        other = tuple(0 if axis in self._on_top else one for axis, one in enumerate(choice))
        if other not in self._at_hand:
            if len(self._at_hand) >= _KEPT_CHIPS:
                self._at_hand.pop(next(iter(self._at_hand)))
            try:
                self._at_hand[other] = self._chips.load(other)
            except AtollError:
                if other == choice:
                    raise
                return self._chips.load(choice)  # at its own speeds it may have other faults
        changes = [text for axis, texts in self._on_top.items() for text in texts[choice[axis]]]
        return self._at_hand[other].with_(changes) if changes else self._at_hand[other]

    @cached_property
    def _on_top(self) -> Mapping[int, Sequence[list[str]]]:
        """What each value sets of the axes that change speeds of one chip, by their numbers.

        Each value of such an axis sets the same keys, so that nothing of another is left.
        """
        axes = [*self.sweep.axes.values()]
        return {
            axis: [[f"{key}={text}" for key, text in each.sets] for each in axes[axis]]
            for axis in self._speeds
            if CHIP not in self._keys(axis)
            if len({frozenset(key for key, _ in each.sets) for each in axes[axis]}) == 1
        }

    def _keys(self, axis: int) -> set[str]:
        """Return what an axis sets."""
        values = [*self.sweep.axes.values()][axis]
        return {key for each in values for key, _ in each.sets}

    def _estimate(
        self, choice: Choice, soc: atoll.Soc, network: atoll.Network
    ) -> atoll.Compilation:
        """Take the program of a point that differs in speed alone, or compile the network."""
        other = tuple(0 if axis in self._speeds else one for axis, one in enumerate(choice))
        key = other, network.name
        if key not in self._compiled:
            if len(self._compiled) >= _KEPT_COMPILATIONS:
                self._compiled.pop(next(iter(self._compiled)))
            self._compiled[key] = self._plan(other, self.chip(other), network)
        compiled = self._compiled[key].network
        found = at_speeds_of(compiled._compiled, soc._resolved)
        if found is None:
            return self._plan(choice, soc, network)
        one = CompiledNetwork(network, compiled.optimal, found)
        return atoll.Compilation(soc, (one,))

    def _plan(self, choice: Choice, soc: atoll.Soc, network: atoll.Network) -> atoll.Compilation:
        sets = self.sweep.sets_of(choice)
        planner = next((text for key, text in sets if key == PLANNER), DEFAULT)
        options = options_of([network.name], requests_of(sets), algorithm=planner)
        return compile_with(soc, [network], options)

    @cached_property
    def _speeds(self) -> tuple[int, ...]:
        """The axes by which the first chip differs in speed alone, by their numbers."""
        return tuple(filter(self._is_speed, range(len(self.sweep.lengths))))

    def _is_speed(self, axis: int) -> bool:
        lengths = self.sweep.lengths
        first = (0,) * len(lengths)
        changed = ((*first[:axis], one, *first[axis + 1 :]) for one in range(1, lengths[axis]))
        others, own = (at for at in range(len(lengths)) if at != axis), self._keys(axis)
        around = {key_words(key) for each in others for key in self._keys(each)}
        if not all(map(is_of_chip, own - {CHIP})) or any(
            key_words(key)[:length] in around for key in own for length in (1, 2, 3)
        ):
            return False  # it is none, or the order of axes says whose value wins
        try:
            base = timeless(self._chips.load(first)._resolved)
            return all(timeless(self._chips.load(each)._resolved) == base for each in changed)
        except AtollError:
            return False

    def _figures(self, soc: atoll.Soc, made: Mapping[str, atoll.Compilation]) -> Row:
        costs = {name: cost_of(each.network._compiled) for name, each in made.items()}
        found = {name: each.length for name, each in costs.items()}
        use = {name: _use(soc, each) for name, each in made.items()}
        bases = [estimated_basis(each.network._compiled) for each in made.values()]
        area = area_of(soc._resolved)
        row: Row = {
            "cycles": sum(found.values()),
            "time_us": sum(found.values()) * 1e6 / soc.host_clock_hz,
            "ram_bytes": max(ram for ram, _ in use.values()),
            "rom_bytes": max(rom for _, rom in use.values()),
            "area_um2": area.total if area else None,
            "area_basis": area.basis if area else None,
            "basis": ", ".join(dict.fromkeys(bases)),
        }
        bands = [
            joint_band(add_parts(each.turns, *each.sources.values())) for each in costs.values()
        ]
        if all(bands):
            ends = [(band, of) for band, of in zip(bands, found.values(), strict=True) if band]
            row["cycles_low"] = sum(round(of * (1 - band.low)) for band, of in ends)
            row["cycles_high"] = sum(round(of * (1 + band.high)) for band, of in ends)
        if self._traffic_counts or any(each.energy for each in _parts(soc)):
            estimates = [atoll.estimate(each).network for each in made.values()]
            row["moved_bytes"] = sum(map(_traffic, estimates))
            row["energy_pj"] = _sum([each.energy_pj for each in estimates])
            if stated := [each.energy_basis for each in estimates if each.energy_basis]:
                row["energy_basis"] = joint_basis(stated)
        if logic_counts(self.sweep):
            logic = logic_of(soc._resolved)
            row["logic_um2"], row["sram_bytes"] = logic.total, logic.sram_bytes
            row["logic_um2_low"], row["logic_um2_high"] = logic.low, logic.high
            row["logic_basis"] = logic.basis_words
        if len(self.networks) > 1:
            for name, cycles in found.items():
                row[f"{name}.cycles"] = cycles
                row[f"{name}.ram_bytes"], row[f"{name}.rom_bytes"] = use[name]
        return row | self._scores(soc, made)

    @cached_property
    def _traffic_counts(self) -> bool:
        return {"moved_bytes", "energy_pj"} & set(figures_asked(self.sweep)) != set()

    def _scores(self, soc: atoll.Soc, made: Mapping[str, atoll.Compilation]) -> Row:
        """Return a user's objectives; one that fails is not known, and `fault` says why."""
        row: Row = {}
        ours = os.getpid()
        for name, function in self.functions.items():
            try:
                with (
                    foreign_code(f"objective '{name}' failed"),
                    contextlib.redirect_stdout(sys.stderr),
                ):
                    row[name] = _finite(function(soc, made))
            except AtollError as error:
                row["fault"] = printable(error.faults[0].message)
            if os.getpid() != ours:
                os._exit(0)  # it has forked, and its child came here as well
        return row


def logic_counts(sweep: Sweep) -> bool:
    """Tell whether somebody asks for the area of logic."""
    return {"logic_um2", "sram_bytes"} & set(figures_asked(sweep)) != set()


def _words(error: AtollError, network: str | None) -> Row:
    fault = error.faults[0]
    words = printable(fault.message).replace(f" (from {COMMAND_LINE})", "")
    return {"status": fault.code, "fault": words, "network": network}


def _length(made: atoll.NetworkRun) -> int:
    layers = made._report.by_layer
    return max(each.end for each in layers) - min(each.begin for each in layers)


def _finite(score: float) -> float:
    if not math.isfinite(score):
        raise ValueError(f"it returned {score}")
    return float(score)


def _use(soc: atoll.Soc, made: atoll.Compilation) -> tuple[int, int]:
    """Return what a plan takes of pools in RAM and of pools in ROM."""
    return _by_kind(soc._resolved, made.used_bytes)


def _built_use(soc: atoll.Soc, made: atoll.Compilation) -> Row:
    """Return what a firmware takes: pools, code and data in RAM and ROM, and stacks beside them.

    Raises:
        AtollError: it cannot be built.
    """
    used, stack = dict(made.used_bytes), 0
    with temporary_folder() as folder:
        images: list[Row] = atoll.build(made, folder / "firmware").rows()
        for image in images:
            stack += image["stack_bytes"]
            for each in image["regions"]:
                used[each["region"]] = max(each["used_bytes"], used.get(each["region"], 0))
    ram, rom = _by_kind(soc._resolved, used)
    return {"ram_bytes": ram, "rom_bytes": rom, "stack_bytes": stack}


def _by_kind(chip: ResolvedSoc, used: Mapping[str, int]) -> tuple[int, int]:
    """Return the sum of bytes by region in RAM and in ROM."""
    memories = {region.name: region.memory for region in chip.regions()}
    found = {"ram": 0, "rom": 0}
    for region, size in used.items():
        found[chip.memory(memories[region]).kind] += size
    return found["ram"], found["rom"]


def _traffic(found: atoll.NetworkEstimate) -> int:
    traffic = [each for layer in found.operators for each in layer.traffic]
    return sum(each.read_bytes + each.written_bytes for each in traffic)


def _parts(soc: atoll.Soc) -> Sequence[Device | Memory]:
    return (*soc._resolved.devices, *soc._resolved.memories)


def _sum(values: Sequence[int | None]) -> int | None:
    """Return a sum; None if a part is not known."""
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None
