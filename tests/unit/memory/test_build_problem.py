"""The problem holds what steps touch, as large, aligned and placed as the program says."""

from atoll.ir.tir import Allocate, Constant, Entry, IRModule, KernelCall, Step, Type
from atoll.memory.build_problem import build_problem
from atoll.memory.problem import Buffer, PoolSpace
from atoll.resolve.soc import Access, Pool, Region, RegionKind, Registers, ResolvedSoc


def soc() -> ResolvedSoc:
    region = Region(name="sram", kind=RegionKind.POOL, memory="ram", origin=0x2000_0000, size=4096)
    pool = Pool(
        name="sram",
        region=region,
        role="both",
        alignment=16,
        preference=0,
        reach={"cpu": Access.WRITE},
    )
    return ResolvedSoc(
        name="chip",
        devices=(),
        memories=(),
        pools=(pool,),
        host="cpu",
        default_device="cpu",
        console=Registers(origin=0, size=4096),
        layers={},
    )


def allocate(name: str, type: Type, elements: int) -> Allocate:
    return Allocate(
        buffer=name,
        type=type,
        elements=elements,
        align=8,
        scope="global.workspace",
        pools=("sram", "tcm"),
    )


def step(number: int, reads: tuple[str, ...], writes: tuple[str, ...]) -> Step:
    return Step(
        operator=f"op_{number}",
        number=number,
        device="cpu",
        reads=reads,
        writes=writes,
        action=KernelCall("k", (*reads, *writes)),
    )


def test_buffers_and_pools() -> None:
    entry = Entry(
        inputs=("x",),
        outputs=("y",),
        allocations=(
            allocate("x", Type.I8, 5),
            allocate("a", Type.I32, 3),
            allocate("y", Type.I8, 1),
            allocate("untouched", Type.I8, 9),
        ),
        constants=(Constant(name="w", size=7, align=64, pools=("flash",), data=bytes(7)),),
        steps=(step(0, ("x", "w"), ("a",)), step(1, ("a",), ("y",))),
    )
    problem = build_problem(IRModule("m", (), entry), soc())
    assert problem.pools == (PoolSpace(name="sram", origin=0x2000_0000, size=4096, alignment=16),)
    both = ("sram", "tcm")
    assert problem.buffers == (
        Buffer(name="x", size=5, alignment=8, live=((0, 1),), pools=both),
        Buffer(name="a", size=12, alignment=8, live=((0, 2),), pools=both),
        Buffer(name="y", size=1, alignment=8, live=((1, 2),), pools=both),
        Buffer(name="w", size=7, alignment=64, live=((0, 2),), pools=("flash",)),
    )
