# SPDX-License-Identifier: Apache-2.0
"""Networks compiled for a chip: everything but machine code."""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Unpack

from atoll.api.chips import Soc, SocSource, load_soc
from atoll.api.driver import (
    BuildOptions,
    Compiled,
    Observer,
    compile_for,
    estimated_basis,
    estimated_cycles,
    explanation,
    notes_of,
    stack_doubts,
    with_kernels,
)
from atoll.api.explanations import Explanation, to_explanation
from atoll.api.instruction_counts import InstructionCounts, count_kernels
from atoll.api.interface import Interface, interface_from
from atoll.api.networks import Network, NetworkSource, load_network
from atoll.api.notebook import Row, svg_element
from atoll.api.plans import (
    PlacedBuffer,
    Plans,
    PoolUse,
    TitledPlan,
    buffer_rows,
    placed_buffers,
    pool_table,
    pool_uses,
)
from atoll.api.requests import BuildSource, Requests, effort_of, options_of
from atoll.interchange.instance import solution_csv
from atoll.interchange.tflm_given import given_plan
from atoll.ir.graph import Graph
from atoll.memory.algorithms import DEFAULT
from atoll.records import dataclass
from atoll.report.candidates import candidate_table
from atoll.report.plan_table import total_use
from atoll.resolve.tables import as_text


@dataclass(frozen=True, slots=True)
class CompiledNetwork:
    """One network with its plan.

    Attributes:
        network: as it was given.
        optimal: it is proven that no plan of its buffers is better.
    """

    network: Network
    optimal: bool
    _compiled: Compiled = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the network."""
        return self.network.name

    @property
    def pools(self) -> tuple[PoolUse, ...]:
        """What the plan makes of each pool."""
        return pool_uses(self._compiled.plan)

    @property
    def peak_bytes(self) -> dict[str, int]:
        """Most bytes that live at one step, by pool."""
        return {each.pool: each.peak_bytes for each in self.pools}

    @property
    def used_bytes(self) -> dict[str, int]:
        """What the plan takes of each pool, which may be more than its peak."""
        return {each.pool: each.used_bytes for each in self.pools}

    @property
    def estimated_cycles(self) -> int:
        """Cycles of the host from the first operator to the last; see `estimated_cycles_basis`."""
        return estimated_cycles(self._compiled)

    @property
    def estimated_cycles_basis(self) -> str:
        """What the estimate rests on: ``measured``, or what stands in for a measurement."""
        return estimated_basis(self._compiled)

    @property
    def buffers(self) -> tuple[PlacedBuffer, ...]:
        """Every buffer in its place."""
        return placed_buffers(self._compiled.plan, self.name)

    @property
    def interface(self) -> Interface:
        """What an application must know of the network."""
        from atoll.artifacts.build_tree import interface_of  # what links takes long to import

        return interface_from(interface_of(self._compiled), self._compiled.plan)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a request made many times slower, and what an NPU's compiler did not take."""
        return notes_of(self._compiled)

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Of a file with a plan for TFLM: what that comes to, and whether tensors overlap."""
        given = given_plan(self._compiled.source)
        return (str(given),) if given else ()

    @property
    def stack_notes(self) -> tuple[str, ...]:
        """Stacks of which only a linked image tells that they suffice."""
        return stack_doubts(self._compiled)

    def explain(self) -> Explanation:
        """Say of each buffer and operator why it is where it is."""
        return to_explanation(explanation(self._compiled))

    def candidates_json(self) -> dict[str, Any]:
        """Return what ``atoll explain --candidates --json`` prints of the network."""
        return {
            "soc": self._compiled.soc.name,
            "model": self.name,
            "model_sha256": self._compiled.source.sha256,
            "candidates": self.candidate_rows(),
        }

    def candidate_rows(self) -> list[Row]:
        """Return what was tried to find the plan: choices, cycles, and why each lost."""
        return [each.as_json() for each in self._compiled.candidates]

    def candidates_text(self, columns: int | None = None) -> str:
        """Return the same as ``atoll explain --candidates`` prints it."""
        return as_text((candidate_table(self._compiled.candidates),), columns)

    def rows(self) -> list[Row]:
        """Return the buffers with their places."""
        return buffer_rows(self.buffers)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll plan SOC MODEL --json`` prints."""
        return self._titled.as_json()

    def svg(self) -> str:
        """Return a picture of its pools as an SVG file."""
        return Plans(plans=(self._titled,)).svg()

    @property
    def _titled(self) -> TitledPlan:
        of = {"soc": self._compiled.soc.name, "model": self.name}
        digest = self._compiled.source.sha256
        notes = (*self.notes, *self.plan_notes)
        return TitledPlan(of=of, plan=self._compiled.plan, notes=notes, model_sha256=digest)

    def _repr_svg_(self) -> str:
        return svg_element(self.svg())


