# SPDX-License-Identifier: Apache-2.0
"""What reef's constants take of its port, alone and beside the pixels of the set before."""

from typing import NamedTuple

from atoll_sim.engines.reef.places import BEATS_UNDER_WAY

BURST_BEATS, QUEUE_BEATS, QUEUE_RUNS = 16, 32, 16
"""Beats of a burst; beats and runs of the queue of pixels."""
EARLY_BURSTS = 2
"""Bursts of constants that are asked for before the pixels of a set: one is read, one waits."""
ARRIVAL_CYCLES = 4
"""From a beat's request until the array takes it, of a memory that answers in a cycle."""
DRAIN_CYCLES, TAIL_CYCLES = 40, 8
"""From the last pixel's steps until its set has left and another one is asked for. At the end of a
set of depthwise channels: nothing of the next one is read while the last windows are computed."""
TAKE_CYCLES = 5
"""From the answer of the last beat of constants until pixels are asked for."""
_NEAR = 1e-6


class Constants(NamedTuple):
    """What the constants of a set take of the port.

    Attributes:
        cycles: alone.
        beats: of the port.
        bursts: that bring them.
        asking: cycles in which the port asks for a beat, without a wait for its answer.
    """

    cycles: int
    beats: int
    bursts: int
    asking: float


class Pixels(NamedTuple):
    """What the pixels of a set take, for one command.

    Attributes:
        computing: cycles of array and requantisers.
        moving: cycles of the port.
        reading: likewise, for what is read.
        read: beats.
        written: likewise.
        run: beats that are read in a row.
        pixels: of the output.
        step: beats that are read from one of these to the next.
        delay: cycles from the first beat's request until what is made of it asks to be written.
        arrival: cycles from a beat's request until the array takes it.
        kept: beats that are kept on chip beside the queue, as lines.
        tail: cycles at its end in which nothing of the next set is read.
        first: of its command.
        turn: cycles that the port loses when it turns from pixels to constants, and back.
        aside: likewise, from constants to a beat that is written, and back.
    """

    computing: float
    moving: float
    reading: float
    read: float
    written: float
    run: float
    pixels: float
    step: float
    delay: float
    arrival: float
    kept: float
    tail: int
    first: bool
    turn: float
    aside: float


def beside(pixels: Pixels, constants: Constants) -> float:
    """Return the cycles of a set while the constants of the next one are read.

    Two sets are under way: constants are asked for when the set before the last has left. Pixels
    come first: a burst of constants is read only when the queue of pixels has no room for another
    burst, and one at a time. Before the port turns to another memory, all answers of the last one
    are awaited. Reads and writes take turns beat by beat, so while constants are read, the port
    turns for each beat that the array has to write, up to once between any two of theirs.
    """
    working = max(pixels.computing, pixels.moving)
    early = min(EARLY_BURSTS, constants.bursts) if pixels.first else 0
    before = constants.cycles * early / constants.bursts
    lost = _loss(pixels, constants, constants.bursts - early) if constants.bursts > early else 0.0
    latency = (working + constants.cycles + DRAIN_CYCLES) / 2
    return max(before + working + lost, latency) + pixels.tail


