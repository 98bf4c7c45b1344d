# SPDX-License-Identifier: Apache-2.0
"""Each rule of the loop program: one edit of a good module breaks it and is reported."""

from dataclasses import replace
from pathlib import Path

import pytest

from atoll.ir.faults import ProgramError
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.resolve.storage_scope import narrows

GOOD = (Path(__file__).parents[2] / "golden" / "ir" / "small_module.txt").read_text()
LOOP = "for i in 0 .. 6 {\n"
LANES = f"vectorized {LOOP}"

BROKEN = {
    "names": [
        ("let before", "let x = 3 let before", "declares 'x' again"),
        ("    scratch[i] =", "for x in 0 .. 1 {} scratch[i] =", "declares 'x' again"),
        ("allocate total", "allocate y: i8[1] align 1 in local allocate total", "declares 'y'"),
        ("(i_2 == 0)", "(i == 0)", "uses 'i', which is no i32 here"),
        ("    let before", "total[0] = 0 let before", "stores to 'total', which is no buffer here"),
        ("function @smooth", "function @halved", "is defined twice"),
        ("allocate middle", "allocate image", "declares 'image' again"),
        ("entry [image]", "entry [picture]", "port 'picture' is no allocation"),
    ],
    "types": [
        ("scratch[i] = sext.i32(x[i])", "scratch[i] = x[i]", "stores an i8 to 'scratch' of i32"),
        ("max((i_2 - 1), 0)", "max((i_2 - 1), 0:i64)", "operands of max((i_2 - 1), 0:i64)"),
        ("trunc.i32((wide", "sext.i32((wide", "turns an i64 into an i32"),
        ("if (total[0] < 0)", "if total[0]", "condition total[0] is an i32"),
        ("select((i_2 == 0),", "select(i_2,", "condition of select"),
        ("(i_2 == 0)", "(i_2 == 4294967296)", "4294967296 is no i32"),
        ("for i_2 in 0 .. 6", "for i_2 in 0 .. 6:i8", "bounds of loop 'i_2' are no i32"),
        ("scratch[before]", "scratch[sext.i64(before)]", "is an i64"),
        ("@halved(total[0])", "@halved(total[0], 1)", "does not match the signature"),
        ("scratch: i32[6]", "scratch: i1[6]", "buffer 'scratch' holds i1"),
        ("x: i32) -> i32 {", "x: i32) -> i16 {", "does not end in the return of an i16"),
        ("(i_2 == 0)", "((0:i1 + 0:i1) == 0:i1)", "cannot be applied to an i1"),
        ("@halved(total[0])", "dot(0, x[0], scratch[0], 4)", "multiplies i8 and i32"),
        ("@halved(total[0])", "dot(0:i64, x[0], x[0], 4)", "adds 4 products to an i64"),
        ("@halved(total[0])", "dot(0, x[0], x[0], 0)", "adds 0 products to an i32"),
    ],
    "directions": [
        ("x: i8[6] read", "x: i8[6] write", "loads from 'x', which is only written"),
        ("y: i8[6] write", "y: i8[6] read", "stores to 'y', which is only read"),
        ("writes [middle]", "writes [middle, result]", "does not read and write what its kernel"),
        ("@smooth(image, middle)", "@smooth(middle, middle)", "passes 'middle' twice"),
        ("writes [result]", "writes [table, result]", "writes the constant 'table'"),
        ("reads [image]", "reads [result]", "reads 'result' before it is written"),
        ("writes [result]", "writes [middle]", "output 'result' is never written"),
        ("scratch[before]", "y[before]", "loads from 'y', which is only written"),
    ],
    "bounds": [
        ("for i in 0 .. 6", "for i in 0 .. 7", "touches elements 0 to 6 of 'x', which has 6"),
        ("for i in 0 .. 6", "for i in -1 .. 6", "touches elements -1 to 5 of 'scratch'"),
        ("scratch[i_2]", "scratch[((i_2 * 2) - 4)]", "touches elements -4 to 6 of 'scratch'"),
        ("@halved(total[0])", "dot(0, x[1], x[3], 4)", "touches elements 6 to 6 of 'x', which has"),
        ("scratch[i_2]", "scratch[(4 - i_2)]", "touches elements -1 to 4 of 'scratch'"),
        ("@smooth(image, middle)", "@smooth(table, middle)", "passes 'table' (4 B) as x: i8[6]"),
        ("max((i_2 - 1), 0)", "(3 / i_2)", "divisor of (3 / i_2) is not surely positive"),
        ("scratch: i32[6]", "scratch: i32[822083584]", "has 3288334336 bytes instead of"),
        ("scratch: i32[6]", "scratch: i8[9223372036854775808]", "has 9223372036854775808 bytes"),
    ],
    "lanes": [
        ("for i_2", "vectorized for i_2", "has the statement if (total[0] < 0)"),
        (LOOP, f"{LANES}allocate t: i8[1] align 1 in global.stack\n", "the statement allocate t"),
        (f"{LOOP}    scratch[i]", f"{LANES}    scratch[0]", "store scratch[0]"),
        (f"{LOOP}    scratch[i]", f"{LANES}    scratch[(5 - i)]", "store scratch[(5 - i)]"),
        (f"{LOOP}    scratch[i] = sext.i32(x[i])", f"{LANES} scratch[i] = scratch[i]", "load scr"),
        (LOOP, f"{LANES} let j = (i * 2) let k = x[j]", "lanes of 'i' load x[j]"),
        (LOOP, f"{LANES} let j = (i + i) let k = x[j]", "lanes of 'i' load x[j]"),
        (LOOP, f"{LANES} let k = dot(0, x[i], x[i], 1)", "cannot compute dot(0, x[i], x[i], 1)"),
        (LOOP, f"{LANES} let k = @halved(i)", "cannot compute @halved(i)"),
        (LOOP, f"{LANES} for j in 0 .. i {{}}", "lanes of 'i' go through 'j' unequally"),
        (LOOP, f"{LANES} for j in 0 .. 2 {{ let k = x[(i * j)] }}", "lanes of 'i' load x["),
        (LOOP, f"{LANES} for j in 0 .. 2 {{ scratch[j] = 0 }}", "lanes of 'i' store scratch[j]"),
        (LOOP, f"{LANES} for j in 0 .. 2 {{ if (j == 0) {{}} }}", "has the statement if (j == 0)"),
        (LOOP, f"{LANES} vectorized for j in 0 .. 2 {{}}", "has the statement vectorized for j"),
    ],
    "functions": [
        ("@halved(total", "@smooth(total", "scalar function"),
        ("    let before", "    return 3\n    let before", "returns before its end"),
        ("(x: i32) -> i32 {", "(x: i32, b: i8[3] read) -> i32 {", "does not suit its kind"),
        ("@smooth(x:", "@smooth(n: i32, x:", "does not suit its kind"),
    ],
    "places": [
        ("align 4 in global.stack", "align 3 in global.stack", "alignment 3 of 'scratch'"),
        ("in global.stack", "in moon.stack", "scope 'moon.stack' of 'scratch' is none of a kernel"),
        (
            "middle: i8[6] align 16 in global.workspace",
            "middle: i8[6] align 16 in local",
            "'local'",
        ),
        (
            "allocate scratch: i32[6] align 4 in global.stack",
            "allocate scratch: i32[17] align 4 in local",
            "'scratch' is 'local', for registers, and has 68 B",
        ),
        ("align 16 [weights]", "align 16 []", "'table' has no candidate pool"),
        ("align 64 [weights]", "align 64 [weights, weights]", "names a candidate pool twice"),
        ("align 64 [", "align 48 [", "alignment 48 of 'conv_commands'"),
        ("0x00010203", "0x0001", "'table' has 2 of 4 bytes"),
        ("table: 4", "table: 0", "'table' has 0 bytes"),
    ],
    "steps": [
        ("step 1", "step 0", "repeats the number 0"),
        ("step 0", "step 2", "touches 'middle', comes after step 2"),
        ("call @smooth(", "call @halved(", "calls 'halved', which is no kernel"),
        ("call @smooth(image, middle)", "call @smooth(image)", "passes 1 of 2 buffers"),
        ("run npu(", "run npu2(", "is on 'npu' and runs 'npu2'"),
        ("run npu(conv_commands", "run npu(middle", "which is no constant that it reads"),
        ("reads [middle, table", "reads [middle, tabel", "touches 'tabel', which is not declared"),
    ],
    "overlaps": [
        ("[result]\n}", "[result] over [image + 1 <= middle]\n}", "lets 'image' overlap, which it"),
        ("[result]\n}", "[result] over [result + 1 <= image]\n}", "lets 'image' be overlapped"),
        ("[result]\n}", "[result] over [result + 1 <= table]\n}", "lets 'table' be overlapped"),
        ("[result]\n}", "[result] over [result + -1 <= middle]\n}", "1 bytes above its operand"),
    ],
}
CASES = [(rule, *case) for rule, cases in BROKEN.items() for case in cases]