@dataclass(frozen=True, slots=True)
class Compilation:
    """Networks that share one firmware on a chip; one network is the usual case."""

    soc: Soc
    networks: tuple[CompiledNetwork, ...]

    @property
    def network(self) -> CompiledNetwork:
        """The only network.

        Raises:
            ValueError: there are several.
        """
        (one,) = self.networks
        return one

    @property
    def used_bytes(self) -> dict[str, int]:
        """What all networks together take of each pool that any of them uses."""
        return total_use(
            self.soc._resolved, {each.name: each._compiled.plan for each in self.networks}
        )

    def count_instructions(self, *, toolchain: str | None = None) -> InstructionCounts:
        """Run the networks once on the instruction-set simulator, and count what cores run.

        Engines are played by software models. Where a kernel's path rests on data, its counts are
        those of one random sample.

        Args:
            toolchain: compiles and links; None takes the description's.

        Raises:
            UsageError: E070, Unicorn is not installed; E090, no simulator is; E242, a core that
                runs an operator has no `timing`.
            SimulationError: E102, no instruction-set simulator runs a core of the chip; E243, the
                firmware did not run to its end.
            AtollError: the firmware cannot be built.
        """
        return count_kernels(self._compiled, toolchain)

    def with_instructions(self, counts: InstructionCounts) -> "Compilation":
        """Return the same, whose estimates take these counts where kernels are the same.

        Args:
            counts: of this compilation, or of another one in which the same core runs some of the
                same kernels.

        >>> import atoll
        >>> made = atoll.compile("lagoon", "examples/01_digits/digits_int8.tflite")
        >>> on_core = atoll.compile(made.soc, made.network.network, accelerators=False)
        >>> counted = on_core.with_instructions(on_core.count_instructions())
        >>> atoll.estimate(counted).network.basis
        'simulated x measured'
        """
        return replace(
            self,
            networks=tuple(
                replace(each, _compiled=with_kernels(each._compiled, counts._runs))
                for each in self.networks
            ),
        )

    def rows(self) -> list[Row]:
        """Return the buffers of all networks with their places."""
        return [row for each in self.networks for row in each.rows()]

    def text(self, columns: int | None = None) -> str:
        """Return the tables that ``atoll plan`` prints."""
        return self._plans.text(columns)

    def to_json(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return what ``atoll plan --json`` prints: an object, or a list for several networks."""
        return self._plans.as_json()

    def csv(self) -> str:
        """Return the plan of the only network as an instance with a column `offset`."""
        return solution_csv(self.network._compiled.plan)

    def svg(self) -> str:
        """Return a picture of all pools as an SVG file."""
        return self._plans.svg()

    @property
    def _plans(self) -> Plans:
        soc = self.soc._resolved if len(self.networks) > 1 else None
        return Plans(plans=tuple(each._titled for each in self.networks), soc=soc)

    @property
    def _compiled(self) -> tuple[Compiled, ...]:
        return tuple(each._compiled for each in self.networks)

    def __iter__(self) -> Iterator[CompiledNetwork]:
        return iter(self.networks)

    def _repr_svg_(self) -> str:
        return svg_element(self.svg())

    def _repr_html_(self) -> str:
        return "".join(
            pool_table(f"{each.name} on {self.soc.name}", each.pools) for each in self.networks
        ) + svg_element(self.svg())


def compile(
    soc: SocSource,
    networks: NetworkSource | Sequence[NetworkSource],
    *,
    build: BuildSource = None,
    accelerators: bool = True,
    algorithm: str = DEFAULT,
    budget_seconds: float | None = None,
    seed: int = 0,
    **requests: Unpack[Requests],
) -> Compilation:
    """Place, plan and schedule one network, or several that share a firmware.

    Args:
        soc: the chip, or what `load_soc` takes.
        networks: one network, or several, or what `load_network` takes.
        build: a build file, or what it would say.
        accelerators: False runs every operator on the cores.
        algorithm: name of the memory planner.
        budget_seconds: planning stops searching then; None for the usual effort.
        seed: of what the planner draws at random.
        **requests: keys of a build file, which win over `build`; see `Requests`.

    Raises:
        PlacementError: a tensor cannot be where its devices reach it.
        PlanError: a pool or a stack is too small.
        AtollError: as `load_soc` and `load_network`.

    >>> import atoll
    >>> made = atoll.compile(
    ...     "lagoon", "examples/01_digits/digits_int8.tflite", place={"softmax_9": "cpu"}
    ... )
    >>> made.network.optimal
    True
    """
    chip, loaded = load_soc(soc), tuple(map(load_network, several(networks)))
    options = options_of(
        [each.name for each in loaded],
        build,
        accelerators=accelerators,
        algorithm=algorithm,
        effort=effort_of(budget_seconds, seed),
        **requests,
    )
    return compile_with(chip, loaded, options)


def compile_with(
    soc: Soc,
    networks: Sequence[Network],
    options: Sequence[BuildOptions],
    observe: Observer | None = None,
) -> Compilation:
    """Compile with options that were read already; `observe` is told each stage's result."""
    compiled = compile_for(soc, networks, options, observe)
    made = zip(networks, compiled, strict=True)
    return Compilation(soc, tuple(CompiledNetwork(of, one.plan.optimal, one) for of, one in made))


def several(sources: NetworkSource | Sequence[NetworkSource]) -> Sequence[NetworkSource]:
    """Return one network as a sequence of it, several as they are."""
    if isinstance(sources, Network | Graph | Path | str | bytes):
        return (sources,)
    return sources
