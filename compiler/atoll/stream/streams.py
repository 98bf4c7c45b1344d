# SPDX-License-Identifier: Apache-2.0
"""Copy constants of accelerators ahead of their use: another graph that computes the same bytes.

The copies are operators of that graph and what they write are tensors of it: memory planning, the
contract and the checks know of no streams.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.lower.jobs import prepare
from atoll.ops.registry import COPY
from atoll.place.capabilities import takes_constants
from atoll.place.replicas import copy_names
from atoll.reach.candidates import CONSTANT_ROLES, homes_of, needs_of
from atoll.records import dataclass
from atoll.resolve.soc import Access, Engine, Pool, ResolvedSoc
from atoll.stream.channel_parts import with_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """How the constants of one operator come to where its accelerator reads them.

    Attributes:
        operator: its name.
        size: bytes of the constants.
        mover: the device that copies them.
        source: the pool that they lie in.
        target: the pool that they are copied to.
        parts: operators that it is cut into, each of which makes some of the output channels.
    """

    operator: str
    size: int
    mover: str
    source: str
    target: str
    parts: int


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
            constants = constants_of(op, graph, soc)
            source, copied, *views = _tensors(op, constants, stream)
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
            made = [view.name for view in views]
            packed = len(constants.packed)
            operands = (each.name for each in constants.operands)
            op = op.rename_operands(dict(zip(operands, made[packed:], strict=True)))
            op = replace(op, packed=tuple(made[:packed]))
        operators.append(op)
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


@dataclass(frozen=True, slots=True)
class Constants:
    """What an accelerator reads for one operator beside activations.

    Attributes:
        packed: tensors that its emitter made.
        operands: constants of the network that it reads as they are.
        alignment: of each of them, in bytes.
    """

    packed: tuple[Tensor, ...]
    operands: tuple[Tensor, ...]
    alignment: int

    @property
    def every(self) -> tuple[Tensor, ...]:
        """All of them."""
        return (*self.packed, *self.operands)

    def room(self, constant: Tensor) -> int:
        """Return the bytes from the start of one to that of the next."""
        return -(-constant.size // self.alignment) * self.alignment

    @property
    def size(self) -> int:
        """The bytes of all of them one behind the other."""
        return sum(map(self.room, self.every))


def constants_of(op: Operator, graph: Graph, soc: ResolvedSoc) -> Constants:
    """Return the constants that an accelerator reads for `op`."""
    engine = soc.device(op.device)
    assert isinstance(engine, Engine)
    job = prepare(op, graph, engine, 1)
    read = (graph.tensor(name) for name in dict.fromkeys(job.reads))
    operands = tuple(each for each in read if each.data is not None)
    return Constants(job.constants, operands, job.alignment)


def may_stream(soc: ResolvedSoc) -> bool:
    """Tell whether a DMA engine reads constants."""
    held = {pool.region.memory for pool in soc.pools if pool.role in CONSTANT_ROLES}
    return any(source in held for dma in soc.dmas for source, _ in dma.moves)


def with_brought_constants(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip whose accelerators reach what its DMA engines can bring them."""
    takers = {npu.name: Access.READ for npu in soc.npus if not takes_constants(npu, soc)}
    brought = {source for dma in soc.dmas for source, _ in dma.moves}

    def extend_reach(pool: Pool) -> Pool:
        if pool.role != "constants" or pool.region.memory not in brought:
            return pool
        return replace(pool, reach={**pool.reach, **takers})

    return replace(soc, pools=tuple(map(extend_reach, soc.pools)))


def check_reach(graph: Graph, soc: ResolvedSoc) -> None:
    """Accept a graph whose every constant is where those who touch it reach it.

    Raises:
        PlacementError: E060; one is not.
    """
    needs = needs_of(graph, soc)
    for tensor in graph.tensors:
        wanted = needs[tensor.name]
        if tensor.data is not None and wanted and not homes_of(soc, wanted, tensor):
            readers = ", ".join(wanted)
            message = f"constant '{tensor.name}' is in no pool that {readers} reach"
            raise PlacementError("E060", message)


def _tensors(op: Operator, constants: Constants, stream: Stream) -> Iterator[Tensor]:
    """Yield all constants of `op` as one, what they are copied to, and a view for each of them."""
    data = b""
    for each in constants.every:
        assert each.data is not None
        data += each.data + bytes(constants.room(each) - each.size)
    source = Tensor(
        name=f"{op.name}_constants",
        shape=(len(data),),
        dtype="int8",
        data=data,
        pools=(stream.source,),
    )
    yield source
    copied = replace(source, name=f"{op.name}_streamed", data=None, pools=(stream.target,))
    yield copied
    offset = 0
    for number, each in enumerate(constants.every):
        own = number < len(constants.packed)
        name = f"{each.name}_streamed" if own else f"{op.name}_{each.name}_streamed"
        yield replace(each, name=name, data=None, view=copied.name, offset=offset, index=-1)
        offset += constants.room(each)
