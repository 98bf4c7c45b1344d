# SPDX-License-Identifier: Apache-2.0
"""Write a drawing as Perfetto's TrackEvents."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    CounterDescriptor,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

from atoll_trace.drawing import Drawing, Level, Slice, Track

_SEQUENCE = 1


def encode(drawing: Drawing) -> bytes:
    """Return the bytes of a ``.pftrace`` file; equal drawings give equal bytes."""
    lanes = _lanes(drawing)
    trace = Trace()
    numbers = {track: number for number, track in enumerate(drawing.tracks, 1)}
    lane_count = len(numbers)
    events: list[TracePacket] = []
    clock = drawing.clock.nanoseconds
    for track, number in numbers.items():
        trace.packet.append(_descriptor(track, number, numbers))
        for lane, slices in enumerate(lanes[track]):
            lane_count += bool(lane)
            uuid = lane_count if lane else number
            if lane:
                trace.packet.append(_descriptor(track, uuid, numbers, rank=number))
            for each in slices:
                events += _slice(each, uuid, clock)
    events += (_level(each, numbers[each.track], clock) for each in drawing.levels)
    trace.packet.extend(sorted(events, key=lambda packet: packet.timestamp))
    trace.packet[0].sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    return bytes(trace.SerializeToString(deterministic=True))


def _lanes(drawing: Drawing) -> dict[Track, list[list[Slice]]]:
    """Share the slices of each track among lines in which none overlaps another."""
    lanes: dict[Track, list[list[Slice]]] = defaultdict(list)
    for each in sorted(drawing.slices, key=lambda slice: slice.begin):
        of_track = lanes[each.track]
        free = (lane for lane in of_track if lane[-1].end <= each.begin)
        lane = next(free, None)
        if lane is None:
            of_track.append([each])
        else:
            lane.append(each)
    return lanes


def _packet() -> TracePacket:
    return TracePacket(trusted_packet_sequence_id=_SEQUENCE)


def _descriptor(
    track: Track, uuid: int, numbers: dict[Track, int], rank: int | None = None
) -> TracePacket:
    """Describe a track; viewers show further lines of it as part of it, by their name."""
    packet = _packet()
    of = packet.track_descriptor
    of.uuid, of.name = uuid, track.name
    of.child_ordering = TrackDescriptor.EXPLICIT
    of.sibling_order_rank = uuid if rank is None else rank
    if track.parent:
        of.parent_uuid = numbers[track.parent]
    if track.description:
        of.description = track.description
    if track.counts:
        of.counter.unit = CounterDescriptor.UNIT_SIZE_BYTES
    return packet


def _slice(each: Slice, uuid: int, clock: Callable[[int], int]) -> Iterator[TracePacket]:
    begin = _packet()
    begin.timestamp = clock(each.begin)
    event = begin.track_event
    event.track_uuid, event.name = uuid, each.name
    event.categories.append(each.category)
    event.flow_ids.extend(each.flows)
    event.terminating_flow_ids.extend(each.ends)
    for name, value in each.facts.items():
        if value is not None:
            _annotate(event.debug_annotations.add(name=name), value)
    if each.category in ("finding", "mismatch"):
        event.type = TrackEvent.TYPE_INSTANT
        yield begin
        return
    event.type = TrackEvent.TYPE_SLICE_BEGIN
    yield begin
    end = _packet()
    end.timestamp = clock(each.end)
    end.track_event.track_uuid = uuid
    end.track_event.type = TrackEvent.TYPE_SLICE_END
    yield end


def _level(each: Level, uuid: int, clock: Callable[[int], int]) -> TracePacket:
    packet = _packet()
    packet.timestamp = clock(each.cycle)
    packet.track_event.type = TrackEvent.TYPE_COUNTER
    packet.track_event.track_uuid = uuid
    packet.track_event.counter_value = each.value
    return packet


def _annotate(annotation: Any, value: Any) -> None:
    """Store a value of JSON."""
    match value:
        case bool():
            annotation.bool_value = value
        case int():
            annotation.int_value = value
        case float():
            annotation.double_value = value
        case dict():
            for name, each in value.items():
                _annotate(annotation.dict_entries.add(name=str(name)), each)
        case list() | tuple():
            for each in value:
                _annotate(annotation.array_values.add(), each)
        case _:
            annotation.string_value = str(value)
