# SPDX-License-Identifier: Apache-2.0
"""The least and the most that Arm's tables allow, on code whose cycles follow by hand."""

import capstone
import pytest
from benchmarks.cycle_tables import TABLES, Core, cycles_of_block

BLOCKS = [
    ("cortex_m4", "adds r1, r2, r3; adds r4, r1, r6", "d1188c19", 2, 2),
    ("cortex_m4", "ldr r1, [r0]; ldr r2, [r3]", "01681a68", 3, 4),
    ("cortex_m4", "ldr r1, [r0]; ldr r2, [r1]", "01680a68", 4, 4),
    ("cortex_m4", "add r0, r1; ldr r2, [r0]", "08440268", 3, 4),
    ("cortex_m4", "ldr r1, [r0]; str r2, [r3]", "01681a60", 3, 3),
    ("cortex_m4", "str r1, [r2, r3]", "d150", 2, 2),
    ("cortex_m4", "ldr r4, [r5]; str r1, [r2, r3]", "2c68d150", 3, 4),
    ("cortex_m4", "ldr r1, [pc, #4]", "0149", 2, 3),
    ("cortex_m4", "sdiv r1, r2, r3", "92fbf3f1", 2, 12),
    ("cortex_m4", "smull r0, r1, r2, r3", "82fb0301", 1, 1),
    ("cortex_m3", "smull r0, r1, r2, r3", "82fb0301", 3, 5),
    ("cortex_m3", "mla r1, r2, r3, r1", "02fb0311", 2, 2),
    ("cortex_m3", "ldm r0!, {r1, r2, r3, r4}", "1ec8", 5, 5),
    ("cortex_m3", "push {r4, lr}", "10b5", 3, 3),
    ("cortex_m3", "ldrd r1, r2, [r0]", "d0e90012", 3, 3),
    ("cortex_m0plus", "ldr r1, [r0]; ldr r2, [r3]; str r4, [r5]", "01681a682c60", 6, 6),
    ("cortex_m0plus", "pop {r4, pc}", "10bd", 4, 4),
]
BRANCH = bytes.fromhex("9142fed1")
"""cmp r1, r2; bne to itself."""


@pytest.mark.parametrize(
    ("core", "text", "code", "least", "most"), BLOCKS, ids=[f"{c} {t}" for c, t, *_ in BLOCKS]
)
def test_a_block_takes_what_the_table_allows(
    core: str, text: str, code: str, least: int, most: int
) -> None:
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    engine.detail = True
    body = [*engine.disasm(bytes.fromhex(code), 0)]
    assert len(body) == text.count(";") + 1
    assert cycles_of_block(TABLES[core], body) == (least, most)


@pytest.mark.parametrize(
    ("core", "refills"), [("cortex_m4", (1, 3)), ("cortex_m3", (1, 3)), ("cortex_m0plus", (1, 1))]
)
def test_a_jump_that_is_taken_refills_the_pipeline(core: str, refills: tuple[int, int]) -> None:
    for which, refill in enumerate(refills):
        ran = Core(core, which)
        assert [ran.run(0, BRANCH), ran.run(0, BRANCH)] == [2, 2 + refill]
        assert ran.run(4, BRANCH) == 2, "it falls through"
