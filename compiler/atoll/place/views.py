# SPDX-License-Identifier: Apache-2.0
"""Operators that move no byte: their result is a view of what they read, or made of views of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import COPY, JOIN, ROWS, kind_of
from atoll.place.constraints import intersect_pools
from atoll.place.decision import Decision, Why
from atoll.place.elide_copies import ElideCopies
from atoll.reach.candidates import homes_of, needs_of
from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, ResolvedSoc

WORD = 4


def with_views(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a placed graph whose reshapes are views wherever one storage can serve.

    The operator goes; its output stays, as a view of its input. That needs a pool which all the
    devices that touch either reach, and an output that the caller does not read. Likewise rows of
    a tensor, which are copied where that is impossible, and rows that are joined: each is written
    where it ends up, or copied there at once. A copy made only
    for a device whose reshape is gone goes too, so planning the result again changes nothing (P3).
    Nothing becomes a view of a state, which changes while the view may still be read.
    """
    elide = ElideCopies(soc)
    before = None
    while graph != before:
        before, graph = graph, elide.run(_Viewer(graph, soc).run())
    return graph


@dataclass
class _Viewer:
    """Follows the operators in their order."""

    graph: Graph
    soc: ResolvedSoc
    tensors: dict[str, Tensor] = field(init=False)
    needs: dict[str, dict[str, Access]] = field(init=False)
    moving: frozenset[str] = field(init=False)
    copies: dict[str, list[Operator]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tensors = dict(self.graph.by_name)
        wanted = needs_of(self.graph, self.soc)
        self.needs = {name: dict(needs) for name, needs in wanted.items()}
        self.moving = frozenset(op.name for op in self.graph.operators if self._moves(op))

    def _moves(self, op: Operator) -> bool:
        kind = kind_of(op)
        return kind.joins(op, self.graph) or kind.view_offset(op, self.graph) is not None

    def run(self) -> Graph:
        operators = tuple(self._add_copies(self._keep()))
        return replace(self.graph, operators=operators, tensors=tuple(self.tensors.values()))

    def _keep(self) -> Iterator[Operator]:
        for op in self.graph.operators:
            kind = kind_of(op)
            if op.kind == JOIN:
                self._join(op)
            elif kind.joins(op, self.graph) and self._join_without_loss(op):
                continue
            elif (offset := kind.view_offset(op, self.graph)) is None:
                yield op
            elif not self._make_view(op, offset):
                yield self._copy_of_part(op, offset) if op.kind == ROWS else op

    def _add_copies(self, operators: Iterable[Operator]) -> Iterator[Operator]:
        """Yield operators, each followed by the copies of what it made."""
        for op in tuple(operators):
            yield op
            yield from (copy for name in op.outputs for copy in self.copies.get(name, ()))

    def _copy_of_part(self, op: Operator, offset: int) -> Operator:
        """Return the copy that takes the place of an operator whose result is no view."""
        source = self.tensors[op.inputs[0]]
        part = replace(self.tensors[op.outputs[0]], name=f"{op.outputs[0]}_source", index=-1)
        offset += source.offset
        view = replace(part, view=source.view or source.name, offset=offset, pools=())
        self.tensors[view.name] = view
        return replace(op, kind=COPY, inputs=(view.name,), attributes={})

    def _join(self, op: Operator) -> None:
        """Have all inputs of `op` written where they end up, or all copied there."""
        if not self._write_in_place(op, op.inputs):
            offset = 0
            for position, piece in enumerate(op.inputs):
                self._copy(op, position, offset)
                offset += self.tensors[piece].size
            self.needs[op.outputs[0]] = self._needs_of_result(op) | {op.device: Access.WRITE}

    def _join_without_loss(self, op: Operator) -> bool:
        """Have all inputs of `op` written where they end up, if that takes no more memory."""
        pieces = [self.tensors[name].view or name for name in op.inputs]
        own = {*self.graph.inputs, *self.graph.kept}
        if len({*pieces}) < len(pieces) or own & {*pieces, *op.inputs}:
            return False
        for name, piece in zip(op.inputs, map(self.tensors.__getitem__, pieces), strict=True):
            constant = piece.data is not None or piece.initial is not None
            if constant or piece.size != self.tensors[name].size:
                return False
        return self._write_in_place(op, pieces, without_loss=True)

    def _write_in_place(
        self, op: Operator, pieces: Sequence[str], *, without_loss: bool = False
    ) -> bool:
        """Make `pieces`, the storages of the inputs, views of the result, if that is possible."""
        (name,), offset, tensors = op.outputs, 0, dict(self.tensors)
        together = self._needs_together(op, pieces)
        if together is None:
            return False
        for piece in pieces:
            _move(tensors, piece, name, offset)
            if without_loss and not self._is_aligned(self.needs[piece], tensors[piece]):
                return False
            offset += tensors[piece].size
        if without_loss and self._most(tensors) > self._most(self.tensors):
            return False
        self.tensors, self.needs[name] = tensors, together
        return True

    def _needs_of_result(self, op: Operator) -> dict[str, Access]:
        """Return what devices need of the result of `op` if `op` itself is gone."""
        (name,) = op.outputs
        needs = {**self.needs[name], op.device: Access.READ}
        if name not in self.graph.outputs and not self._reads(op.device, name):
            del needs[op.device]
        return needs

    def _needs_together(self, op: Operator, pieces: Sequence[str]) -> dict[str, Access] | None:
        """Return what devices need of the bytes that serve an operator's inputs and its result.

        None where that is impossible, or several devices would write, one of which has a cache that
        not all of them share: a line of it may hold bytes of others.
        """
        found = self._needs_of_result(op)
        writers: set[str] = set()
        for piece in map(self.tensors.__getitem__, pieces):
            if piece.view or piece.pools:
                return None
            own = self._needs_joined(piece.name, op)
            writers |= {device for device, need in own.items() if need is Access.WRITE}
            found = _together(found, own)
        shared = filter(None, map(self.soc.sharing, writers))
        mixed = any(writers - cores for cores in shared)
        homes = homes_of(self.soc, found, self.tensors[op.outputs[0]])
        return None if mixed or not homes else found

    def _copy(self, op: Operator, position: int, offset: int) -> None:
        """Have an input of `op` copied to where it ends up, as soon as it is there."""
        (name,), source = op.outputs, self.tensors[op.inputs[position]]
        view = replace(source, name=f"{name}_rows{position}", index=-1, pools=(), initial=None)
        self.tensors[view.name] = replace(view, view=name, offset=offset)
        copy = Operator(
            name=f"{op.name}_{position}",
            kind=COPY,
            inputs=(source.name,),
            outputs=(view.name,),
            attributes={},
            device=op.device,
        )
        self.copies.setdefault(source.view or source.name, []).append(copy)

    def _needs_joined(self, piece: str, op: Operator) -> dict[str, Access]:
        """Return what devices need of a tensor if `op` reads it no more."""
        needs = dict(self.needs[piece])
        if needs.get(op.device) is Access.READ and not self._reads(op.device, piece, op):
            del needs[op.device]
        return needs

    def _reads(self, device: str, name: str, beside: Operator | None = None) -> bool:
        """Tell whether a device reads a tensor, or a view of it."""
        storage = {each.name: each.view or each.name for each in self.tensors.values()}
        return any(
            device in op.devices and name in map(storage.get, op.reads)
            for op in self.graph.operators
            if op is not beside
        )

    def _make_view(self, op: Operator, offset: int) -> bool:
        """Make the output of `op`, and views of it, a view from `offset` on, if that is possible.

        What is written where another tensor has it is no view of its operand as well.
        """
        source, (result,) = self.tensors[op.inputs[0]], op.outputs
        storage, view = self.tensors[source.view or source.name], self.tensors[result]
        needs = dict(self.needs[storage.name])
        for device, need in self.needs[result].items():
            if device != op.device and needs.get(device) is not Access.WRITE:
                needs[device] = need
        pools = intersect_pools(storage.pools, view.pools)
        shared = replace(storage, pools=pools or ())
        possible = pools is not None and homes_of(self.soc, needs, shared)
        if storage.data is not None or storage.initial is not None:
            return False
        if result in self.graph.kept or view.view or not possible:
            return False
        offset += source.offset
        tensors = self.tensors | {storage.name: shared}
        _move(tensors, result, storage.name, offset)
        if op.kind != ROWS and not self._serves(needs, tensors[result], tensors):
            return False
        self.tensors, self.needs[storage.name] = tensors, needs
        return True

    def _serves(
        self, needs: Mapping[str, Access], part: Tensor, tensors: Mapping[str, Tensor]
    ) -> bool:
        """Tell whether a part of a tensor may be a view, which lives as long as the whole."""
        whole = part.size == tensors[part.view].size
        loses = not whole and self._most(tensors) > self._most(self.tensors)
        return self._is_aligned(needs, part) and not loses

    def _is_aligned(self, needs: Mapping[str, Access], part: Tensor) -> bool:
        """Tell whether devices can use a part of a tensor.

        Accelerators and engines are given addresses that pools are aligned to, cores those of
        words, which function units of theirs read.
        """
        if all(isinstance(self.soc.device(name), Cpu) for name in needs):
            return part.offset % WORD == 0
        homes = homes_of(self.soc, needs, replace(part, view="", pools=()))
        return all(part.offset % self.soc.pool(name).alignment == 0 for name in homes)

    def _most(self, tensors: Mapping[str, Tensor]) -> int:
        """Return the most bytes that are live during an operator, in the order of the graph.

        What only moves bytes counts as if its result lay over its operands.
        """
        storage = {name: tensor.view or name for name, tensor in tensors.items()}
        end = len(self.graph.operators)
        born, last = dict.fromkeys(self.graph.filled, 0), dict.fromkeys(self.graph.kept, end)
        for number, op in enumerate(self.graph.operators):
            for name in map(storage.__getitem__, op.outputs):
                born.setdefault(name, number + (op.name in self.moving))
            for name in map(storage.__getitem__, (*op.outputs, *filter(None, op.reads))):
                last[name] = max(number, last.get(name, 0))
        changes = [0] * (end + 2)
        for name, first in born.items():
            changes[first] += tensors[name].size
            changes[max(first, last.get(name, 0)) + 1] -= tensors[name].size
        return max(accumulate(changes))


def _move(tensors: dict[str, Tensor], piece: str, target: str, offset: int) -> None:
    """Make a tensor, and all views of it, views of `target`."""
    for each in tuple(tensors.values()):
        if each.name == piece or each.view == piece:
            further = each.offset if each.view else 0
            moved = replace(each, view=target, offset=offset + further, pools=())
            tensors[each.name] = moved


def _together(one: Mapping[str, Access], other: Mapping[str, Access]) -> dict[str, Access]:
    """Return what devices need of bytes that serve two tensors."""
    writes = {name for needs in (one, other) for name in needs if needs[name] is Access.WRITE}
    return {name: Access.WRITE if name in writes else Access.READ for name in (*one, *other)}


def describe_views(decisions: tuple[Decision, ...], graph: Graph) -> tuple[Decision, ...]:
    """Say of every operator that has become a view that it runs nowhere."""
    kept = {op.name for op in graph.operators}
    return tuple(
        decision
        if decision.operator in kept
        else Decision(
            operator=decision.operator,
            device=decision.device,
            find=lambda: Why(reason="no byte moves: its output is a view"),
            asked=decision.asked,
            joined=decision.joined,
        )
        for decision in decisions
    )
