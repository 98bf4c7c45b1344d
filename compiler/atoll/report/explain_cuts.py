# SPDX-License-Identifier: Apache-2.0
"""What cuts save and what they cost, for people and programs."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace

from atoll.cost.basis import basis_of
from atoll.cost.network import cycles_in_order
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import COPY
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table
from atoll.tile.cut import Cut, Tiling
from atoll.tile.stripes import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class CutStory:
    """One chain of operators in stripes.

    Attributes:
        first: the first operator.
        last: the last one.
        stripes: how many.
        whole_bytes: the largest two tensors in a row that do not exist as a whole, together.
        stripe_bytes: the same of a stripe.
        whole_cycles: what the operators would take as they are, by estimate.
        cycles: what their stripes take, and the copies of their rows.
        basis: what both rest on.
        apart: tensors that lie in another pool, by name, for rows to be copied from or to.
    """

    first: str
    last: str
    stripes: int
    whole_bytes: int
    stripe_bytes: int
    whole_cycles: int
    cycles: int
    basis: str
    apart: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """Return the story for machines."""
        return asdict(self) | {"apart": dict(self.apart)}


def cut_stories(
    network: Graph, tiling: Tiling, placed: Graph, soc: ResolvedSoc, cycles: Mapping[str, int]
) -> tuple[CutStory, ...]:
    """Return what became of each chain of a network.

    Args:
        network: before it was cut.
        tiling: how.
        placed: what was made of it.
        soc: the chip.
        cycles: what each operator of that should take.
    """
    return tuple(_story(network, cut, tiling, placed, soc, cycles) for cut in tiling.cuts)


def cut_table(cuts: Iterable[CutStory]) -> Table:
    """Return one line for each chain that is cut into stripes of rows."""
    return Table(
        key="cuts",
        title="Chains in stripes of rows",
        columns=(
            *("operators", "stripes", "bytes between", "whole bytes", "cycles", "whole cycles"),
            *("apart", "basis"),
        ),
        rows=tuple(
            (
                f"{cut.first} .. {cut.last}",
                cut.stripes,
                cut.stripe_bytes,
                cut.whole_bytes,
                cut.cycles,
                cut.whole_cycles,
                ", ".join(f"{name} in {pool}" for name, pool in cut.apart.items()) or "-",
                cut.basis,
            )
            for cut in cuts
        ),
    )


def _story(
    network: Graph,
    cut: Cut,
    tiling: Tiling,
    placed: Graph,
    soc: ResolvedSoc,
    cycles: Mapping[str, int],
) -> CutStory:
    chain = Chain(network, cut.begin, cut.end)
    devices = {op.name: op.device for op in placed.operators}
    stripes = {op.name: tuple(_stripes(op, placed)) for op in chain.operators}
    wholes = [op for op in chain.operators if stripes[op.name]]
    as_they_are = network.with_operators(
        replace(op, device=devices[stripes[op.name][0]]) for op in wholes
    )
    touched = {*chain.read, *chain.made} & tiling.apart.keys()
    moves = [op for op in placed.operators if _moves(op, placed, touched)]
    return CutStory(
        first=chain.operators[0].name,
        last=chain.operators[-1].name,
        stripes=cut.stripes,
        whole_bytes=max(_pairs(chain, {}), default=0),
        stripe_bytes=max(_pairs(chain, _largest(placed)), default=0),
        whole_cycles=cycles_in_order(as_they_are, soc),
        cycles=sum(cycles[name] for names in stripes.values() for name in names)
        + sum(cycles[op.name] for op in moves),
        basis=basis_of(soc, {op.device for op in (*as_they_are.operators, *moves)}),
        apart={name: tiling.apart[name] for name in sorted(touched)},
    )


def _stripes(op: Operator, placed: Graph) -> Iterator[str]:
    """Yield the stripes of an operator."""
    for each in placed.operators:
        made = placed.tensor(each.outputs[0])
        if each.kind == op.kind and made.rows_of == op.outputs[0]:
            yield each.name


def _moves(op: Operator, placed: Graph, apart: Collection[str]) -> bool:
    """Tell whether an operator copies rows of a tensor that lies apart."""
    return op.kind == COPY and placed.tensor(op.outputs[0]).rows_of in apart


def _largest(placed: Graph) -> Mapping[str, int]:
    """Return the bytes of the largest stripe of each tensor of the network."""
    found: dict[str, int] = {}
    for tensor in placed.tensors:
        if tensor.rows_of:
            found[tensor.rows_of] = max(tensor.size, found.get(tensor.rows_of, 0))
    return found


def _pairs(chain: Chain, stripes: Mapping[str, int]) -> Iterator[int]:
    """Yield the bytes of what each operator reads and makes of tensors that are not whole."""
    inner = chain.made - {*chain.needed}
    for op in chain.operators:
        names = {*op.reads, *op.outputs} & inner
        yield sum(stripes.get(name, chain.network.tensor(name).size) for name in names)
