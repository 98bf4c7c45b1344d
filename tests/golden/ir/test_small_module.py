"""The printed form of a small module."""

from collections.abc import Callable
from pathlib import Path

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, clamp, maximum, select, subtract
from atoll.ir.read_module import parse_module
from atoll.ir.tir import (
    AcceleratorRun,
    Allocate,
    Call,
    Constant,
    Direction,
    Entry,
    IRModule,
    KernelCall,
    Operation,
    PrimFunc,
    Step,
    Type,
)
from atoll.ir.verify import verify

TEXT = Path(__file__).parent / "small_module.txt"


def halved() -> PrimFunc:
    builder = FunctionBuilder("halved")
    x = builder.scalar("x")
    wide = builder.let("wide", add(cast(x, Type.I64), 1))
    return builder.function(cast(binary(Operation.SHR, wide, 1), Type.I32))


def smooth() -> PrimFunc:
    builder = FunctionBuilder("smooth")
    x = builder.buffer("x", Type.I8, 6, Direction.READ)
    y = builder.buffer("y", Type.I8, 6, Direction.WRITE)
    scratch = builder.allocate("scratch", Type.I32, 6, scope="global.stack")
    with builder.loop("i", 0, 6) as i:
        scratch[i] = x.wide(i)
    with builder.loop("i", 0, 6) as i:
        before = builder.let("before", maximum(subtract(i, 1), 0))
        total = builder.allocate("total", Type.I32, 1)
        total[0] = add(scratch[before], scratch[i])
        with builder.when(binary(Operation.LT, total[0], 0)):
            total[0] = 0
        half = Call("halved", (total[0],), Type.I32)
        y[i] = clamp(select(binary(Operation.EQ, i, 0), total[0], half), -128, 127)
    return builder.kernel()


def activation(name: str) -> Allocate:
    return Allocate(
        buffer=name,
        type=Type.I8,
        elements=6,
        align=16,
        scope="global.workspace",
        pools=("shared", "private"),
    )


def small_module() -> IRModule:
    entry = Entry(
        inputs=("image",),
        outputs=("result",),
        allocations=(activation("image"), activation("middle"), activation("result")),
        constants=(
            Constant(name="table", size=4, align=16, pools=("weights",), data=bytes(range(4))),
            Constant(name="conv_commands", size=64, align=64, pools=("weights",)),
        ),
        steps=(
            Step(
                operator="smooth",
                number=0,
                device="cpu",
                reads=("image",),
                writes=("middle",),
                action=KernelCall("smooth", ("image", "middle")),
            ),
            Step(
                operator="conv",
                number=1,
                device="npu",
                reads=("middle", "table", "conv_commands"),
                writes=("result",),
                action=AcceleratorRun("npu", "conv_commands", 1),
            ),
        ),
    )
    return IRModule("small", (halved(), smooth()), entry)


def test_small_module(golden: Callable[[Path, str], None]) -> None:
    module = small_module()
    verify(module)
    golden(TEXT, str(module))
    assert parse_module(TEXT.read_text()) == module
