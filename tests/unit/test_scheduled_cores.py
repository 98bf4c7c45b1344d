# SPDX-License-Identifier: Apache-2.0
"""Cores that issue as LLVM's scheduling models say, on code whose cycles follow by hand."""

import pytest
from benchmarks.dual_issue import Core, State, issue
from benchmarks.scheduled_cores import MODELS

RISCV = [
    ("add a0, a1, a2; add a3, a0, a1", "3385c500b306b500", 2),
    ("ld a0, 0(a1); add a2, a0, a1", "03b505003306b500", 3),
    ("lbu a0, 0(a1); add a2, a0, a1", "03c505003306b500", 4),
    ("mul a0, a1, a2; mul a3, a4, a5; add a0, a0, a3", "3385c502b306f7023305d500", 6),
    ("c.mv a0, a1; c.add a0, a1", "2e852e95", 2),
    ("ld a0, 0(a1); sd a0, 8(a1)", "03b5050023b4a500", 3),
]
A64 = [
    ("add x1, x2, x3; add x4, x5, x6", (0x8B030041, 0x8B0600A4), 1),
    ("add x1, x2, x3; add x4, x1, x6", (0x8B030041, 0x8B060024), 2),
    ("add x1, x2, x3; add x4, x5, x1, lsl #2", (0x8B030041, 0x8B0108A4), 3),
    ("ldr x1, [x0]; ldr x2, [x3]", (0xF9400001, 0xF9400062), 2),
    ("ldr x1, [x0]; add x4, x1, x6", (0xF9400001, 0x8B060024), 5),
    ("madd x0, x1, x2, x0; madd x0, x3, x4, x0", (0x9B020020, 0x9B040060), 3),
    ("add v0.4s, v1.4s, v1.4s; add v2.4s, v3.4s, v3.4s", (0x4EA18420, 0x4EA38462), 3),
    ("add v0.2s, v1.2s, v1.2s; add v2.2s, v3.2s, v3.2s", (0x0EA18420, 0x0EA38462), 2),
    ("cmp x1, x2; b.ne", (0xEB02003F, 0x54000041), 2),
]


@pytest.mark.parametrize(("text", "code", "cycles"), RISCV, ids=[each[0] for each in RISCV])
def test_a_u54_issues_one_instruction_a_cycle(text: str, code: str, cycles: int) -> None:
    model = MODELS["sifive_u54"]
    body = model.decode(0, bytes.fromhex(code)).body
    assert len(body) == text.count(";") + 1
    assert issue(State(), body, model.units, model.width)[0] == cycles


@pytest.mark.parametrize(("text", "code", "cycles"), A64, ids=[each[0] for each in A64])
def test_a_cortex_a53_issues_two(text: str, code: tuple[int, ...], cycles: int) -> None:
    model = MODELS["cortex_a53"]
    body = model.decode(0, b"".join(each.to_bytes(4, "little") for each in code)).body
    assert len(body) == text.count(";") + 1
    assert issue(State(), body, model.units, model.width)[0] == cycles


def test_a_block_after_another_takes_what_it_takes_in_their_run() -> None:
    words = [0xF9400001, 0x8B060024]  # ldr x1, [x0]; add x4, x1, x6
    code = [each.to_bytes(4, "little") for each in words]
    model = MODELS["cortex_a53"]
    core = Core(model)
    ran = [core.run(0, code[0]), core.run(4, code[1])]
    assert ran == [1, 4]
    assert Core(model).cycles_after((0, code[0]), (4, code[1])) == ran[1]
