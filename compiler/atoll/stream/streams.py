"""Copy constants of accelerators ahead of their use: another graph that computes the same bytes.

The copies are operators of that graph and what they write are tensors of it: memory planning, the
contract and the checks know of no streams.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.lower.jobs import prepared
from atoll.ops.registry import COPY
from atoll.place.replicas import copy_names
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.stream.parts import with_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """How the constants of one operator come to where its accelerator reads them.

    Attributes:
        operator: its name.
        size: bytes of the constants.
        mover: the device that copies them.
        source: the pool that they lie in, "" where memory planning chooses.
        target: the pool that they are copied to, likewise.
        parts: operators that it is cut into, each of which makes some of the output channels.
    """

    operator: str
    size: int
    mover: str
    source: str = ""
    target: str = ""
    parts: int = 1


def with_streams(graph: Graph, soc: ResolvedSoc, streams: Sequence[Stream]) -> Graph:
    """Return a placed graph in which constants of some operators are copied right before these.

    All constants of an operator are one tensor, which one copy moves; what its accelerator reads
    are views of the result.
    """
    by_name: dict[str, Stream] = {}
    for stream in streams:
        graph, parts = with_parts(graph, soc, stream.operator, stream.parts)
        by_name |= dict.fromkeys(parts, stream)
    tensors: list[Tensor] = list(graph.tensors)
    operators: list[Operator] = []
    names = copy_names(graph)
    for op in graph.operators:
        if op.name in by_name:
            stream = by_name[op.name]
            source, copied, *views = _tensors(op, graph, soc, stream)
            tensors += (source, copied, *views)
            operators.append(
                Operator(
                    name=next(names),
                    kind=COPY,
                    inputs=(source.name,),
                    outputs=(copied.name,),
                    attributes={},
                    device=stream.mover,
                )
            )
            op = replace(op, packed=tuple(view.name for view in views))
        operators.append(op)
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def constants_of(op: Operator, graph: Graph, soc: ResolvedSoc) -> tuple[tuple[Tensor, ...], int]:
    """Return the constants that an accelerator reads for `op`, and what they are aligned to."""
    engine = soc.device(op.device)
    assert isinstance(engine, Engine)
    job = prepared(op, graph, engine, 1)
    return job.constants, job.alignment


def size_of(constants: Sequence[Tensor], alignment: int) -> int:
    """Return the bytes of constants one behind the other."""
    return sum(-(-each.size // alignment) * alignment for each in constants)


def _tensors(op: Operator, graph: Graph, soc: ResolvedSoc, stream: Stream) -> Iterator[Tensor]:
    """Yield all constants of `op` as one, what they are copied to, and a view for each of them."""
    constants, alignment = constants_of(op, graph, soc)
    data = b""
    for each in constants:
        assert each.data is not None
        data += each.data + bytes(-each.size % alignment)
    source = Tensor(
        name=f"{op.name}_constants",
        shape=(len(data),),
        dtype="int8",
        data=data,
        pool=stream.source,
    )
    yield source
    copied = replace(source, name=f"{op.name}_streamed", data=None, pool=stream.target)
    yield copied
    offset = 0
    for each in constants:
        name = f"{each.name}_streamed"
        yield replace(each, name=name, data=None, view=copied.name, offset=offset)
        offset += size_of((each,), alignment)
