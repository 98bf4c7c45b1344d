# SPDX-License-Identifier: Apache-2.0
"""What reef's constants take of its port, alone and beside the pixels of the set before."""

from functools import cached_property
from typing import NamedTuple

from atoll.records import dataclass
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
        turn: cycles that the port loses when it turns from pixels to constants, and back.
        aside: likewise, from constants to a beat that is written, and back.
    """

    cycles: int
    beats: int
    bursts: int
    asking: float
    turn: int
    aside: int


class Row(NamedTuple):
    """Pixels that are read in a row, until constants come.

    Attributes:
        beats: that are read.
        reading: cycles in which they are.
        delay: cycles from the first beat's request until what is made of it asks to be written.
        gap: cycles from one pixel that is made of them to the next.
        pixels: that are made of them.
        whole: it ends with one of them, so that all rows begin alike.
        made: beats of each of them.
    """

    beats: float
    reading: float
    delay: float
    gap: float
    pixels: float
    whole: bool
    made: float

    def pixels_at(self, cycle: float) -> float:
        """Return how many pixels are made by then."""
        many = max(0.0, (cycle - self.delay) / self.gap)
        return min(self.pixels, many // 1 if self.whole else many)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pixels:
    """What the pixels of a set take, for one command, wherever constants are.

    Attributes:
        computing: cycles of array and requantisers.
        moving: cycles of the port.
        reading: likewise, for what is read.
        read: beats.
        written: likewise.
        alone: of these, those that follow each other, with none between them that is read.
        run: beats that are read in a row.
        pixels: of the output.
        step: beats that are read from one of these to the next.
        delay: cycles from the first beat's request until what is made of it asks to be written.
        arrival: cycles from a beat's request until the array takes it.
        kept: beats that are kept on chip beside the queue, as lines.
        tail: cycles at its end in which nothing of the next set is read.
        first: of its command.
        change: cycles from where they are read to where they are written, and back.
    """

    computing: float
    moving: float
    reading: float
    read: float
    written: float
    alone: float
    run: float
    pixels: float
    step: float
    delay: float
    arrival: float
    kept: float
    tail: int
    first: bool
    change: int

    @cached_property
    def working(self) -> float:
        """Cycles without any constants."""
        return max(self.computing, self.moving)

    @cached_property
    def paces(self) -> tuple[float, float]:
        """Cycles in which the array takes a beat, and those in which one is read.

        This is while there is room for pixels: the port reads whenever nothing is to be written,
        and otherwise every other beat.
        """
        reading, writing = self.reading / self.read, (self.moving - self.reading) / self.read
        most = reading + writing * self.read / self.written
        pace = max(self.working, most * self.written) / self.read
        return pace, min(most, reading / (1 - writing / pace))

    @cached_property
    def row(self) -> Row:
        """Those that are read in a row."""
        (pace, comes), delay, read = self.paces, self.delay, self.read
        gap = self.step * pace
        alone = delay + (0 if self.kept else gap)
        beats = self.beats_of_row(alone)
        reading = beats * self.reading / read
        if reading > alone:
            reading = alone + (reading - alone) * comes * read / self.reading
        count = beats * self.pixels / read
        whole = abs(count - round(count)) < _NEAR
        return Row(beats, reading, delay, gap, count, whole, self.written / self.pixels)

    def beats_of_row(self, alone: float) -> float:
        """Return the beats that are read until the queue has no room for another burst.

        A burst is asked for when the one before the last is read; so two are ahead of the array. It
        begins with an empty queue. In the first cycles, `alone`, nothing is written yet.
        """
        (pace, comes), run, read = self.paces, self.run, self.reading / self.read
        room = min(QUEUE_BEATS, QUEUE_RUNS * run) + self.kept
        unit, ahead, least, more = run, 2 * run, run * max(1, room // run), 0.0
        if run > 2 * BURST_BEATS:
            unit, ahead, least = BURST_BEATS, 2 * BURST_BEATS, run / (run // (2 * BURST_BEATS))
        elif run > BURST_BEATS:
            ahead, least, more, room = run - BURST_BEATS, run, run, room - BURST_BEATS
        if pace <= comes * (1 + _NEAR):
            fits = ahead + self.arrival / read <= room
            return self.read if fits else min(self.read, least)
        beats = (room - (ahead * read + self.arrival) / pace) / (1 - read / pace)
        if (beats - ahead) * read > alone:
            taken = (alone - self.arrival - (ahead + alone / read) * comes) / pace
            beats = (room + taken) / (1 - comes / pace)
        return min(self.read, max(least, (beats + more) // unit * unit))


def beside(pixels: Pixels, constants: Constants) -> float:
    """Return the cycles of a set while the constants of the next one are read.

    Two sets are under way: constants are asked for when the set before the last has left. Pixels
    come first: a burst of constants is read only when the queue of pixels has no room for another
    burst, and one at a time. Before the port turns to another memory, all answers of the last one
    are awaited. Reads and writes take turns beat by beat, so while constants are read, the port
    turns for each beat that the array has to write, up to once between any two of theirs.
    """
    working = pixels.working
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
    row, read, written = pixels.row, pixels.read, pixels.written
    asking, turn = constants.asking, constants.turn
    each, beat = constants.beats / constants.bursts, constants.cycles / constants.beats
    aside = max(0.0, constants.aside - max(0.0, 1 - pixels.alone / constants.beats) * pixels.change)

    # What a row makes is written while it is read, and the rest beside constants.
    beats_of_row, done = row.beats, row.pixels_at(row.reading)
    left = (row.pixels - done) * row.made
    until = row.delay + (done + 1) * row.gap - row.reading
    first = until if row.whole else min(row.gap, each * asking) / 2
    later = max(0.0, first - BEATS_UNDER_WAY * beat) / asking
    most = max(0.0, each - min(max(0.0, first) / asking, BEATS_UNDER_WAY + later))
    writing = aside + (pixels.moving - pixels.reading) / written
    between = 0.0
    for _ in range(4):
        end = row.reading + each * beat + between * writing
        more = min(most, (row.pixels_at(end) - done) * row.made)
        if more <= between:
            break
        between = more
    if between >= most and left > most:
        # The array waits for the port; it goes on at once when pixels come.
        beats_of_row = pixels.beats_of_row(0.0)
        left = min(left, beats_of_row * written / read)

    rows = min(bursts, read / beats_of_row)
    spare = beats_of_row * (pixels.moving - pixels.working) / read

    def loss(beats: float, between: float, turning: float) -> float:
        """Return what is lost where beats follow a row, so many are written between them."""
        taken = beat - (beat - asking) * min(1.0, between * each / beats)
        return max(0.0, beats * taken + turning + spare)

    taken = loss(each, between, turn + aside * between)
    others = bursts - rows
    if others < _NEAR:
        return rows * taken
    beats = (1 + others) * each
    between = min(beats, left)
    turning = turn + aside * between
    if beats_of_row >= read and bursts <= EARLY_BURSTS and left < beats + turn + TAKE_CYCLES:
        # The set has left by then: the constants of two sets come at once, every other set. Of
        # two gaps before pixels are asked for, writes fill what they can.
        turning = (turning + max(0.0, 2 * TAKE_CYCLES - left)) / 2
    ends = (rows - 1) * taken + loss(beats, between, turning)
    if others < EARLY_BURSTS < bursts and left < beats and not pixels.first:
        # Every other set has early bursts, and none behind its pixels.
        early = EARLY_BURSTS * each * beat
        return (ends + early + (bursts - EARLY_BURSTS) * taken) / 2
    return ends
