# SPDX-License-Identifier: Apache-2.0
"""What reef's constants take of its port, alone and beside the pixels of the set before."""

from fractions import Fraction
from typing import NamedTuple

from atoll.resolve.soc import Engine
from atoll_sim.engines.common.transfers import crossing_cycles
from atoll_sim.engines.reef.places import BEATS_UNDER_WAY, RETURN_CYCLES

BURST_BEATS, QUEUE_BEATS = 16, 32
"""Beats of a burst of constants, and of the queue of pixels."""
DRAIN_CYCLES, TAIL_CYCLES = 40, 8
"""From the last pixel's steps until its set has left and another one is asked for. At the end of a
set of depthwise channels: nothing of the next one is read while the last windows are computed."""


class Pixels(NamedTuple):
    """What the pixels of a set take, for one command.

    Attributes:
        computing: cycles of array and requantisers.
        moving: cycles of the port.
        read: beats.
        written: likewise.
        run: beats that are read in a row; 0: single taps, between which constants never come.
        depthwise: each channel reads its own input.
        tail: cycles at its end in which nothing of the next set is read.
        first: of its command.
    """

    computing: float
    moving: float
    read: float
    written: float
    run: float
    depthwise: bool
    tail: int
    first: bool


def beside(pixels: Pixels, constants: int, beats: int, npu: Engine) -> float:
    """Return the cycles of a set while the constants of the next one are read.

    Two sets are under way: constants are asked for when the set before the last has left. Their
    bursts change the port between memories, there and back, and so does each pixel that is written
    between their beats. Meanwhile the array goes on with the pixels that are queued; what bursts
    take longer is lost. Lines have many pixels on chip. Constants of the second set come before
    pixels of the first are written.

    Args:
        pixels: of the set.
        constants: cycles that they take alone.
        beats: of the port, of constants.
        npu: the instance.
    """
    working, wait = max(pixels.computing, pixels.moving), npu.constants_wait
    if not beats:
        return working
    bursts = min(beats, pixels.moving) / BURST_BEATS if pixels.run else 0
    through, latency = pixels.moving + constants, working + constants + DRAIN_CYCLES
    if pixels.depthwise:
        changes = wait * bursts * (2 + pixels.written / pixels.read)
        settling = npu.params["output_lanes"]
        return max(max(working, through + changes) + pixels.tail, (latency + settling) / 2)
    if pixels.first:
        return max(working, through + 2 * wait * bursts, latency / 2)
    between = _between(pixels, working, bursts, constants / through)
    changes = wait * (bursts + between)
    held = bursts * (QUEUE_BEATS - 1.5 * min(8, pixels.run)) * working / pixels.read
    lost = max(0.0, constants + changes + between - held)
    return max(working + lost, through + changes, latency / 2)


def _between(pixels: Pixels, working: float, bursts: float, share: float) -> float:
    """Return the beats that are written between those of constants.

    They are spread over all that the port does, of which constants are a `share`. A port that has
    time to spare writes more of them, if the array has pixels queued, and no more than one a beat.
    """
    rate = pixels.written / working
    spare = rate / (1 - rate) * (working - pixels.moving) if rate < 1 else 0.0
    queued = bursts * QUEUE_BEATS * pixels.written / pixels.read
    return max(pixels.written * share, min(spare, queued, bursts * BURST_BEATS))


def read_cycles(size: int, width: Fraction, npu: Engine) -> int:
    """Return the cycles in which constants come: so many beats at most are under way at a time.

    Args:
        size: bytes.
        width: bytes that memory and port move in a cycle.
        npu: the instance.
    """
    waiting = size * (npu.constants_latency + RETURN_CYCLES + float(crossing_cycles(npu)))
    whole, part = width.as_integer_ratio()
    return max(
        -(-size * part // whole), int(waiting / (BEATS_UNDER_WAY * npu.params["data_bytes"]))
    )
