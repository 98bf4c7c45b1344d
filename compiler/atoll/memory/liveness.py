"""When each buffer of an inference holds bytes that matter."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.ir.tir import Entry

Interval = tuple[int, int]


def live_intervals(entry: Entry) -> Mapping[str, Interval]:
    """Return the half-open interval of steps, counted from 0, in which each buffer is live.

    A buffer lives from the first step that touches it through the last, so the inputs and
    outputs of one operator overlap. The caller's inputs are there before step 0 and all its
    outputs until after the last step. Constants live in all steps. Buffers that nothing
    touches are not listed.
    """
    end = max(1, len(entry.steps))
    first: dict[str, int] = dict.fromkeys(entry.inputs, 0)
    last: dict[str, int] = dict.fromkeys(entry.inputs, 0)
    for number, step in enumerate(entry.steps):
        for buffer in (*step.reads, *step.writes):
            first.setdefault(buffer, number)
            last[buffer] = number
    for buffer in entry.outputs:
        first.setdefault(buffer, 0)
        last[buffer] = end - 1
    live = {buffer: (begin, last[buffer] + 1) for buffer, begin in first.items()}
    return MappingProxyType(live | {constant.name: (0, end) for constant in entry.constants})
