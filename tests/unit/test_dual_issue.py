# SPDX-License-Identifier: Apache-2.0
"""The cycles of a Cortex-M7 as its scheduling model has it, on code whose cycles follow by hand."""

import pytest
from benchmarks.dual_issue import PENALTY, Core, State, decode, issue

PAIRS = [
    ("add r1, r2; add r4, r5", "11442c44", 1),
    ("adds r1, r2, r3; adds r4, r1, r6", "d1188c19", 2),
    ("ldr r1, [r0]; ldr r2, [r3]", "01681a68", 1),
    ("ldr r1, [r0]; ldr r2, [r3]; ldr r4, [r5]", "01681a682c68", 2),
    ("mul r1, r2, r3; mul r4, r5, r6", "02fb03f105fb06f4", 2),
    ("mla r1, r2, r3, r1; mla r1, r4, r5, r1", "02fb031104fb0511", 2),
    ("mul r1, r2, r3; add r4, r1", "02fb03f10c44", 3),
    ("ldr r1, [r0]; add r2, r1", "01680a44", 2),
    ("ldrb r1, [r0]; add r2, r1", "01780a44", 3),
    ("add r0, r1; ldr r2, [r0]", "08440268", 3),
    ("ldr r1, [r0], #4; ldr r2, [r0], #4", "50f8041b50f8042b", 2),
    ("add.w r1, r2, r3, lsl #2; add.w r4, r5, r6, lsl #2", "02eb830105eb8604", 2),
    ("uxtb r1, r2; adds r3, r4, r5", "d1b26319", 1),
    ("adds r3, r4, r5; uxtb r1, r2", "6319d1b2", 2),
    ("ldrd r1, r2, [r0]; adds r3, r4, r5", "d0e900126319", 2),
    ("ldm r0!, {r1, r2, r3, r4}; adds r5, r6, r7", "1ec8f519", 3),
    ("sdiv r1, r2, r3; adds r4, r5, r6", "92fbf3f1ac19", 8),
    ("str r1, [r0]; str r2, [r3]", "01601a60", 2),
    ("cmp r1, r2; it eq; addeq r3, r4", "914208bf2344", 2),
    ("adds r1, r2, r3; str r1, [r0]", "d1180160", 1),
]
BRANCH = bytes.fromhex("9142fed1")
"""cmp r1, r2; bne to itself."""


@pytest.mark.parametrize(("text", "code", "cycles"), PAIRS, ids=[each[0] for each in PAIRS])
def test_two_instructions_issue_in_a_cycle_where_nothing_forbids_it(
    text: str, code: str, cycles: int
) -> None:
    assert issue(State(), decode(0, bytes.fromhex(code)).body)[0] == cycles


def test_a_block_goes_on_where_the_last_one_ended() -> None:
    """A result is waited for, and a pair filled, over the end of a block that falls through."""
    halves = [bytes.fromhex(each) for each in ("02fb03f1", "0c44")]
    core = Core()
    assert [core.run(0, halves[0]), core.run(4, halves[1])] == [1, 2]
    adds = [bytes.fromhex(each) for each in ("1144", "2c44")]
    core = Core()
    assert [core.run(0, adds[0]), core.run(2, adds[1])] == [1, 0]
    core = Core()
    assert [core.run(0, adds[0]), core.run(8, adds[1])] == [1, 1]


def test_a_branch_costs_more_only_where_it_goes_another_way() -> None:
    core = Core()
    taken = [core.run(0, BRANCH) for _ in range(5)]
    assert taken == [2] * 5
    assert core.run(4, bytes.fromhex("1144")) == 1 + PENALTY
    assert core.run(0, BRANCH) == 2, "one exit does not change what is expected"
    assert core.run(0, BRANCH) == 2


def test_what_nobody_knows_is_not_given_cycles() -> None:
    """vadd.f32 s0, s1, s2 is no instruction of kernels."""
    with pytest.raises(KeyError):
        decode(0, bytes.fromhex("30ee810a"))
