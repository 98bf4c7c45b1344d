"""Which buffers conflict, and which are live together."""

from collections.abc import Iterator, Sequence

from atoll.memory.problem import Buffer, Problem


def conflicting_pairs(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield the pairs of buffers that conflict; a pair may come more than once."""
    groups: dict[str, set[int]] = {}
    for place, group in enumerate(problem.exclusive):
        for name in group:
            groups.setdefault(name, set()).add(place)
    pairs = _meetings(problem.buffers) if problem.conflicts is None else iter(problem.conflicts)
    for one, other in pairs:
        if one != other and groups.get(one, set()).isdisjoint(groups.get(other, ())):
            yield one, other


def moments(buffers: Sequence[Buffer]) -> Iterator[tuple[str, ...]]:
    """Yield the buffers that are live together, for each step in which there are the most."""
    live: dict[str, None] = {}
    growing = False
    for _, starts, name in _events(buffers):
        if starts:
            live[name] = None
        else:
            if growing:
                yield tuple(live)
            del live[name]
        growing = starts


def _meetings(buffers: Sequence[Buffer]) -> Iterator[tuple[str, str]]:
    live: dict[str, None] = {}
    for _, starts, name in _events(buffers):
        if starts:
            for other in live:
                yield other, name
            live[name] = None
        else:
            del live[name]


def _events(buffers: Sequence[Buffer]) -> list[tuple[int, bool, str]]:
    """Return the starts and ends of all intervals; at one step, ends come first."""
    return sorted(
        (step, starts, buffer.name)
        for buffer in buffers
        for begin, end in buffer.live
        for step, starts in ((begin, True), (end, False))
    )
