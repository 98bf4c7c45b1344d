# SPDX-License-Identifier: Apache-2.0
"""Give operators to cores that nobody asks for, where the whole is surely faster so."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from atoll.cost.bands import Pessimistic
from atoll.cost.core_costs import alike
from atoll.ir.graph import Operator
from atoll.place.weighing import Weighing
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc


def has_unlike_cores(soc: ResolvedSoc) -> bool:
    """Tell whether the host can have operators run on cores that are not of one kind."""
    cores = [core for core in soc.cpus if core.name == soc.host or core.has_mailbox]
    return any(not alike(core, cores[0], soc) for core in cores[1:])


@dataclass(frozen=True, slots=True)
class FasterCores:
    """Moves groups of operators, the largest first, until no move makes the whole faster.

    A move counts only if it is faster in every scenario of what nobody measured; a robust one only
    if the most that it may take is less.

    Attributes:
        weighing: what the operators cost.
        cores: those that may run each operator that may move, by its name.
        robust: moves are judged by the high ends of bands.
    """

    weighing: Weighing
    cores: Mapping[str, Sequence[str]]
    robust: bool = False

    def choose_devices(self, where: Mapping[str, str]) -> dict[str, str]:
        """Return a device for each operator: that of `where`, or a faster core."""
        found, before = dict(where), None
        while found != before:
            before = dict(found)
            for group in self._groups(found):
                found |= self._best(group, found)
        return found

    def _groups(self, where: Mapping[str, str]) -> Iterator[tuple[Operator, ...]]:
        """Yield all operators on cores, those in a row, and each operator that may move."""
        operators, soc = self.weighing.graph.operators, self.weighing.soc

        def on_core(op: Operator) -> bool:
            return op.name in self.cores and isinstance(soc.device(where[op.name]), Cpu)

        yield tuple(filter(on_core, operators))
        for on_cores, run in groupby(operators, on_core):
            if on_cores:
                yield tuple(run)
        yield from ((op,) for op in operators if op.name in self.cores)

    def _best(self, group: Sequence[Operator], where: Mapping[str, str]) -> Mapping[str, str]:
        """Return the core on which a group is fastest, for those of it that it can run."""
        names = dict.fromkeys(core for op in group for core in self.cores[op.name])
        found: list[tuple[Pessimistic, Mapping[str, str]]] = []
        for core in names:
            ops = [op for op in group if core in self.cores[op.name] and where[op.name] != core]
            there = {**where, **dict.fromkeys((op.name for op in ops), core)}
            if ops and self._surely(ops, there, where):
                unknown, cycles = self._weight(ops, there)
                weight = unknown, cycles - self._weight(ops, where)[1]
                found.append((weight, {op.name: core for op in ops}))
        return min(found, key=lambda each: each[0], default=(0, {}))[1]

    def _weight(self, ops: Sequence[Operator], where: Mapping[str, str]) -> Pessimistic:
        if self.robust:
            return self.weighing.pessimistic(ops, where)
        return False, self.weighing.total(ops, where)

    def _surely(
        self, ops: Sequence[Operator], there: Mapping[str, str], where: Mapping[str, str]
    ) -> bool:
        weighing = self.weighing
        if self.robust:
            less = self._weight(ops, there) < self._weight(ops, where)
            return less and weighing.feasible(ops, there)
        return weighing.feasible(ops, there) and all(
            weighing.total(ops, there, each) < weighing.total(ops, where, each)
            for each in weighing.scenarios
        )
