# SPDX-License-Identifier: Apache-2.0
"""What operators take on cores: alone, in parts on several, and what they wait for memories."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from atoll.cost.counted import (
    core_to_count,
    counted_accesses,
    counted_cycles,
    data_waits,
    driver_times,
    latency_in_core_cycles,
    less_across,
    less_beside_code,
    repeated_share,
    run_cycles,
)
from atoll.cost.data.picorv32 import (
    COPIED_BYTE_CYCLES,
    KERNEL_CYCLES,
    MAC_CYCLES,
    MEASURED_CORE,
    MEASURED_DATA_LATENCY,
    MEASURED_LATENCY,
    OTHER_CYCLES,
    PART_CYCLES,
    RESULT_CYCLES,
)
from atoll.cost.kernel_runs import runs_of
from atoll.cost.measured_targets import times_of
from atoll.cost.spent import BOTH_ENDS, HostEnds, Spent, of_host
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph, Operator
from atoll.ops.loops.parallel_loops import parallel_loop
from atoll.ops.registry import COPY, kind_of
from atoll.reach.candidates import CONSTANT_ROLES, homes_of, pools_for
from atoll.records import dataclass
from atoll.resolve.places import Region
from atoll.resolve.soc import Access, Cpu, ResolvedSoc, once_per_chip
from atoll.utils.remember import Alike, remember

FACTS_AT_HAND, ANSWERS_AT_HAND = 256, 8192
"""What estimates on cores rest on, and what operators take there, that a process keeps."""


@dataclass(frozen=True)
class CoreCost:
    """What operators take on a core: a `DeviceCost`."""

    core: Cpu
    soc: ResolvedSoc

    @cached_property
    def facts(self) -> Alike:
        """All that cycles of the core alone rest on beside an operator and its operands."""
        host, soc, core = self.soc.host_cpu, self.soc, self.core
        own = (self._latency_of(each) for each in (core.code, core.stack))
        memories = (soc.memory(each.memory).read_latency for each in (core.code, core.stack))
        width = soc.memory(core.code.memory).width  # of lines that an instruction cache lacks
        pools = (
            (pool.name, pool.region.memory, self._latency_of(pool.region)) for pool in soc.pools
        )
        reads = pools_for(soc, {core.name: Access.READ}, CONSTANT_ROLES, 0)
        constants = ((name, soc.pool(name).room) for name in reads)
        sign = core.name, host.clock, width, *own, *memories, *pools, *constants
        return _first_equal(Alike(sign, core))

    def cycles(self, op: Operator, graph: Graph, commands: int = 0) -> int:
        """Predict as a `DeviceCost`."""
        if not op.helpers:
            return self.alone(op, graph)
        if runs := run_cycles(op, graph, self.core, self.soc):
            return self._in_parts(op, graph, runs)
        cycles = self.spread(op, graph, len(op.devices))
        assert cycles is not None, f"{op.name} has no {len(op.devices)} parts"
        return cycles

    def _in_parts(self, op: Operator, graph: Graph, runs: Sequence[int]) -> int:
        """Predict what all of `op` takes, of which each device ran its part.

        The host's part has what it runs to ask the others.
        """
        asking, waits = asking_cycles(self.soc) * len(op.helpers), self._wait_cycles(op, graph)
        return max(
            of_host(cycles + waits, self.core, self.soc) + asking * (name != self.soc.host)
            for name, cycles in zip(op.devices, runs, strict=True)
        )

    def alone(self, op: Operator, graph: Graph) -> int:
        """Predict the cycles of all of `op`, whoever helps."""
        return _alone(self, op, graph)

    def count_alone(self, op: Operator, graph: Graph) -> int:
        """Predict the same, which is not at hand."""
        core = core_to_count(op, graph, self.core)
        cycles = counted_cycles(op, graph, core, self.soc) if core else None
        ran = runs_of(op, graph, self.core)
        like = core and core.spec.name == MEASURED_CORE and op.kind == COPY
        if cycles is None or (like and not ran):
            usual = usual_cycles(op, graph)
            cycles = _add_fetch_latency(usual, self.core, self.soc, KERNEL_CYCLES)
        if not ran:
            cycles = int(cycles * target_times(op, self.core, self.soc))
        return of_host(cycles + self._wait_cycles(op, graph), self.core, self.soc)

    def predict(
        self, op: Operator, graph: Graph, commands: int = 0, ends: HostEnds = BOTH_ENDS
    ) -> Spent:
        """Predict as a `DeviceCost`."""
        return Spent(cycles=self.cycles(op, graph), bound=Bound.CORE)

    def late_cycles(self, op: Operator, graph: Graph) -> Mapping[str, float]:
        """Predict by how many cycles beyond one data is late, all ``load`` and ``store`` together.

        There are none if that can't be counted.
        """
        found = dict.fromkeys(("load", "store"), 0.0)
        for (access, tensor), number in (counted_accesses(op, graph, self.core) or {}).items():
            found[access] += number * self._further_latency(tensor, graph)
        return found

    def loads_beside_code(self, op: Operator, graph: Graph) -> float:
        """Predict how many loads have their data in the memory that holds the core's instructions.

        There are none if that can't be counted.
        """
        accesses = counted_accesses(op, graph, self.core) or {}
        return sum(
            number
            for (access, tensor), number in accesses.items()
            if access == "load" and self._is_beside_code(self._region(tensor, graph))
        )

    def spread(self, op: Operator, graph: Graph, parts: int) -> int | None:
        """Predict the cycles with others of its kind, None if the operator has no such parts."""
        return dict(self._by_parts(op, graph, (parts,))).get(parts)

    def helpers(self, op: Operator, graph: Graph) -> tuple[str, ...]:
        """Return the cores that had better make parts of `op` beside this, none if it had not.

        Each is of the same kind and shares a pool with this one for each tensor.
        """
        kind = (each for each in self.soc.cpus if each != self.core and self._like(each))
        others = tuple(each.name for each in kind if self._shares(each, op, graph))
        cycles = {1: self.alone(op, graph)}
        cycles |= self._by_parts(op, graph, range(2, len(others) + 2))
        return others[: min(cycles, key=lambda parts: cycles[parts]) - 1]

    def _like(self, other: Cpu) -> bool:
        return alike(other, self.core, self.soc)

    def _by_parts(
        self, op: Operator, graph: Graph, counts: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield counts of parts that `op` can have, and the cycles that it takes with them."""
        names = kind_of(op).parallel
        if not (names and counts):
            return
        kernel = kind_of(op).lower_for(op, graph, self.core.arithmetic).function
        alone = self.alone(op, graph)
        asking = asking_cycles(self.soc)
        for parts in counts:
            if loop := parallel_loop(kernel, names, parts):
                again = repeated_share(op, graph, self.core, loop)
                share = again + (1 - again) * loop.share(parts)
                yield parts, int(alone * share) + asking * (parts - 1)

    def _shares(self, other: Cpu, op: Operator, graph: Graph) -> bool:
        needs = [(name, Access.READ) for name in filter(None, op.inputs)]
        needs += [(name, Access.WRITE) for name in op.outputs]
        both = (self.core.name, other.name)
        return all(
            homes_of(self.soc, dict.fromkeys(both, need), graph.tensor(name))
            for name, need in needs
        )

    def _wait_cycles(self, op: Operator, graph: Graph) -> int:
        """Return what a core waits for data in far memory, as far as the graph says where.

        It does not wait for what its data cache keeps, and less for data beside its instructions:
        these it asks for while earlier answers are still to come, as it does no other memory.
        """
        core = core_to_count(op, graph, self.core)
        waits = (data_waits(op, graph, core) if core else None) or {}
        each = (int(count * self._further_latency(name, graph)) for name, count in waits.items())
        beside = less_beside_code(self.core, self.soc)
        if core is not self.core or not beside:
            return sum(each)
        loads = self.loads_beside_code(op, graph)
        less = beside * loads
        if across := less_across(self.core, self.soc):
            accesses = counted_accesses(op, graph, self.core) or {}
            less -= across["load"] * loads
            less += sum(across[access] * number for (access, _), number in accesses.items())
        return sum(each) - int(less)

    def _further_latency(self, name: str, graph: Graph) -> float:
        return max(0, self._latency(name, graph) - MEASURED_DATA_LATENCY)

    def _latency(self, name: str, graph: Graph) -> float:
        """Return the latency of the memory of a tensor, or of a core's stack for ""."""
        region = self._region(name, graph)
        return self._latency_of(region) if region else MEASURED_DATA_LATENCY

    def _region(self, name: str, graph: Graph) -> Region | None:
        """Return where a tensor will be, or a core's stack for ""; None if nobody can tell."""
        if not name:
            return self.core.stack
        tensor = graph.by_name.get(name)
        pool = tensor.pool if tensor else ""
        if not pool and (tensor is None or tensor.data is not None):
            size = tensor.size if tensor else 0
            reads = {self.core.name: Access.READ}
            pool = next(iter(pools_for(self.soc, reads, CONSTANT_ROLES, size)), "")
        return self.soc.pool(pool).region if pool else None

    def _latency_of(self, region: Region) -> float:
        if self._is_kept(region):
            return MEASURED_DATA_LATENCY
        return latency_in_core_cycles(self.core, region.memory, self.soc)

    def _is_kept(self, region: Region) -> bool:
        return bool(self.core.cache) and self.soc.is_kept(region)

    def _is_beside_code(self, region: Region | None) -> bool:
        if region is None or region.memory != self.core.code.memory:
            return False
        return not self._is_kept(region)


