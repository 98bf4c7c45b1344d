# SPDX-License-Identifier: Apache-2.0
"""What `atoll plan` prints and draws: one plan, or those of networks that share a firmware."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from atoll.cli.console import out
from atoll.cli.tables import room
from atoll.interchange.plan_text import plan_json
from atoll.memory.problem import MemoryPlan
from atoll.pipeline import Compiled
from atoll.report.plan_table import plan_table, together_table, used_together
from atoll.report.pool_picture import PoolPicture, pool_pictures
from atoll.report.pool_svg import svg_of
from atoll.report.pool_terminal import drawn
from atoll.resolve.soc import ResolvedSoc
from atoll.shown import json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan and what it is for."""

    of: Mapping[str, str]
    plan: MemoryPlan

    @property
    def title(self) -> str:
        """The network and its chip, or the instance."""
        return " on ".join(list(self.of.values())[::-1])

    def as_json(self) -> dict[str, object]:
        """Return the plan for machines."""
        plan = self.plan
        verdict = {"cost": plan.cost, "gap_bytes": plan.gap, "optimal": plan.optimal}
        return {**self.of, **verdict, **plan_json(plan)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Plans of one command; `soc` is the chip of several networks."""

    plans: tuple[Planned, ...]
    soc: ResolvedSoc | None = None

    @classmethod
    def of(cls, soc: ResolvedSoc, models: Sequence[Compiled]) -> Self:
        """Return the plans of networks that share a firmware."""
        return cls(
            soc=soc if len(models) > 1 else None,
            plans=tuple(
                Planned(of={"soc": soc.name, "model": each.graph.name}, plan=each.plan)
                for each in models
            ),
        )

    def json(self) -> str:
        """Return the plan for machines; of several networks a list.

        What a pool holds of all networks stands in each of its elements.
        """
        objects = [each.as_json() for each in self.plans]
        if self.soc is None:
            return json_text(objects[0])
        together = {"together_bytes": used_together(self.soc, self._by_network)}
        return json_text([each | together for each in objects])

    def figure(self) -> str:
        """Return pictures of all pools as the text of an SVG file."""
        pictures = [picture for each in self.plans for picture in self._pictures(each)]
        if self.soc is None:
            return svg_of(self.plans[0].title, pictures)
        return svg_of(f"{', '.join(self._by_network)} on {self.soc.name}", pictures)

    def show(self, *, picture: bool) -> None:
        """Print a table of each plan, and of all together if there are several."""
        for each in self.plans:
            if self.soc is not None:
                print(each.title)
            print(plan_table(each.plan, room()), end="")
            for part in drawn(self._pictures(each), room()) if picture else ():
                out.print()
                out.print(part)
            if self.soc is not None:
                print()
        if self.soc is not None:
            print(f"together on {self.soc.name}")
            print(together_table(self.soc, self._by_network, room()), end="")

    @property
    def _by_network(self) -> Mapping[str, MemoryPlan]:
        return {each.of["model"]: each.plan for each in self.plans}

    def _pictures(self, one: Planned) -> Iterable[PoolPicture]:
        return pool_pictures(one.plan, one.of["model"] if self.soc is not None else "")
