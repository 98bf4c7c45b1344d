# SPDX-License-Identifier: Apache-2.0
"""Faults in the text of a loop program name line, column, and what was wanted."""

from pathlib import Path
from zlib import crc32

import pytest

from atoll.ir.faults import ProgramError
from atoll.ir.read_module import parse_module

GOOD = (Path(__file__).parents[2] / "golden" / "ir" / "small_module.txt").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("module small", "model small", "line 1, column 1 of the loop program: 'model' instead"),
        ("x: i32)", "x: f32)", "line 3, column 21 of the loop program: 'f32' instead of a type"),
        ("sext.i64(x)", "sext.i64(z)", "'z' instead of a name that is declared"),
        ("wide >> 1", "wide ? 1", "'?' instead of an operation"),
        ("@halved(total", "@quartered(total", "'quartered' instead of a scalar function"),
        ("[6] write", "[6] erase", "'erase' instead of a direction"),
        ("align 16", "align sixteen", "'sixteen' instead of a number"),
        ("0x00010203", "00010203", "instead of bytes such as '0x00ff'"),
        ("run npu(conv_commands, 1)", "run npu(conv_commands)", "')' instead of ','"),
        ("scratch[i] =", "scratch(i) =", "'(' instead of '['"),
    ],
)
def test_fault(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ProgramError) as caught:
        parse_module(GOOD.replace(old, new, 1))
    assert message in str(caught.value)
    assert caught.value.faults[0].code == "E222"


def test_truncated_text_is_a_fault_wherever_it_ends() -> None:
    for length in range(0, len(GOOD.rstrip()), 7):
        with pytest.raises(ProgramError):
            parse_module(GOOD[:length])


def test_text_after_the_module() -> None:
    with pytest.raises(ProgramError, match="instead of the end of the module"):
        parse_module(GOOD + "entry")


def test_a_brief_text_has_the_checksum_of_long_data() -> None:
    data = bytes(range(65))
    old, new = ": 4 align 16 [weights] = 0x00010203", ": 65 align 16 [weights] = "
    module = parse_module(GOOD.replace(old, f"{new}0x{data.hex()}"))
    assert module.brief() == GOOD.replace(old, f"{new}crc32 0x{crc32(data):08x}")
    short = parse_module(GOOD)
    assert short.brief() == str(short) == GOOD


def test_white_space_is_free() -> None:
    assert parse_module(" ".join(GOOD.split())) == parse_module(GOOD)


def test_a_buffer_may_have_the_name_of_a_branch() -> None:
    body = "if (0 < 1) {\n      let a = 1\n    }\n    else[i] ="
    text = GOOD.replace("scratch[i] =", body, 1).replace("scratch", "else")
    assert str(parse_module(text)).count("else[i] =") == text.count("else[i] =")