@remember(lambda facts: facts, most=FACTS_AT_HAND)
def _first_equal(facts: Alike) -> Alike:
    """Return the first of equal facts, which compares with itself at once."""
    return facts


def _question(cost: CoreCost, op: Operator, graph: Graph) -> Hashable:
    return graph.key_of(op), cost.facts


@remember(_question, most=ANSWERS_AT_HAND)
def _alone(cost: CoreCost, op: Operator, graph: Graph) -> int:
    return cost.count_alone(op, graph)


def usual_cycles(op: Operator, graph: Graph) -> int:
    """Return what a copy takes, or a kernel that nobody counted: as its kind says, else usually."""
    if op.kind == COPY:
        return COPIED_BYTE_CYCLES * graph.results(op)[0].size
    told = kind_of(op).cycles(op, graph)
    if told is not None:
        return told
    results = sum(tensor.stored for tensor in graph.results(op))
    return MAC_CYCLES * kind_of(op).features(op, graph)["macs"] + RESULT_CYCLES * results


def target_times(op: Operator, core: Cpu, soc: ResolvedSoc) -> float:
    """Return how many times as long an operator takes for its target as with own code.

    It is 1 where nobody measured both; the basis of its cycles then says so.
    """
    if not op.target:
        return 1.0
    made, own = (times_of(core, name, op.kind, soc) for name in (op.target, ""))
    return made.middle / own.middle if made and own else 1.0


