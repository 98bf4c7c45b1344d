# SPDX-License-Identifier: Apache-2.0
"""Memory plans: of networks that share a firmware, and of bare instances."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from atoll.api.notebook import Row, html_table, svg_element
from atoll.api.requests import effort_of
from atoll.diagnostics.errors import PlanError, path_of_text
from atoll.diagnostics.progress import duration, tell
from atoll.diagnostics.units import parse_size
from atoll.interchange.instance import (
    POOL,
    load_instance,
    read_instance,
    solution_csv,
)
from atoll.interchange.plan_text import plan_json
from atoll.memory.algorithms import DEFAULT, PLANNERS
from atoll.memory.effort import Effort
from atoll.memory.effort import Progress as SearchProgress
from atoll.memory.problem import MemoryPlan, Problem
from atoll.memory.solve import plan_memory
from atoll.records import dataclass
from atoll.report.plan_table import plan_table, together_table, total_use
from atoll.report.pool_picture import PoolPicture, pool_pictures
from atoll.report.pool_svg import svg_of
from atoll.resolve.soc import ResolvedSoc

_SIZE = re.compile(f"set 'pools.{POOL}.size' to (.+) or more")

InstanceSource = Path | str | Sequence[Mapping[str, object]]
"""A table of buffers: a file, its text, or rows with `id`, `lower`, `upper`, `size`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """What a plan makes of a pool.

    Attributes:
        size_bytes: that the pool has; None if it is not bounded.
        used_bytes: the end of the highest buffer.
        peak_bytes: most bytes live at one step, less what overlaps may save.
        bound_bytes: no plan of the buffers that lie here uses less.
    """

    pool: str
    size_bytes: int | None
    used_bytes: int
    peak_bytes: int
    bound_bytes: int

    @property
    def gap_bytes(self) -> int:
        """Bytes that might still be saved; 0 is a proof that none can be."""
        return self.used_bytes - self.bound_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBuffer:
    """A buffer in its place.

    Attributes:
        network: "" in an instance.
        address: on the system bus; in an instance, counted from the start of the pool.
        live_steps: half-open intervals of steps in which its bytes are needed.
        candidates: the pools that might have held it, best first.
    """

    network: str
    buffer: str
    pool: str
    offset_bytes: int
    address: int
    size_bytes: int
    alignment_bytes: int
    live_steps: tuple[tuple[int, int], ...]
    candidates: tuple[str, ...]


def pool_uses(plan: MemoryPlan) -> tuple[PoolUse, ...]:
    """Return what a plan makes of each pool."""
    return tuple(
        PoolUse(
            pool=name,
            size_bytes=use.limit,
            used_bytes=use.used,
            peak_bytes=use.peak,
            bound_bytes=use.bound,
        )
        for name, use in plan.use.items()
    )


