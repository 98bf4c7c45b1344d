"""Copies for outputs that are made where the host cannot read them."""

from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.place.candidates import homes_of
from atoll.place.copy_engines import covers
from atoll.place.replicas import COPY, ReplicaNames, copy_names
from atoll.resolve.soc import Access, Dma, ResolvedSoc


def copy_outputs(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a graph in which a DMA engine copies each output that the host cannot read.

    Its operator then makes a tensor of another name, which all readers read; the output keeps its
    own. Where no engine can, nothing changes.
    """
    for op in graph.operators:
        for name in op.outputs:
            engine = _engine(graph, soc, op, name) if name in graph.outputs else None
            if engine is not None:
                graph = _copied(graph, op, name, engine)
    return graph


def _engine(graph: Graph, soc: ResolvedSoc, op: Operator, name: str) -> Dma | None:
    """Return what has to copy an output, and can."""
    tensor = graph.tensor(name)
    write, read = {op.device: Access.WRITE}, {soc.host: Access.READ}
    if homes_of(soc, read | write, tensor):
        return None
    for dma in soc.dmas:
        made = homes_of(soc, {dma.name: Access.READ} | write, tensor)
        shown = homes_of(soc, {dma.name: Access.WRITE} | read, replace(tensor, pool=""))
        if covers(dma, soc, made, shown):
            return dma
    return None


def _copied(graph: Graph, maker: Operator, name: str, engine: Dma) -> Graph:
    made = ReplicaNames(graph).replica(graph.tensor(name), (), graph.tensor(name).pool).tensor
    copy = Operator(
        name=next(copy_names(graph)),
        kind=COPY,
        inputs=(made.name,),
        outputs=(name,),
        attributes={},
        device=engine.name,
    )

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(made.name if each == name else each for each in names)

    operators: list[Operator] = []
    for op in graph.operators:
        operators.append(replace(op, inputs=renamed(op.inputs), outputs=renamed(op.outputs)))
        if op.name == maker.name:
            operators.append(copy)
    tensors = tuple(replace(each, pool="") if each.name == name else each for each in graph.tensors)
    return replace(graph, tensors=(*tensors, made), operators=tuple(operators))
