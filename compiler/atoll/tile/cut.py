# SPDX-License-Identifier: Apache-2.0
"""Cut chains of a network into stripes: another network that computes the same bytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.registry import JOIN, ROWS
from atoll.place.regions import STRIPE
from atoll.records import dataclass
from atoll.tile.stripes import Chain, Stripe, stripes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One chain, and how it is cut.

    Attributes:
        begin: number of the first operator.
        end: number of the one behind the last.
        stripes: how many.
    """

    begin: int
    end: int
    stripes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """How a network is cut.

    Attributes:
        cuts: disjoint, in order.
        apart: the pool of each tensor that lies elsewhere than it would, rows being copied.
        devices: where operators run that would run elsewhere.
    """

    cuts: tuple[Cut, ...] = ()
    apart: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, str] = field(default_factory=dict)


def tile(network: Graph, tiling: Tiling) -> Graph:
    """Return the network with its chains in stripes."""
    writer = _Writer(network)
    operators: list[Operator] = []
    done = 0
    for cut in tiling.cuts:
        chain = Chain(network, cut.begin, cut.end)
        stripes = stripes_of(chain, cut.stripes)
        assert stripes is not None, f"{cut} of {network.name}"
        operators += network.operators[done : cut.begin]
        operators += writer.chain(chain, stripes)
        done = cut.end
    operators += network.operators[done:]
    operators = [replace(op, device=tiling.devices.get(op.name, op.device)) for op in operators]
    touched = {name for op in operators for name in (*op.inputs, *op.outputs)}
    touched |= {*network.filled, *network.outputs}
    tensors = (
        replace(each, pools=(tiling.apart[each.name],) if each.name in tiling.apart else each.pools)
        for each in (*network.tensors, *writer.tensors)
        if each.name in touched
    )
    return replace(network, tensors=tuple(tensors), operators=tuple(operators))


class _Writer:
    """Writes operators of stripes.

    Attributes:
        tensors: those that were made for them.
    """

    def __init__(self, network: Graph) -> None:
        self._network = network
        self._taken = {*network.by_name, *(op.name for op in network.operators)}
        self.tensors: list[Tensor] = []

    def chain(self, chain: Chain, stripes: Sequence[Stripe]) -> Iterator[Operator]:
        """Yield all stripes one after the other, then what joins their results."""
        pieces: dict[str, list[str]] = {name: [] for name in chain.needed}
        for number, stripe in enumerate(stripes):
            yield from self._stripe(chain, stripe, number, pieces)
        for name, parts in pieces.items():
            yield Operator(
                name=self._fresh(f"{name}_joined"),
                kind=JOIN,
                inputs=tuple(parts),
                outputs=(name,),
                attributes={"axis": 1, "activation": "none"},
            )

    def _stripe(
        self, chain: Chain, stripe: Stripe, number: int, pieces: Mapping[str, list[str]]
    ) -> Iterator[Operator]:
        names: dict[str, str] = {}
        for name in chain.read:
            if name in stripe.rows:
                names[name] = name
                whole = (0, self._network.tensor(name).shape[1])
                if stripe.rows[name] != whole:
                    op = self._rows(name, name, whole, stripe.rows[name], number)
                    names[name] = op.outputs[0]
                    yield op
        for op in chain.operators:
            if op.name in stripe.work:
                yield from self._operator(op, stripe, stripe.work[op.name], names, number)
                (result,) = op.outputs
                if (given := stripe.given.get(result)) is None:
                    continue
                piece = names[result]
                if given != stripe.rows[result]:
                    cut = self._rows(piece, result, stripe.rows[result], given, number)
                    (piece,) = cut.outputs
                    yield cut
                pieces[result].append(piece)

    def _operator(
        self, op: Operator, stripe: Stripe, work: RowWork, names: dict[str, str], number: int
    ) -> Iterator[Operator]:
        inputs = list(op.inputs)
        for position, (name, span) in enumerate(zip(op.inputs, work.reads, strict=True)):
            if span is None:
                continue
            if name and self._network.tensor(name).data is not None:
                inputs[position] = self._tensor(name, span, number)
                continue
            inputs[position] = names[name]
            if span != stripe.rows[name]:
                cut = self._rows(names[name], name, stripe.rows[name], span, number)
                (inputs[position],) = cut.outputs
                yield cut
        (result,) = op.outputs
        names[result] = self._tensor(result, stripe.rows[result], number)
        yield replace(
            op,
            name=self._fresh(f"{op.name}{STRIPE}{number}"),
            inputs=tuple(inputs),
            outputs=(names[result],),
            attributes=work.attributes,
            index=-1,
        )

    def _rows(self, source: str, origin: str, held: Span, span: Span, number: int) -> Operator:
        """Return what takes rows `span` of the rows of `origin` that `source` holds."""
        result = self._tensor(origin, span, number)
        attributes = {"begin": span[0] - held[0], "end": span[1] - held[0]}
        return Operator(
            name=self._fresh(f"{result}_taken"),
            kind=ROWS,
            inputs=(source,),
            outputs=(result,),
            attributes=attributes,
        )

    def _tensor(self, origin: str, span: Span, number: int) -> str:
        """Make a tensor of some rows of one of the network."""
        whole = self._network.tensor(origin)
        name = self._fresh(f"{origin}_stripe{number}")
        rows = replace(
            whole,
            name=name,
            shape=(whole.shape[0], span[1] - span[0], *whole.shape[2:]),
            data=None if whole.data is None else whole.array[:, slice(*span)].tobytes(),
            index=-1,
            initial=None,
            rows_of=origin,
            first_row=span[0],
        )
        self.tensors.append(rows)
        return name

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name
