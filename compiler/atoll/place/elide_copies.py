# SPDX-License-Identifier: Apache-2.0
"""Drop copies that nobody needs: over pools that both sides share, and second ones of a kind."""

from collections import Counter
from dataclasses import field, replace
from typing import ClassVar

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import COPY
from atoll.place.constraints import ScopeLog, intersect_pools
from atoll.reach.candidates import homes_of
from atoll.records import dataclass
from atoll.resolve.soc import Access, ResolvedSoc


@dataclass(frozen=True)
class ElideCopies:
    """Merge the result of a copy into its source, or into an earlier copy of the same source.

    Two tensors are merged if one pool is left that every device touching either reaches as it
    needs, and their pins agree. An output of the network keeps its own tensor, and so does a copy
    of a state, which may change before the copy is read. Views count as the tensor whose bytes they
    are.
    """

    name: ClassVar[str] = "elide-copies"
    soc: ResolvedSoc
    log: ScopeLog = field(default_factory=ScopeLog, compare=False)

    def run(self, graph: Graph) -> Graph:
        """Return the graph without needless copies; leaves no tensor undefined."""
        before = None
        while before is not graph and _has_copies(graph):
            before, graph = graph, _Merger(graph, self.soc, self.log).graph()
        return graph


def _has_copies(graph: Graph) -> bool:
    return any(op.kind == COPY for op in graph.operators)


class _Merger:
    """One walk over the operators; `_merged` leads from each dropped tensor to the one it is."""

    def __init__(self, graph: Graph, soc: ResolvedSoc, log: ScopeLog) -> None:
        self._log = log
        self._graph = graph
        self._soc = soc
        self._merged: dict[str, str] = {}
        self._tensors = dict(graph.by_name)
        self._copies: dict[str, list[str]] = {}
        self._writers = {name: {soc.host} for name in graph.filled}
        for op in graph.operators:
            for name in op.outputs:
                self._writers.setdefault(graph.storage(name), set()).add(op.device)
        self._reads = {name: Counter[str]() for name in graph.by_name}
        for op in graph.operators:
            for name in op.reads:
                self._reads[graph.storage(name)][op.device] += 1
        for name in graph.outputs:
            self._reads[name][soc.host] += 1

    def graph(self) -> Graph:
        """Return the graph after one walk, the same one if nothing could be merged."""
        operators = [op for op in map(self._rename, self._graph.operators) if self._stays(op)]
        if not self._merged:
            return self._graph
        tensors = tuple(
            self._follow(each) if each.view in self._merged else each
            for name, each in self._tensors.items()
            if name not in self._merged
        )
        return replace(self._graph, tensors=tensors, operators=tuple(operators))

    def _rename(self, op: Operator) -> Operator:
        return op.rename_operands(self._merged)

    def _follow(self, view: Tensor) -> Tensor:
        """Return a view of a tensor that was merged into another one, as one of that."""
        offset, name = view.offset, view.view
        while name in self._merged or self._tensors[name].view:
            if name in self._merged:
                name = self._merged[name]
            else:
                offset += self._tensors[name].offset
                name = self._tensors[name].view
        return replace(view, view=name, offset=offset)

    def _stays(self, op: Operator) -> bool:
        if op.kind != COPY:
            return True
        (source,), (result,) = op.inputs, op.outputs
        copies = self._copies.setdefault(source, [])
        storage = self._storage(source)
        kept = self._tensors[storage].initial is not None
        if not kept and result not in self._graph.outputs and not self._tensors[result].view:
            reads = self._reads[storage]
            reads[op.device] -= 1
            for target in (source, *copies):
                if self._merge(target, result):
                    return False
            reads[op.device] += 1
        copies.append(result)
        return True

    def _merge(self, target: str, result: str) -> bool:
        storage = self._storage(target)
        first, second = self._tensors[storage], self._tensors[result]
        pools = intersect_pools(first.pools, second.pools)
        reads = self._reads[storage] + self._reads[result]
        if pools is None or not self._possible(replace(first, pools=pools), reads):
            return False
        self._tensors[storage] = replace(first, pools=pools)
        self._reads[storage] = reads
        self._merged[result] = target
        self._log.merge(result, storage)
        return True

    def _storage(self, name: str) -> str:
        """Return the tensor that has the bytes of `name` after the merges so far."""
        before = ""
        while name != before:
            before, name = name, self._merged.get(name, name)
            name = self._tensors[name].view or name
        return name

    def _possible(self, tensor: Tensor, reads: Counter[str]) -> bool:
        needs = dict.fromkeys((name for name, uses in reads.items() if uses > 0), Access.READ)
        needs |= dict.fromkeys(self._writers.get(tensor.name, ()), Access.WRITE)
        return bool(homes_of(self._soc, needs, tensor))