def placed_buffers(plan: MemoryPlan, network: str = "") -> tuple[PlacedBuffer, ...]:
    """Return every buffer of a plan, by name."""
    buffers = sorted(plan.problem.buffers, key=lambda each: each.name)
    return tuple(
        PlacedBuffer(
            network=network,
            buffer=each.name,
            pool=plan.placements[each.name].pool,
            offset_bytes=plan.placements[each.name].offset,
            address=plan.address(each.name),
            size_bytes=each.size,
            alignment_bytes=each.alignment,
            live_steps=each.live,
            candidates=each.pools,
        )
        for each in buffers
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TitledPlan:
    """A plan, what it is for, and what a reader should know of a network's."""

    of: Mapping[str, str]
    plan: MemoryPlan
    notes: tuple[str, ...] | None = None
    model_sha256: str | None = None

    @property
    def title(self) -> str:
        """The network and its chip, or the instance."""
        return " on ".join(list(self.of.values())[::-1])

    def as_json(self) -> dict[str, Any]:
        """Return the plan for machines."""
        plan = self.plan
        verdict = {"cost": plan.cost, "gap_bytes": plan.gap, "optimal": plan.optimal}
        notes = {} if self.notes is None else {"notes": list(self.notes)}
        digest = {} if self.model_sha256 is None else {"model_sha256": self.model_sha256}
        return {**self.of, **digest, **verdict, **plan_json(plan), **notes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """Plans that belong together; `soc` is the chip of several networks."""

    plans: tuple[TitledPlan, ...]
    soc: ResolvedSoc | None = None

    def as_json(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return the plan for machines; of several networks a list.

        What a pool holds of all networks stands in each of its elements.
        """
        objects = [each.as_json() for each in self.plans]
        if self.soc is None:
            return objects[0]
        together = {"together_bytes": total_use(self.soc, self._by_network)}
        return [each | together for each in objects]

    def svg(self) -> str:
        """Return pictures of all pools as the text of an SVG file."""
        pictures = [picture for each in self.plans for picture in self.pictures(each)]
        if self.soc is None:
            return svg_of(self.plans[0].title, pictures)
        return svg_of(f"{', '.join(self._by_network)} on {self.soc.name}", pictures)

    def texts(self, columns: int | None = None) -> Iterable[str]:
        """Yield the table of each plan, with its title if there are several."""
        for each in self.plans:
            title = f"{each.title}\n" if self.soc else ""
            yield f"{title}{plan_table(each.plan, columns)}"

    def together_text(self, columns: int | None = None) -> str:
        """Return the table of what several networks need together; "" for one."""
        if self.soc is None:
            return ""
        table = together_table(self.soc, self._by_network, columns)
        return f"together on {self.soc.name}\n{table}"

    def text(self, columns: int | None = None) -> str:
        """Return all tables."""
        return "\n".join(filter(None, (*self.texts(columns), self.together_text(columns))))

    def pictures(self, one: TitledPlan) -> Iterable[PoolPicture]:
        """Return the pictures of the pools of one plan."""
        return pool_pictures(one.plan, one.of["model"] if self.soc is not None else "")

    @property
    def _by_network(self) -> Mapping[str, MemoryPlan]:
        return {each.of["model"]: each.plan for each in self.plans}


@dataclass(frozen=True, slots=True)
class InstancePlan:
    """The plan of a bare instance.

    Attributes:
        pool: what the plan makes of its pool.
        optimal: it is proven that no plan uses less.
        algorithm: the planner that found it.
    """

    pool: PoolUse
    buffers: tuple[PlacedBuffer, ...] = field(repr=False)
    optimal: bool
    algorithm: str
    _plans: Plans = field(repr=False)

    @property
    def used_bytes(self) -> int:
        """The end of the highest buffer."""
        return self.pool.used_bytes

    @property
    def peak_bytes(self) -> int:
        """Most bytes that live at one step."""
        return self.pool.peak_bytes

    def rows(self) -> list[Row]:
        """Return the buffers with their places."""
        return buffer_rows(self.buffers)

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll plan --instance`` prints."""
        return self._plans.text(columns)

    def csv(self) -> str:
        """Return the instance with a column `offset`."""
        return solution_csv(self._plans.plans[0].plan)

    def svg(self) -> str:
        """Return a picture of the pool as an SVG file."""
        return self._plans.svg()

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll plan --instance FILE --json`` prints."""
        return self._plans.plans[0].as_json()

    def _repr_svg_(self) -> str:
        return svg_element(self.svg())


def plan_instance(
    source: InstanceSource,
    *,
    capacity_bytes: int | None = None,
    alignment_bytes: int = 1,
    algorithm: str = DEFAULT,
    budget_seconds: float | None = None,
    seed: int = 0,
) -> InstancePlan:
    """Plan buffers of which only sizes and live ranges are known, in one pool.

    Args:
        source: the path or the text of a table ``id,lower,upper,size`` (CSV), or its rows.
        capacity_bytes: the size of the pool; None for no limit.
        alignment_bytes: of every buffer, a power of two.
        algorithm: name of the planner.
        budget_seconds: stop searching then; None for the usual effort.
        seed: of what the planner draws at random.

    Raises:
        UsageError: E057, E058; the instance is malformed or impossible.
        PlanError: the pool is too small.

    >>> import atoll
    >>> rows = [{"id": name, "lower": 0, "upper": 4, "size": 100} for name in "ab"]
    >>> atoll.plan_instance(rows, alignment_bytes=16).used_bytes
    212
    """
    PLANNERS.get(algorithm)
    name, problem = _problem(source, capacity_bytes, alignment_bytes)
    return plan_problem(name, problem, algorithm, effort_of(budget_seconds, seed), _as_argument)


def plan_problem(
    name: str, problem: Problem, algorithm: str, effort: Effort, ask: Callable[[str], str]
) -> InstancePlan:
    """Plan an instance; where the pool is too small, `ask` says how to give it another size."""
    most = f"{effort.nodes + effort.fitting:,} nodes"
    if effort.seconds is not None:
        most = duration(effort.seconds)

    def tell_best(found: SearchProgress) -> None:
        bound = f"at least {found.bound:,} B are needed"
        tell(f"planning: {found.used:,} B after {found.nodes:,} nodes, {bound}, at most {most}")

    try:
        plan = plan_memory(problem, name=algorithm, effort=effort, observe=tell_best)
    except PlanError as error:
        faults = (
            replace(fault, remedy=_SIZE.sub(lambda size: ask(size[1]), fault.remedy or "") or None)
            for fault in error.faults
        )
        raise PlanError.all(faults) from error
    (pool,) = pool_uses(plan)
    plans = Plans(plans=(TitledPlan(of={"instance": name}, plan=plan),))
    return InstancePlan(pool, placed_buffers(plan), plan.optimal, plan.algorithm, plans)


def buffer_rows(buffers: Iterable[PlacedBuffer]) -> list[Row]:
    """Return buffers as rows of a table."""
    return [asdict(each) for each in buffers]


def pool_table(title: str, pools: Iterable[PoolUse]) -> str:
    """Return pools as a table in HTML."""
    return html_table(title, [{**asdict(each), "gap_bytes": each.gap_bytes} for each in pools])


def _as_argument(size: str) -> str:
    return f"give capacity_bytes={parse_size(size)} or more"


def _problem(source: InstanceSource, capacity: int | None, alignment: int) -> tuple[str, Problem]:
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        path = Path(source)
        return path.name, load_instance(path, capacity, alignment)
    text = source if isinstance(source, str) else _table_text(source)
    return "instance", read_instance(text, path_of_text(text, "instance"), capacity, alignment)


def _table_text(rows: Sequence[Mapping[str, object]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [columns, *([str(row.get(name, "")) for name in columns] for row in rows)]
    return "".join(f"{','.join(cells)}\n" for cells in lines)
