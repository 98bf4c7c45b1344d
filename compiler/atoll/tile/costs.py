# SPDX-License-Identifier: Apache-2.0
"""What operators of a network cost, whole and in stripes: cycles, and bytes of a pool."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from atoll.cost.engines import engine_busy
from atoll.cost.lists import goes_on_cycles, joint_saving
from atoll.cost.measured import FINISH_CYCLES, LEAST_CYCLES, START_CYCLES
from atoll.cost.operators import compute_cycles
from atoll.cost.spent import of_host
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.tile.elsewhere import CALL_CYCLES, Elsewhere, elsewhere
from atoll.tile.stripes import Chain, Stripe

PIECE_CYCLES = 60
"""What an engine by itself takes to begin and end one more piece of an operator."""


@dataclass(frozen=True)
class Ground:
    """A network on a chip on which one pool is too small.

    Attributes:
        network: as it is placed.
        soc: the chip.
        devices: of each operator, were the pool large enough.
        pools: its name, and those of others that can take its place for all of these tensors.
        held: the tensors that have to be in one of them.
        overlaps: of each operator the bytes by which a result must lie below an operand that it may
            lie over, by the names of both.
        placed: operators whose device somebody asks for.
        asked: the pools that are asked for, by tensor.
    """

    network: Graph
    soc: ResolvedSoc
    devices: Mapping[str, str]
    pools: Collection[str]
    held: frozenset[str]
    overlaps: Mapping[str, Mapping[tuple[str, str], int]]
    placed: frozenset[str] = frozenset()
    asked: Mapping[str, Collection[str]] = field(default_factory=dict)

    @cached_property
    def last(self) -> Mapping[str, int]:
        """The last operator that needs each tensor; of an output one that does not exist."""
        last: dict[str, int] = {}
        for number, op in enumerate(self.network.operators):
            last |= dict.fromkeys((*op.reads, *op.outputs), number)
        kept = (*self.network.kept, *self.network.states)
        last |= dict.fromkeys(kept, len(self.network.operators))
        for op in reversed(self.network.operators):
            if kind_of(op).view_offset(op, self.network) is not None:
                last[op.inputs[0]] = max(last[op.inputs[0]], last[op.outputs[0]])
        return last

    @cached_property
    def live(self) -> Sequence[frozenset[str]]:
        """The tensors of the pool that exist before each operator, and after the last."""
        made, live = {*self.network.filled}, []
        for number, op in enumerate(self.network.operators):
            live.append(self._needed(made, number))
            made |= {*op.outputs}
        end = len(self.network.operators)
        return (*live, self._needed(made, end))

    def _needed(self, names: Iterable[str], number: int) -> frozenset[str]:
        """Return those tensors of the pool that an operator or a later one needs."""
        return frozenset(
            name for name in names if name in self.held and self.last.get(name, -1) >= number
        )

    def size(self, name: str) -> int:
        """Return the bytes of a tensor in the pool, 0 if it is elsewhere or a view."""
        return self.sizes[name] if name in self.held else 0

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of each tensor; none of a view."""
        views = {
            op.outputs[0]
            for op in self.network.operators
            if kind_of(op).view_offset(op, self.network) is not None
        }
        return {t.name: 0 if t.name in views else t.size for t in self.network.tensors}

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Bytes of a row of each image, all of other tensors."""
        return {
            tensor.name: tensor.size // tensor.shape[1] if len(tensor.shape) == 4 else tensor.size
            for tensor in self.network.tensors
        }

    def apart(self, name: str) -> str | None:
        """Return another pool that could hold a tensor, whose rows are copied then, if any."""
        elsewhere = self.elsewhere.get(name)
        return elsewhere.pool if elsewhere else None

    @cached_property
    def elsewhere(self) -> Mapping[str, Elsewhere]:
        """The other pool from and to which rows of each tensor are copied fastest, if any."""
        known = {
            each.name: elsewhere(
                each, self.network, self.soc, self.pools, self.asked.get(each.name)
            )
            for each in self.network.tensors
        }
        return {name: each for name, each in known.items() if each}

    def on_host(self, op: Operator) -> bool:
        """Tell whether the host runs an operator."""
        return self.devices[op.name] == self.soc.host

    @cached_property
    def cycles(self) -> Mapping[str, int]:
        """What each operator takes as a whole, an engine going on by itself where it can."""
        soc, devices = self.soc, {each.name: each for each in self.soc.devices}
        saved = {
            name: joint_saving(engine, soc)
            for name, engine in devices.items()
            if isinstance(engine, Engine) and links(emitter_of(engine))
        }
        placed = ((op, self.devices[op.name]) for op in self.network.operators)
        return {
            op.name: compute_cycles(op, self.network, devices[name], soc) - saved.get(name, 0)
            for op, name in placed
        }

    @cached_property
    def host_cycles(self) -> Mapping[str, int]:
        """What each operator takes on the host with operands that lie apart, if that runs it."""
        host, places = self.soc.host_cpu, self.elsewhere
        tensors = (
            replace(each, pools=(places[each.name].pool,)) if each.name in places else each
            for each in self.network.tensors
        )
        apart = replace(self.network, tensors=tuple(tensors))
        return {
            op.name: compute_cycles(op, apart, host, self.soc)
            for op in self.network.operators
            if kind_of(op).on_cores and op.name not in self.placed
        }

    def part_cycles(self, op: Operator, share: float) -> int:
        """Return what a share of an operator takes."""
        least, each, working = self.rates[op.name]
        return max(least, each + int(working * share))

    @cached_property
    def rates(self) -> Mapping[str, tuple[int, int, int]]:
        """Of each operator the least that a part takes, what each takes, and what they share."""
        engines = {each.name: each for each in self.soc.devices if isinstance(each, Engine)}
        going_on = {
            name: goes_on_cycles(engine, self.soc) + PIECE_CYCLES
            for name, engine in engines.items()
            if links(emitter_of(engine))
        }
        fixed, rates = START_CYCLES + FINISH_CYCLES, dict[str, tuple[int, int, int]]()
        for name, cycles in self.cycles.items():
            device = self.devices[name]
            if device in going_on:
                working = max(0, cycles - going_on[device])
                rates[name] = 0, going_on[device] + self.constants[name], working
            elif device in engines:
                rates[name] = LEAST_CYCLES, fixed, max(0, cycles - fixed)
            else:
                rates[name] = 0, CALL_CYCLES, cycles
        return rates

    @cached_property
    def constants(self) -> Mapping[str, int]:
        """What each operator on an engine takes to read its constants, which each part does."""
        return {
            op.name: of_host(
                engine_busy(op, self.network, engine, 0).parts.get(Bound.WEIGHTS, 0),
                engine,
                self.soc,
            )
            for op in self.network.operators
            if isinstance(engine := self.soc.device(self.devices[op.name]), Engine)
        }

    def copy_cycles(self, name: str, rows: int) -> int:
        """Return what it takes to copy some rows of a tensor that lies apart."""
        each = self.elsewhere[name]
        return each.fixed + each.moving * rows // self.network.tensor(name).shape[1]


def stripe_cycles(ground: Ground, chain: Chain, stripe: Stripe, apart: frozenset[str]) -> int:
    """Return what a stripe takes, with the copies of what lies apart."""
    total = 0
    for op in chain.operators:
        if op.name in stripe.work:
            begin, end = stripe.rows[op.outputs[0]]
            height = ground.network.tensor(op.outputs[0]).shape[1]
            total += ground.part_cycles(op, (end - begin) / height)
    for name in apart:
        spans = stripe.given if name in chain.made else stripe.rows
        if name in spans:
            total += ground.copy_cycles(name, spans[name][1] - spans[name][0])
    return total


def stripe_bytes(ground: Ground, chain: Chain, stripe: Stripe, apart: frozenset[str]) -> int:
    """Return the most bytes of the pool that tensors of a stripe need at once.

    Results are taken to lie over operands that end there, as far as rows allow.
    """
    sizes = dict(_own(ground, chain, stripe, apart))
    last = chain.last
    live = {name: sizes[name] for name in chain.read if name in sizes}
    most = sum(live.values())
    for number, op in enumerate(chain.operators):
        if op.name not in stripe.work:
            continue
        (result,) = op.outputs
        live[result] = sizes.get(result, 0)
        ending = [name for name in live if last[name] <= number and name != result]
        most = max(most, sum(live.values()) - saved(ground, op, result, live, ending))
        for name in (*ending, *([result] if last[result] <= number else ())):
            del live[name]
    return most


def saved(
    ground: Ground, op: Operator, result: str, live: Mapping[str, int], ending: Iterable[str]
) -> int:
    """Return the bytes that a result, or a stripe of it, may share with an operand that ends."""
    whole, made = ground.network.tensor(result).size, live.get(result, 0)
    most = 0
    for name in ending:
        if (distance := ground.overlaps[op.name].get((result, name))) is not None:
            part = distance * made // whole + ground.row[result] if made < whole else distance
            apart = part if distance else 0
            most = max(most, live[name] + made - max(made, apart + live[name]))
    return most


def _own(
    ground: Ground, chain: Chain, stripe: Stripe, apart: frozenset[str]
) -> Iterator[tuple[str, int]]:
    """Yield the tensors of a stripe that have bytes of their own."""
    for name, (begin, end) in stripe.rows.items():
        outside = name in chain.read
        in_place = stripe.given.get(name) == (begin, end) or outside
        if not (in_place and name not in apart):
            yield name, (end - begin) * ground.row[name]
