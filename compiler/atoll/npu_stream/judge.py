# SPDX-License-Identifier: Apache-2.0
"""Hold what a stream touches against the regions that it is given."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from atoll.npu_stream.reader import Access, Operation
from atoll.npu_stream.spans import Spans, move_spans
from atoll.records import dataclass


class Role(Enum):
    """What a region holds."""

    CONSTANT = "constants"
    INPUT = "an input"
    OUTPUT = "an output"
    SCRATCH = "scratch"


@dataclass(frozen=True, slots=True)
class Region:
    """What a base address is of, and its bytes."""

    role: Role
    size: int


@dataclass(frozen=True, slots=True)
class Place:
    """A part of one stream's region that is a region of its own for another stream.

    Attributes:
        region, begin, end: the part.
        becomes: the number of its own region.
    """

    region: int
    begin: int
    end: int
    becomes: int


def faults(steps: Sequence[Operation], regions: Mapping[int, Region]) -> Iterator[str]:
    """Yield what is wrong with the bytes that a stream touches.

    Every access lies in a region, nothing but outputs and scratch is written, nothing of them is
    read before it is written, and in the end each byte of an output is. What fills up 16 bytes in
    the scratch may be copied along with what is before it.
    """
    pad = {Role.OUTPUT: 1, Role.SCRATCH: 16}
    written = {
        number: np.zeros(region.size, np.bool_)
        for number, region in regions.items()
        if region.role in (Role.OUTPUT, Role.SCRATCH)
    }
    for step, access in _in_order(steps):
        where = f"the {access.what} of the {step.name} at word {step.word}"
        region = regions.get(access.region, Region(Role.SCRATCH, 0))
        low, high = access.spans[0][0], access.spans[-1][1]
        if low < 0 or high > region.size:
            what = f"region {access.region}, which has {region.size}"
            yield f"{where} is bytes {low} to {high} of {what}"
        elif access.writes and access.region not in written:
            yield f"{where} is written to region {access.region}, which is {region.role.value}"
        elif access.region in written:
            bits = written[access.region]
            if access.writes:
                for begin, end in access.spans:
                    bits[begin : end + (-end % pad[region.role])] = True
            elif not all(bits[begin:end].all() for begin, end in access.spans):
                yield f"{where} is read of region {access.region} before it is written"
    for number, bits in written.items():
        if regions[number].role is Role.OUTPUT and not bits.all():
            yield f"byte {int(np.argmin(bits))} of region {number}, an output, is never written"


def unread_inputs(
    steps: Sequence[Operation], regions: Mapping[int, Region]
) -> Mapping[int, NDArray[np.bool_]]:
    """Return which bytes of each input no operation reads, for inputs that have such bytes."""
    left = {
        number: np.ones(region.size, np.bool_)
        for number, region in regions.items()
        if region.role is Role.INPUT
    }
    for access in (access for step in steps for access in step.accesses):
        if access.region in left:
            for begin, end in access.spans:
                left[access.region][begin:end] = False
    return {number: bits for number, bits in left.items() if bits.any()}


def find_unused(steps: Sequence[Operation], regions: Mapping[int, Region]) -> Iterator[str]:
    """Yield the results in the scratch that are not read in full before they are overwritten."""
    sizes = {n: region.size for n, region in regions.items() if region.role is Role.SCRATCH}
    writers = {number: np.zeros(size, np.int64) for number, size in sizes.items()}
    numbers = {id(step): at for at, step in enumerate(steps, 1)}
    for step, access in _in_order(steps):
        if access.region not in writers:
            continue
        of = writers[access.region]
        for begin, end in access.spans:
            if access.writes and (left := of[begin:end].max(initial=0)):
                yield _unused_text(steps[left - 1])
            of[begin:end] = numbers[id(step)] if access.what == "ofm" else 0
    for of in writers.values():
        if left := of.max(initial=0):
            yield _unused_text(steps[left - 1])


def _in_order(steps: Sequence[Operation]) -> Iterator[tuple[Operation, Access]]:
    """Yield all accesses: an operation reads before it writes."""
    for step in steps:
        for access in sorted(step.accesses, key=lambda each: each.writes):
            yield step, access


def _unused_text(step: Operation) -> str:
    return f"no operation reads all that the {step.name} at word {step.word} writes to the scratch"


def differences(
    before: Sequence[Operation], after: Sequence[Operation], places: Sequence[Place]
) -> Iterator[str]:
    """Yield where `after` does not touch what `before` touches, parts as regions of their own.

    Args:
        before: the stream as it was made.
        after: the stream with these regions.
        places: the parts; nothing else of their regions is touched.
    """
    if len(before) != len(after):
        yield f"there are {len(after)} operations in place of {len(before)}"
    apart = {place.region for place in places}
    for old, new in zip(before, after, strict=False):
        if old.name != new.name or len(old.accesses) != len(new.accesses):
            yield f"the {old.name} at word {old.word} is another operation at word {new.word}"
            continue
        for was, now in zip(old.accesses, new.accesses, strict=True):
            allowed = _where(was, places) if was.region in apart else [(was.region, was.spans)]
            same = (was.what, was.writes) == (now.what, now.writes)
            what = f"the {was.what} of the {old.name} is {was} at word {old.word}"
            if not allowed:
                yield f"{what}, which no tensor has"
            elif not same or (now.region, now.spans) not in allowed:
                yield f"{what}, and {now} at word {new.word}"


def _where(access: Access, places: Sequence[Place]) -> list[tuple[int, Spans]]:
    low, high = access.spans[0][0], access.spans[-1][1]
    return [
        (place.becomes, move_spans(access.spans, -place.begin))
        for place in places
        if place.region == access.region and place.begin <= low and high <= place.end
    ]