@pytest.fixture
def good() -> IRModule:
    return parse_module(GOOD)


def test_the_good_module_passes(good: IRModule) -> None:
    verify(good)


@pytest.mark.parametrize(("rule", "old", "new", "message"), CASES)
def test_broken_rule(rule: str, old: str, new: str, message: str) -> None:
    assert old in GOOD, f"{rule}: nothing to edit"
    text = GOOD.replace(old, new, 1)
    if "@halved(i)" in new:
        text = text.replace("  let wide", "  for n in 0 .. 2 {}\n  let wide")
    with pytest.raises(ProgramError) as caught:
        verify(parse_module(text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("smooth", "scratch[i] = sext.i32(x[i])", "scratch[i] = x[i]", "stores an i8 to 'scratch'"),
        ("halved", "x: i32) -> i32 {", "x: i32, y: i32) -> i32 {", "does not match the signature"),
    ],
)
def test_a_function_is_read_again_if_it_or_what_it_calls_is_another(
    good: IRModule, name: str, old: str, new: str, message: str
) -> None:
    """Of an accepted module, a function is made anew and all others stay."""
    assert old in GOOD
    edited = parse_module(GOOD.replace(old, new)).functions
    mixed = replace(
        good,
        functions=tuple(
            other if other.name == name else one
            for one, other in zip(good.functions, edited, strict=True)
        ),
    )
    verify(good, good)
    with pytest.raises(ProgramError) as caught:
        verify(mixed, good)
    assert message in str(caught.value)


