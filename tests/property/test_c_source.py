# SPDX-License-Identifier: Apache-2.0
"""C of random loop programs does what they mean, and no compiler warns of it."""

import ctypes
import shutil
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.c_program import RUNTIME, CProgram
from tests.effort import cases
from tests.property.test_loop_programs import ELEMENTS, NUMBERS, WIDTHS, meaning, modules
from tests.unit.bsp.test_workspace import Workspace
from tests.unit.ir.test_runtime_allocations import CHOSEN, COUNTS, interpreted, module, sums

from atoll.bsp.drivers import protocol_headers
from atoll.ir.arithmetic import evaluate
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, maximum, multiply
from atoll.ir.tir import Cast, Conversion, Direction, Entry, IRModule, Operation, PrimFunc, Type
from atoll.ir.verify import verify

CAPACITY = 512
WIDENING = (Conversion.SEXT, Conversion.ZEXT)
UNDEFINED = ("-fsanitize=undefined",)
ODD = ("-Wno-all", "-Wno-extra")
"""Random programs compare a value with itself; conversions are as strict as in networks."""

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")


def of_every_operation(type: Type, pairs: int) -> PrimFunc:
    """Apply each operation to pairs of values that come as 64 bits."""
    builder = FunctionBuilder("kernel")
    x = builder.buffer("x", Type.I64, 2 * pairs, Direction.READ)
    y = builder.buffer("y", Type.I64, pairs * len(Operation), Direction.WRITE)
    with builder.loop("i", 0, pairs) as i:
        for number, operation in enumerate(Operation):
            left, right = (cast(x[add(multiply(i, 2), at)], type) for at in (0, 1))
            if operation in (Operation.DIV, Operation.REM):
                right = maximum(right, 1)
            result = binary(operation, left, right)
            y[add(multiply(i, len(Operation)), number)] = cast(result, Type.I64)
    return builder.kernel()


@pytest.mark.parametrize("type", WIDTHS)
def test_no_operation_is_undefined_for_any_value(
    type: Type, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    half = 1 << (type.bits - 1)
    values = [-half, 1 - half, -2, -1, 0, 1, 2, 7, type.bits, half // 2, half - 2, half - 1]
    x = np.array([*product(values, repeat=2)], np.int64)
    program = IRModule("m", (of_every_operation(type, len(x)),), Entry((), (), (), (), ()))
    verify(program)
    y = np.zeros((len(x), len(Operation)), np.int64)
    CProgram(program, tmp_path, *UNDEFINED).call("kernel", [x.ctypes.data, y.ctypes.data])
    assert capfd.readouterr().err == ""
    for (left, right), results in zip(x.tolist(), y.tolist(), strict=True):
        for operation, result in zip(Operation, results, strict=True):
            divides = operation in (Operation.DIV, Operation.REM)
            given = max(right, 1) if divides else right
            assert result == evaluate(operation, left, given, type), (left, operation, right)


def of_every_conversion(type: Type, values: int) -> PrimFunc:
    """Widen values of a type, with their sign and without, to each wider one."""
    wider = [each for each in WIDTHS if each.bits > type.bits]
    results = [(conversion, each) for conversion in WIDENING for each in wider]
    builder = FunctionBuilder("kernel")
    x = builder.buffer("x", Type.I64, values, Direction.READ)
    y = builder.buffer("y", Type.I64, values * len(results), Direction.WRITE)
    with builder.loop("i", 0, values) as i:
        value = builder.let("value", cast(x[i], type))
        for number, (conversion, each) in enumerate(results):
            converted = Cast(conversion, value, each)
            y[add(multiply(i, len(results)), number)] = cast(converted, Type.I64)
    return builder.kernel()


@pytest.mark.parametrize("type", [each for each in WIDTHS if each is not Type.I64])
def test_conversions_keep_the_sign_or_drop_it(type: Type, tmp_path: Path) -> None:
    half = 1 << (type.bits - 1)
    x = np.array([-half, -half // 2, -1, 0, 1, half - 1], np.int64)
    program = IRModule("m", (of_every_conversion(type, len(x)),), Entry((), (), (), (), ()))
    verify(program)
    wider = [each for each in WIDTHS if each.bits > type.bits]
    y = np.zeros((len(x), len(WIDENING) * len(wider)), np.int64)
    CProgram(program, tmp_path, *UNDEFINED).call("kernel", [x.ctypes.data, y.ctypes.data])
    for value, results in zip(x.tolist(), y.tolist(), strict=True):
        dropped = value + 2 * half if value < 0 else value
        assert results == [value] * len(wider) + [dropped] * len(wider)


@settings(
    max_examples=cases(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(program=modules(), x=st.lists(NUMBERS, min_size=ELEMENTS, max_size=ELEMENTS))
def test_c_does_what_the_program_means(
    program: IRModule, x: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    y = list(range(-4, 4))
    source, target = np.array(x, np.int64), np.array(y, np.int32)
    with TemporaryDirectory() as folder:
        native = CProgram(program, Path(folder), *UNDEFINED, *ODD)
        native.call("kernel", [source.ctypes.data, target.ctypes.data])
    assert target.tolist() == meaning(program, x, y)
    assert capfd.readouterr().err == ""


@settings(max_examples=cases(20), deadline=None)
@given(COUNTS, st.sampled_from([Type.I8, Type.I32, Type.I64]))
def test_blocks_are_taken_and_given_back(count: int, type: Type) -> None:
    program = CHOSEN.run(module(sums(type)))
    x, y = np.array([count], dtype=np.int64), np.zeros(1, dtype=np.int32)
    memory = np.zeros(CAPACITY + 16, dtype=np.uint8)
    with TemporaryDirectory() as folder:
        heap = Path(folder) / "heap.c"
        heap.write_text(
            '#include "atoll_workspace.h"\nextern struct atoll_workspace atoll_heap_shared;\n'
            "struct atoll_workspace atoll_heap_shared;\n"
        )
        for name, text in protocol_headers().items():
            (Path(folder) / name).write_text(text)
        sources = (heap, RUNTIME / "workspace.c")
        native = CProgram(program, Path(folder), f"-I{RUNTIME}", f"-I{folder}", sources=sources)
        workspace = Workspace.in_dll(native.library, "atoll_heap_shared")
        base = ctypes.c_void_p(memory.ctypes.data + -memory.ctypes.data % 16)
        native.library.atoll_workspace_init(ctypes.byref(workspace), base, CAPACITY)
        status = native.call("sums", [x.ctypes.data, y.ctypes.data])
        assert workspace.blocks == 0
    assert (status, int(y[0])) == interpreted(program, count)
