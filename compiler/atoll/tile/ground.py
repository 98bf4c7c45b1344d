# SPDX-License-Identifier: Apache-2.0
"""A network for which a pool is too small: what lives when, and what stripes of it take."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from atoll.cost.operators import compute_cycles
from atoll.cost.pieces import PieceCosts
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.tile.elsewhere import Elsewhere, elsewhere
from atoll.tile.stripes import Chain, Stripe

Overlaps = Mapping[str, Mapping[tuple[str, str], int]]


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
    overlaps: Overlaps
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
            live.append(self._later_needs(made, number))
            made |= {*op.outputs}
        end = len(self.network.operators)
        return (*live, self._later_needs(made, end))

    def _later_needs(self, names: Iterable[str], number: int) -> frozenset[str]:
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
    def costs(self) -> PieceCosts:
        """What operators take on their devices."""
        return PieceCosts(self.network, self.soc, self.devices)

    @cached_property
    def movable(self) -> frozenset[str]:
        """The operators that the host can run instead of their devices."""
        return frozenset(
            op.name
            for op in self.network.operators
            if kind_of(op).on_cores and op.name not in self.placed
        )

    @cached_property
    def allowed(self) -> Hashable:
        """All that decides which steps fit a room beside the network and its overlaps."""
        on_host = frozenset(op.name for op in self.network.operators if self.on_host(op))
        return self.held, frozenset(self.elsewhere), on_host, self.movable

    def with_overlaps(self, overlaps: Overlaps) -> "Ground":
        """Return the same with other overlaps, on which nothing rests that is known of it."""
        made = replace(self, overlaps=overlaps)
        made.__dict__.update({**self.__dict__, "overlaps": overlaps})
        return made

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
            if op.name in self.movable
        }

    def copy_cycles(self, name: str, rows: int) -> int:
        """Return what it takes to copy some rows of a tensor that lies apart."""
        each = self.elsewhere[name]
        return each.fixed + each.moving * rows // self.network.tensor(name).shape[1]


def pieces_of(network: Graph, chain: Chain, stripe: Stripe) -> Iterator[tuple[str, float]]:
    """Yield the operators of a stripe, each with the share of its rows that the stripe has."""
    for op in chain.operators:
        if op.name in stripe.work:
            begin, end = stripe.rows[op.outputs[0]]
            yield op.name, (end - begin) / network.tensor(op.outputs[0]).shape[1]


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
        most = max(most, sum(live.values()) - saved_bytes(ground, op, result, live, ending))
        for name in (*ending, *([result] if last[result] <= number else ())):
            del live[name]
    return most


def saved_bytes(
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
