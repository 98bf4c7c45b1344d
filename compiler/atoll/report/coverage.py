# SPDX-License-Identifier: Apache-2.0
"""What each device of a chip does of a network: operators, multiply-accumulates, cycles."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from atoll.cost.basis import MEASURED, basis_of_operator, joint_basis
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Quantity, Row, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Operators of one kind on one device, or of all kinds, "" then.

    Attributes:
        operators: how many.
        macs: their multiply-accumulates.
        cycles: of the host's clock, by estimate.
        basis: what they rest on.
    """

    device: str
    kind: str = ""
    operators: int
    macs: int
    cycles: int
    basis: str = MEASURED


def coverage_of(graph: Graph, cycles: Mapping[str, int], soc: ResolvedSoc) -> tuple[Share, ...]:
    """Return what devices do, by kind of operator; an operator on several cores counts once.

    Args:
        graph: placed.
        cycles: what each operator should take.
        soc: the chip.
    """
    single = [
        Share(
            device=" + ".join(op.devices),
            kind=op.kind,
            operators=1,
            macs=kind_of(op).features(op, graph).get("macs", 0),
            cycles=cycles[op.name],
            basis=basis_of_operator(op, graph, soc),
        )
        for op in graph.operators
    ]
    return _sum_shares(single, lambda each: (each.device, each.kind))


def coverage_tables(shares: Sequence[Share]) -> tuple[Table, ...]:
    """Return a line for each device, and one for each kind on each device."""
    devices = _sum_shares([_of_all(each) for each in shares], lambda each: (each.device,))
    return (
        _table("coverage", "What each device does", devices, shares),
        _table("kinds", "Which operators each device runs", shares, shares),
    )


def coverage_json(shares: Sequence[Share]) -> list[dict[str, object]]:
    """Return what devices do, by kind, for machines."""
    return [asdict(each) for each in shares]


def _of_all(share: Share) -> Share:
    sums = {name: getattr(share, name) for name in (*_COUNTED, "basis")}
    return Share(device=share.device, **sums)


def _sum_shares(
    shares: Iterable[Share], key: Callable[[Share], tuple[str, ...]]
) -> tuple[Share, ...]:
    groups = (list(each) for _, each in groupby(sorted(shares, key=key), key=key))
    sums = (
        Share(
            device=group[0].device,
            kind=group[0].kind,
            operators=sum(each.operators for each in group),
            macs=sum(each.macs for each in group),
            cycles=sum(each.cycles for each in group),
            basis=joint_basis(each.basis for each in group),
        )
        for group in groups
    )
    return tuple(sorted(sums, key=lambda each: (-each.cycles, each.device, each.kind)))


def _table(key: str, title: str, shares: Sequence[Share], whole: Sequence[Share]) -> Table:
    named = any(each.kind for each in shares)
    assumed = any(each.basis != MEASURED for each in shares)

    def row(share: Share) -> Row:
        kind = (share.kind.upper(),) if named else ()
        cells = (_cell(share, whole, name) for name in _COUNTED)
        return (share.device, *kind, *cells, *((share.basis,) if assumed else ()))

    columns = ("device", *(("operator",) if named else ()), "operators", "MACs", "cycles")
    columns += ("basis",) if assumed else ()
    return Table(key=key, title=title, columns=columns, rows=tuple(map(row, shares)))


_COUNTED = ("operators", "macs", "cycles")


def _cell(share: Share, whole: Sequence[Share], name: str) -> Quantity:
    part, total = getattr(share, name), sum(getattr(each, name) for each in whole)
    return Quantity(part, f"{part:,} ({100 * part / max(1, total):.1f} %)")
