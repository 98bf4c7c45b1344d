"""When each buffer of an inference holds bytes that matter."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.ir.tir import Entry

Interval = tuple[int, int]


def live_intervals(entry: Entry, *, mapped_inputs: bool = False) -> Mapping[str, Interval]:
    """Return the half-open interval of steps, counted from 0, in which each buffer is live.

    A buffer lives from the first step that touches it through the last, so the inputs and
    outputs of one operator overlap. The caller fills its inputs before step 0. Behind the last
    step is one more, at which the caller reads the outputs, so these outlive whatever runs.
    Constants live in all steps. Buffers that nothing touches are not listed.

    Args:
        entry: the steps.
        mapped_inputs: the inputs stay in their places; the caller may read them at the end too.
    """
    end = len(entry.steps)
    first: dict[str, int] = dict.fromkeys(entry.inputs, 0)
    last: dict[str, int] = dict.fromkeys(entry.inputs, end if mapped_inputs else 0)
    for number, step in enumerate(entry.steps):
        for buffer in (*step.reads, *step.writes):
            first.setdefault(buffer, number)
            last[buffer] = max(number, last.get(buffer, 0))
    for buffer in entry.outputs:
        first.setdefault(buffer, 0)
        last[buffer] = end
    live = {buffer: (begin, last[buffer] + 1) for buffer, begin in first.items()}
    return MappingProxyType(live | {constant.name: (0, end + 1) for constant in entry.constants})
