# SPDX-License-Identifier: Apache-2.0
"""Registers of sequences in the simulator: what is done at the end of the last step only."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from atoll.resolve.register_steps import ALL, RegisterStep, Steps, register_spans
from atoll_sim.iss.step_registers import Sequence, StepRegisters

AT = st.sampled_from([0x4000_0000, 0x4000_0004, 0x4000_0010])
WORDS = st.integers(0, ALL)


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    found = []
    for _ in range(draw(st.integers(1, 6))):
        mask = draw(st.sampled_from([ALL, 0x1, 0xF0, 0xFFFF_0000]))
        waits = draw(st.booleans())
        value: int | str = draw(WORDS) & mask
        if not waits and mask == ALL and draw(st.booleans()):
            value = draw(st.sampled_from(["first", "end"]))
        step = RegisterStep(address=draw(AT), waits=waits, value=value, mask=mask)
        found.append(step)
    return tuple(found)


class Core:
    """Makes steps on the registers of one sequence, as its code does."""

    def __init__(self, sequence: Steps) -> None:
        self.done: list[dict[str, int]] = []
        player = Sequence(sequence, {}, lambda written, _: self.done.append(dict(written)))
        values: dict[int, int] = {}
        self._blocks = [
            (s, StepRegisters(s.start, values, [player])) for s in register_spans(sequence)
        ]

    def make(self, step: RegisterStep, values: dict[str, int]) -> int:
        """Make a step; return how often it looked at its register."""
        span, block = next(each for each in self._blocks if step.address in each[0])
        offset = step.address - span.start
        value = values[step.value] if isinstance(step.value, str) else step.value
        if not step.waits:
            others = block.read(offset, "cpu", 0) & ~step.mask if step.mask != ALL else 0
            block.write(offset, others | value, "cpu", 0)
            return 0
        for look in range(1, 9):
            if block.read(offset, "cpu", 0) & step.mask == value:
                return look
        return 0


def before_last(sequence: Steps) -> Iterator[Steps]:
    for number in range(len(sequence)):
        yield sequence[:number]


@given(steps(), WORDS, WORDS, st.integers(1, 3))
def test_a_sequence_is_done_once_each_time_that_all_steps_are_made(
    sequence: Steps, first: int, end: int, times: int
) -> None:
    core, values = Core(sequence), {"first": first, "end": end}
    for _ in range(times):
        looks = [core.make(step, values) for step in sequence]
        assert [look > 1 for look in looks] == [step.waits for step in sequence]
    written = {each.value for each in sequence if isinstance(each.value, str)}
    assert core.done == [{name: values[str(name)] for name in written}] * times


@given(steps(), WORDS, WORDS)
def test_nothing_is_done_before_the_last_step(sequence: Steps, first: int, end: int) -> None:
    for part in before_last(sequence):
        core = Core(sequence)
        for step in part:
            core.make(step, {"first": first, "end": end})
        assert core.done == []


def test_a_step_in_another_place_begins_anew() -> None:
    def write(at: int, value: int) -> RegisterStep:
        return RegisterStep(address=at, waits=False, value=value)

    sequence = (write(0x10, 1), write(0x14, 2), write(0x18, 3))
    core = Core(sequence)
    for at in (0, 2, 1):
        core.make(sequence[at], {})
    assert core.done == []
    for step in (sequence[0], *sequence):
        core.make(step, {})
    assert core.done == [{}]


def test_registers_that_adjoin_are_one_block() -> None:
    found = register_spans(
        RegisterStep(address=at, waits=False, value=0) for at in (0x14, 0x10, 0x20, 0x10)
    )
    assert found == (range(0x10, 0x18), range(0x20, 0x24))
