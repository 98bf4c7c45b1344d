# SPDX-License-Identifier: Apache-2.0
"""Give accelerators their operands in the layouts that they want, and give the others theirs."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import count

from atoll.cost.copies import changes_layouts
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.operand_layouts import input_layouts, output_layout
from atoll.ops.registry import RELAYOUT, kind_of
from atoll.place.replicas import readers_of
from atoll.reach.candidates import homes_of
from atoll.reach.movers import covers
from atoll.records import dataclass
from atoll.resolve.soc import Access, Dma, Npu, ResolvedSoc


def with_layouts(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a placed graph in which every operator reads the layouts that its device wants.

    A tensor is kept in each layout that somebody reads, and changed right before the first reader;
    where all of them want what its writer makes, nothing is, nor where a core only computes
    element by element in between. A DMA engine changes it if one can, then an accelerator, then a
    core. Planning the result again changes nothing.

    Raises:
        AtollError: E162; a formula of a layout has no value.
    """
    if not any(each.layouts for npu in soc.npus for each in npu.spec.operators):
        return graph
    return _Changer(graph, soc).run()


@dataclass
class _Changer:
    """Follows the operators in their order.

    Attributes:
        forms: names of the tensors that hold the values of one, by layout.
        writers: who writes each tensor.
    """

    graph: Graph
    soc: ResolvedSoc
    forms: dict[str, dict[Layout | None, str]] = field(init=False)
    tensors: dict[str, Tensor] = field(init=False)
    writers: dict[str, str] = field(init=False)
    readers: dict[str, list[Operator]] = field(init=False)
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.forms = {each.name: {each.layout: each.name} for each in self.graph.tensors}
        self.tensors = dict(self.graph.by_name)
        self.readers = readers_of(self.graph)
        self.writers = dict.fromkeys(self.graph.filled, self.soc.host)

    def run(self) -> Graph:
        operators = tuple(self._change())
        made = {name for op in self.graph.operators for name in op.outputs}
        used = {*self.graph.filled, *self.graph.outputs}
        used |= {name for op in operators for name in (*op.reads, *op.outputs)}
        used |= {each.view for each in self.tensors.values()}
        kept = (each for name, each in self.tensors.items() if name in used or name not in made)
        return replace(self.graph, tensors=tuple(kept), operators=operators)

    def _change(self) -> Iterator[Operator]:
        for op in self.graph.operators:
            if op.kind == RELAYOUT:
                yield self._write(op)
                continue
            wanted, made = self._wanted_layouts(op)
            if common := self._common(op):
                wanted, made = common
            inputs: list[str] = []
            for at, name in enumerate(op.inputs):
                if name:
                    yield from self._provide(name, wanted.get(at), op.device)
                inputs.append(self.forms[name][wanted.get(at)] if name else "")
            op = replace(op, inputs=tuple(inputs))
            if made and self.graph.results(op)[0].layout is None:
                op = replace(op, outputs=(self._result(op.outputs[0], made),))
            yield self._write(op)
        for name in self.graph.outputs:
            yield from self._provide(name, None, self.soc.host)

    def _wanted_layouts(self, op: Operator) -> tuple[Mapping[int, Layout], Layout | None]:
        """Return the layouts that the device of `op` wants of its inputs, and makes."""
        device = self.soc.device(op.device)
        if not isinstance(device, Npu):
            return {}, None
        return input_layouts(op, self.graph, device), output_layout(op, self.graph, device)

    def _common(self, op: Operator) -> tuple[Mapping[int, Layout], Layout | None] | None:
        """Return layouts in which a core computes `op`, so that none is changed before or after it.

        All inputs have them by now, and all readers of the result want it so.
        """
        if not self._in_any_layout(op) or any(not name for name in op.inputs):
            return None
        (result,) = self.graph.results(op)
        for layout in filter(None, self.forms[op.inputs[0]]):
            made = replace(layout, fill=_fill(result))
            own = [replace(layout, fill=_fill(self.tensors[name])) for name in op.inputs]
            there = all(each in self.forms[name] for name, each in zip(op.inputs, own, strict=True))
            if there and layout.patches is None and self._all_want(result.name, made):
                return dict(enumerate(own)), made
        return None

    def _in_any_layout(self, op: Operator) -> bool:
        kind = kind_of(op)
        if not kind.any_layout or isinstance(self.soc.device(op.device), Npu):
            return False
        return not kind.features(op, self.graph).get("broadcast", 0)

    def _all_want(self, name: str, layout: Layout) -> bool:
        """Tell whether all readers of a tensor read a layout, or compute in it for such readers."""
        if name in self.graph.outputs or not self.readers[name]:
            return False
        for op in self.readers[name]:
            if self._in_any_layout(op):
                (result,) = self.graph.results(op)
                if not self._all_want(result.name, replace(layout, fill=_fill(result))):
                    return False
            else:
                wanted, _ = self._wanted_layouts(op)
                places = (at for at, each in enumerate(op.inputs) if each == name)
                if any(wanted.get(at) != layout for at in places):
                    return False
        return True

    def _write(self, op: Operator) -> Operator:
        self.writers |= dict.fromkeys(op.outputs, op.device)
        return op

    def _new(self, name: str, layout: Layout, pools: tuple[str, ...] = ()) -> str:
        """Make the tensor that holds the values of another one in a layout."""
        fresh = next(
            each for number in count(1) if (each := f"{name}_laid{number}") not in self.tensors
        )
        source = replace(self.tensors[name], name=fresh, index=-1, pools=pools, initial=None)
        tensor = replace(source, layout=layout)
        self.tensors[fresh] = tensor
        self.forms[name][layout] = fresh
        self.forms[fresh] = self.forms[name]
        return fresh

    def _result(self, name: str, layout: Layout) -> str:
        """Make the tensor that an accelerator writes in the place of its result."""
        tensor = self.tensors[name]
        self.tensors[name] = replace(tensor, pools=())
        self.forms[name].clear()
        return self._new(name, layout, tensor.pools)

    def _provide(self, name: str, layout: Layout | None, reader: str) -> Iterator[Operator]:
        """Change the layout of a tensor where nobody has, by way of row-major order."""
        forms = self.forms[name]
        if layout in forms:
            return
        if layout and None not in forms:
            yield from self._provide(name, None, reader)
        if layout:
            source, target = forms[None], self._new(forms[None], layout)
        else:
            source = next(iter(forms.values()))
            target = forms[None] = name
        op = Operator(
            name=f"{RELAYOUT}_{next(self.numbers)}",
            kind=RELAYOUT,
            inputs=(source,),
            outputs=(target,),
            attributes={},
        )
        device = self._mover(op, self.tensors[source], self.tensors[target], reader)
        yield self._write(replace(op, device=device))

    def _mover(self, op: Operator, source: Tensor, target: Tensor, reader: str) -> str:
        """Return who changes a layout: the first that reaches both sides, the host if none does."""
        soc, writer = self.soc, self.writers.get(source.name, self.soc.host)
        for each in (*soc.dmas, *soc.npus):
            if not changes_layouts(each):
                continue
            sides = (
                ({writer: Access.WRITE, each.name: Access.READ}, source),
                ({reader: Access.READ, each.name: Access.WRITE}, target),
            )
            pools = [homes_of(soc, needs, tensor) for needs, tensor in sides]
            if all(pools) and (not isinstance(each, Dma) or covers(each, soc, *pools)):
                return each.name
        return soc.host


def _fill(tensor: Tensor) -> int:
    return tensor.quantization.zero_points[0] if tensor.quantization else 0