def test_a_function_is_read_again_if_what_it_calls_comes_later(good: IRModule) -> None:
    late = sorted(good.functions, key=lambda each: each.name == "halved")
    assert [*good.functions] != late
    with pytest.raises(ProgramError, match="halved"):
        verify(replace(good, functions=tuple(late)), good)


def test_lanes_compute_what_they_have(good: IRModule) -> None:
    lanes = GOOD.replace(LOOP, f"{LANES} let k = @halved((i + sext.i32(x[(i + 0)])))")
    assert lanes != GOOD
    verify(parse_module(lanes))


def test_an_overlap_is_none_while_other_steps_run() -> None:
    steps = "start npu(conv_commands, 1) reads [middle, table, conv_commands] writes [result]"
    wait = "  step 1 conv on npu: wait npu reads [middle, table, conv_commands] writes [result]\n}"
    text = GOOD.replace("run npu(conv_commands, 1)", "start npu(conv_commands, 1)")
    verify(parse_module(text.replace("[result]\n}", f"[result]\n{wait}")))
    assert steps in text
    over = "[result] over [result + 4 <= middle]\n"
    with pytest.raises(ProgramError, match="although other steps run meanwhile"):
        verify(parse_module(text.replace("[result]\n}", f"{over}{wait}")))


def test_all_faults_are_reported(good: IRModule) -> None:
    text = GOOD.replace("table: 4", "table: 5").replace("step 1", "step 0")
    with pytest.raises(ProgramError) as caught:
        verify(parse_module(text))
    assert [fault.code for fault in caught.value.faults] == ["E078", "E078"]


def test_an_access_under_a_condition_is_not_certain() -> None:
    edited = GOOD.replace("      total[0] = 0\n", "      scratch[(i_2 + 6)] = 0\n")
    assert edited != GOOD
    verify(parse_module(edited))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[shared, private]", "[shared, private, flash]", "'image' gained the pools flash"),
        ("in global.stack", "in global", "'scratch' went from 'global.stack' to 'global'"),
        ("in global.stack", "in global.workspace", "to 'global.workspace'"),
        ("global.workspace [", "global [", "'image' went from 'global.workspace' to 'global'"),
    ],
)
def test_c2_a_pass_never_widens(good: IRModule, old: str, new: str, message: str) -> None:
    """C2."""
    with pytest.raises(ProgramError) as caught:
        verify_narrowing(good, parse_module(GOOD.replace(old, new, 1)))
    assert message in str(caught.value)


def test_c2_a_pass_may_narrow(good: IRModule) -> None:
    narrowed = GOOD.replace("[shared, private]", "[private]").replace(
        "global.workspace", "global.private"
    )
    verify_narrowing(good, parse_module(narrowed))


@pytest.mark.parametrize(
    ("scope", "before", "allowed"),
    [
        ("global.stack", "global", True),
        ("global.workspace", "global", True),
        ("global.sram", "global.workspace", True),
        ("global", "global.stack", False),
        ("global.stack", "global.workspace", False),
        ("local", "global", False),
        ("local", "local", True),
    ],
)
def test_c2_order_of_scopes(scope: str, before: str, allowed: bool) -> None:
    assert narrows(scope, before) is allowed


def test_c2_leaving_the_stack_for_the_workspace_is_widening(good: IRModule) -> None:
    moved = GOOD.replace("  allocate scratch: i32[6] align 4 in global.stack\n", "").replace(
        "y: i8[6] write)", "y: i8[6] write, scratch: i32[6] readwrite)"
    )
    with pytest.raises(ProgramError, match=r"left 'global\.stack' for the workspace"):
        verify_narrowing(good, parse_module(moved))