def _loss(pixels: Pixels, constants: Constants, bursts: int) -> float:
    """Return the cycles by which a set takes longer for so many bursts of the next one's constants.

    Bursts alternate with rows of pixels as long as there are some; the others are read one after
    the other, before the pixels of the next set.
    """
    _, moving, reading, beats_read, written, _, made_pixels, step, delay, *_ = pixels
    asking, turn, slow = constants.asking, pixels.turn, pixels.aside
    each, beat = constants.beats / constants.bursts, constants.cycles / constants.beats
    pace, comes = _paces(pixels)
    gap, made = step * pace, written / made_pixels
    alone = delay + (0 if pixels.kept else gap)
    row = _row(pixels, pace, comes, alone)
    read = row * reading / beats_read
    if read > alone:
        read = alone + (read - alone) * comes * beats_read / reading

    # What a row makes is written while it is read, and the rest beside constants. Where rows end
    # with a pixel, all begin alike.
    count = row * made_pixels / beats_read
    whole = abs(count - round(count)) < _NEAR

    def pixels_at(cycle: float) -> float:
        many = max(0.0, (cycle - delay) / gap)
        return min(count, many // 1 if whole else many)

    done = pixels_at(read)
    left = (count - done) * made
    first = delay + (done + 1) * gap - read if whole else min(gap, each * asking) / 2
    later = max(0.0, first - BEATS_UNDER_WAY * beat) / asking
    asked = min(max(0.0, first) / asking, BEATS_UNDER_WAY + later)
    most = max(0.0, each - asked)
    writing = slow + (moving - reading) / written
    aside = 0.0
    for _ in range(4):
        end = read + each * beat + aside * writing
        more = min(most, (pixels_at(end) - done) * made)
        if more <= aside:
            break
        aside = more
    if aside >= most and left > most:
        # The array waits for the port; it goes on at once when pixels come.
        row = _row(pixels, pace, comes, 0.0)
        left = min(left, row * written / beats_read)

    rows = min(bursts, beats_read / row)
    spare = row * (moving - max(pixels.computing, moving)) / beats_read

    def loss(beats: float, between: float, turning: float) -> float:
        """Return what is lost where beats follow a row, so many are written between them."""
        taken = beat - (beat - asking) * min(1.0, between * each / beats)
        return max(0.0, beats * taken + turning + spare)

    taken = loss(each, aside, turn + slow * aside)
    others = bursts - rows
    if others < _NEAR:
        return rows * taken
    beats = (1 + others) * each
    between = min(beats, left)
    turning = turn + slow * between
    if row >= beats_read and bursts <= EARLY_BURSTS and left < beats + turn + TAKE_CYCLES:
        # The set has left by then: the constants of two sets come at once, every other set. Of
        # two gaps before pixels are asked for, writes fill what they can.
        turning = (turning + max(0.0, 2 * TAKE_CYCLES - left)) / 2
    ends = (rows - 1) * taken + loss(beats, between, turning)
    if others < EARLY_BURSTS < bursts and left < beats and not pixels.first:
        # Every other set has early bursts, and none behind its pixels.
        early = EARLY_BURSTS * each * beat
        return (ends + early + (bursts - EARLY_BURSTS) * taken) / 2
    return ends


def _paces(pixels: Pixels) -> tuple[float, float]:
    """Return the cycles in which the array takes a beat, and those in which one is read.

    This is while there is room for pixels: the port reads whenever nothing is to be written, and
    otherwise every other beat.
    """
    reading, writing = pixels.reading / pixels.read, (pixels.moving - pixels.reading) / pixels.read
    most = reading + writing * pixels.read / pixels.written
    pace = max(pixels.computing, pixels.moving, most * pixels.written) / pixels.read
    return pace, min(most, reading / (1 - writing / pace))


def _row(pixels: Pixels, pace: float, comes: float, alone: float) -> float:
    """Return the beats that are read until the queue has no room for another burst.

    A burst is asked for when the one before the last is read; so two are ahead of the array. It
    begins with an empty queue.

    Args:
        pixels: of the set.
        pace: cycles in which the array takes a beat.
        comes: cycles in which a beat is read, while others are written.
        alone: cycles in which nothing is written yet.
    """
    run, read = pixels.run, pixels.reading / pixels.read
    room = min(QUEUE_BEATS, QUEUE_RUNS * run) + pixels.kept
    unit, ahead, least, more = run, 2 * run, run * max(1, room // run), 0.0
    if run > 2 * BURST_BEATS:
        unit, ahead, least = BURST_BEATS, 2 * BURST_BEATS, run / (run // (2 * BURST_BEATS))
    elif run > BURST_BEATS:
        ahead, least, more, room = run - BURST_BEATS, run, run, room - BURST_BEATS
    if pace <= comes * (1 + _NEAR):
        fits = ahead + pixels.arrival / read <= room
        return pixels.read if fits else min(pixels.read, least)
    beats = (room - (ahead * read + pixels.arrival) / pace) / (1 - read / pace)
    if (beats - ahead) * read > alone:
        taken = (alone - pixels.arrival - (ahead + alone / read) * comes) / pace
        beats = (room + taken) / (1 - comes / pace)
    return min(pixels.read, max(least, (beats + more) // unit * unit))