def drive_cycles(cycles: int, core: Cpu, soc: ResolvedSoc) -> int:
    """Return what drivers, steps or start-up code take that take `cycles` on the measured core."""
    times = driver_times(core, soc)
    if times is None:
        return _add_fetch_latency(cycles, core, soc, OTHER_CYCLES)
    return int(cycles * times)


def _add_fetch_latency(cycles: int, core: Cpu, soc: ResolvedSoc, other: int) -> int:
    """Return what `cycles` become with the latency of the memory of the core's instructions.

    `other` is what passes between two fetches besides it.
    """
    latency = latency_in_core_cycles(core, core.code.memory, soc)
    return math.ceil(cycles * (other + latency) / (other + MEASURED_LATENCY))


@once_per_chip
def asking_cycles(soc: ResolvedSoc) -> int:
    """Return what the host takes to have another core run something, and to hear of its end."""
    return drive_cycles(PART_CYCLES, soc.host_cpu, soc)


def alike(other: Cpu, core: Cpu, soc: ResolvedSoc) -> bool:
    """Tell whether two cores that the host can ask run the same code at the same pace.

    Parts of one buffer share lines, so that cores with data caches are alike only where they have
    one, and the host has that, too: it maintains the cache before any part begins.
    """
    one, two = (
        (
            each.kind,
            each.spec.name,
            each.instructions,
            each.toolchain,
            each.commands,
            each.clock,
            soc.memory(each.code.memory).read_latency,
        )
        for each in (other, core)
    )
    asked = other.name == soc.host or other.has_mailbox
    cores = soc.sharing(core.name)
    share = cores == soc.sharing(other.name) and (not cores or soc.host in cores)
    return one == two and asked and share
