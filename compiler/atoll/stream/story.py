# SPDX-License-Identifier: Apache-2.0
"""What streams save and what they cost, for people and programs."""

from dataclasses import asdict, dataclass

from atoll.stream.choose import Streaming, Worth


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStory:
    """An operator whose constants are copied ahead, or could be.

    Attributes:
        streamed: they are.
        size_bytes: of the constants.
        source, target: the pools that they are copied from and to.
        mover: the device that copies them.
        parts: operators that it is cut into for that, by output channels.
        copy_cycles: what the copies take by estimate, beside what else is done.
        cycles: what the operator takes then, in parts and with their channels brought together.
        direct_cycles: what it takes with constants where they lie; None if it cannot read them.
    """

    operator: str
    streamed: bool
    size_bytes: int
    source: str
    target: str
    mover: str
    parts: int
    copy_cycles: int
    cycles: int
    direct_cycles: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingStory:
    """A network with streams, or one that could have some.

    Attributes:
        operators: in the order of the network.
        cycles: of the network by estimate, from its first operator to its last.
        direct_cycles: likewise if nothing were streamed; None if it does not fit so.
        basis: what all cycles rest on.
    """

    operators: tuple[StreamStory, ...]
    cycles: int
    direct_cycles: int | None
    basis: str

    def as_json(self) -> dict[str, object]:
        """Return the story for machines."""
        return asdict(self) | {"operators": [asdict(each) for each in self.operators]}


def streaming_story(streaming: Streaming, cycles: int, basis: str) -> StreamingStory | None:
    """Return what became of the constants of a network that takes `cycles`, None if none could.

    `basis` is what cycles rest on.
    """
    if not streaming.possible:
        return None
    return StreamingStory(
        operators=tuple(_story(each, streaming) for each in streaming.possible),
        cycles=cycles,
        direct_cycles=streaming.direct,
        basis=basis,
    )


def _story(worth: Worth, streaming: Streaming) -> StreamStory:
    stream = worth.stream
    return StreamStory(
        operator=stream.operator,
        streamed=stream.operator in streaming.chosen,
        size_bytes=stream.size,
        source=stream.source,
        target=stream.target,
        mover=stream.mover,
        parts=stream.parts,
        copy_cycles=worth.copying,
        cycles=worth.cycles,
        direct_cycles=worth.direct,
    )
