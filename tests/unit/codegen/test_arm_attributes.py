# SPDX-License-Identifier: Apache-2.0
"""An attribute of an Arm object is found behind others of every form that the Addenda have."""

import pytest

from atoll.codegen.arm_attributes import VFP_ARGS, _value_of

CPU_NAME, CPU_ARCH, COMPATIBILITY, LATER_TEXT, LATER_NUMBER = 5, 6, 32, 67, 70
ARGS = bytes((VFP_ARGS, 1))


@pytest.mark.parametrize(
    "before",
    [
        b"",
        bytes((CPU_ARCH, 13)),
        bytes((CPU_NAME, *b"cortex\0")),
        bytes((CPU_NAME, 0)),
        bytes((COMPATIBILITY, 1, *b"gnu\0")),
        bytes((LATER_TEXT, *b"2.09\0")),
        bytes((LATER_TEXT, 0)),
        bytes((LATER_NUMBER, 0x81, 0x01)),
    ],
)
def test_an_attribute_is_found_behind_others(before: bytes) -> None:
    assert _value_of(VFP_ARGS, before + ARGS + bytes((CPU_NAME, 0)), 0) == len(before) + 1
    assert _value_of(VFP_ARGS, before, 0) is None
