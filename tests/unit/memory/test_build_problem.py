# SPDX-License-Identifier: Apache-2.0
"""The problem holds what steps touch, as large, aligned and placed as the program says."""

from dataclasses import replace

from atoll.ir.tir import (
    Allocate,
    Constant,
    Entry,
    IRModule,
    KernelCall,
    SafeOverlap,
    Step,
    Type,
)
from atoll.memory.build_problem import build_problem
from atoll.memory.problem import Buffer, Overlap, PoolSpace
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
        Buffer(name="a", size=12, alignment=8, live=((0, 2),), pools=both, uses=2),
        Buffer(name="y", size=1, alignment=8, live=((1, 3),), pools=both),
        Buffer(name="w", size=7, alignment=64, live=((0, 3),), pools=("flash",)),
    )


def chain(*steps: Step, outputs: tuple[str, ...] = ("c",)) -> IRModule:
    allocations = tuple(allocate(name, Type.I8, 8) for name in "xabc")
    entry = Entry(
        inputs=("x",), outputs=outputs, allocations=allocations, constants=(), steps=steps
    )
    return IRModule("m", (), entry)


def over(written: Step, distance: int) -> Step:
    overlap = SafeOverlap(written.writes[0], written.reads[0], distance)
    return replace(written, overlaps=(overlap,))


def test_m2_overlaps_where_a_life_ends_as_another_begins() -> None:
    module = chain(
        over(step(0, ("x",), ("a",)), 3), over(step(1, ("a",), ("b",)), 0), step(2, ("b",), ("c",))
    )
    assert build_problem(module, soc()).overlaps == (
        Overlap(later="a", earlier="x", distance=3),
        Overlap(later="b", earlier="a", distance=0),
    )


def test_m2_no_overlap_of_what_is_read_again_or_written_before() -> None:
    read_again = chain(
        over(step(0, ("x",), ("a",)), 3), step(1, ("x", "a"), ("b",)), step(2, ("b",), ("c",))
    )
    assert build_problem(read_again, soc()).overlaps == ()
    an_output = chain(
        step(0, ("x",), ("a",)),
        over(step(1, ("a",), ("b",)), 0),
        step(2, ("b",), ("c",)),
        outputs=("a", "c"),
    )
    assert build_problem(an_output, soc()).overlaps == ()
    the_last_reader = chain(
        step(0, ("x",), ("a",)),
        step(1, ("a",), ("b",)),
        over(step(2, ("b",), ("c",)), 0),
        outputs=("b", "c"),
    )
    assert build_problem(the_last_reader, soc()).overlaps == ()
    written_twice = chain(
        step(0, ("x",), ("a", "b")), over(step(1, ("a",), ("b",)), 0), step(2, ("b",), ("c",))
    )
    assert build_problem(written_twice, soc()).overlaps == ()
