# SPDX-License-Identifier: Apache-2.0
"""Kernels that call functions of C: what the verifier refuses, and what is written."""

from ctypes import addressof, c_ubyte
from dataclasses import replace

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.ir.statements import BufferParam, CallExtern, Direction, PrimFunc
from atoll.ir.tir import Type
from atoll.ir.verify_function import function_faults
from atoll.resolve.c_functions import CFunction, CSource, on_host, translation

TWICE = CSource(
    name="twice.c", text="void twice(int8_t *y, int32_t n) { while (n--) y[n] = (int8_t)(n * 2); }"
)
FUNCTION = CFunction(source=TWICE, name="twice", types=("int8_t *", "int32_t"))
CALL = CallExtern(FUNCTION, ("y",), (4,))
Y = BufferParam("y", Type.I8, 4, Direction.WRITE)


def faults(call: CallExtern) -> list[str]:
    return [fault.message for fault in function_faults(PrimFunc("kernel", (Y,), (call,)), {})]


def test_a_call_is_well_formed_and_prints() -> None:
    assert faults(CALL) == []
    assert str(CALL) == f'extern "twice.c" 0x{TWICE.digest} twice(y, 4)'


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (replace(CALL, buffers=("z",)), "hands 'z' to C, which is no buffer here"),
        (replace(CALL, numbers=()), "calls 'twice' of C with another number of arguments"),
    ],
)
def test_calls_that_cannot_be(call: CallExtern, message: str) -> None:
    (found,) = faults(call)
    assert found.endswith(message)


def test_a_file_is_there_once_and_its_functions_have_names_of_their_network() -> None:
    other = replace(FUNCTION, name="thrice", types=("int8_t *",))
    text = translation([FUNCTION, other, FUNCTION], "net")
    assert text.count("while (n--)") == 1
    assert FUNCTION.symbol("net") != FUNCTION.symbol("other")
    assert text.count(f"#define twice {FUNCTION.symbol('net')}\n") == 1
    assert text.index("#define thrice") < text.index("while (n--)") < text.index("#undef twice")


def test_the_host_runs_it() -> None:
    data = bytearray(4)
    view = (c_ubyte * 4).from_buffer(data)
    on_host(FUNCTION, "net")(addressof(view), 4)
    assert list(data) == [0, 2, 4, 6]


def test_what_the_compiler_refuses_names_file_and_line() -> None:
    wrong = replace(FUNCTION, source=replace(TWICE, text="\n\nvoid twice(int8_t *y) { y = ; }"))
    with pytest.raises(ModelError, match=r"twice\.c:3:"):
        on_host(wrong, "net")
