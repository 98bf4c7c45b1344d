# SPDX-License-Identifier: Apache-2.0
"""The bound adds up frames along the deepest calls and is held against the core's limit."""

import pytest
from tests.picorv32 import PICORV32

from atoll.diagnostics.errors import PlanError
from atoll.ir.tir import (
    AcceleratorRun,
    Allocate,
    Binary,
    Call,
    Const,
    Entry,
    For,
    If,
    IRModule,
    KernelCall,
    Let,
    Operation,
    PrimFunc,
    Return,
    Step,
    Stmt,
    Type,
)
from atoll.isa.find import instruction_set
from atoll.resolve.soc import Cpu, Region, RegionKind, Registers, ResolvedSoc, StackLimit
from atoll.stack.stack_bound import RUNTIME_ALLOWANCE, StackBound, doubts, stack_bounds
from atoll.stack.stack_frames import FRAME_ALLOWANCE

FIXED = RUNTIME_ALLOWANCE + 100


def region(name: str, kind: RegionKind) -> Region:
    return Region(name=name, kind=kind, memory="ram", origin=0, size=4096)


def soc(limit: int) -> ResolvedSoc:
    cpu = Cpu(
        name="cpu",
        kind="cpu",
        device_type=1,
        device_id=0,
        ordinal=0,
        clock=1,
        instructions=instruction_set("rv32imc"),
        spec=PICORV32,
        toolchain="zig",
        code=region("cpu.code", RegionKind.CODE),
        data=region("cpu.data", RegionKind.DATA),
        stack=region("cpu.stack", RegionKind.STACK),
        interrupt_reserve=100,
        max_stack_alloca_size=StackLimit(value=1024, layer="built-in"),
        max_stack_size=StackLimit(value=limit, layer="socs/lagoon.yaml:9:5"),
    )
    return ResolvedSoc(
        name="chip",
        devices=(cpu,),
        memories=(),
        pools=(),
        host="cpu",
        default_device="cpu",
        console=Registers(origin=0, size=4096),
        layers={},
    )


def allocate(elements: int, name: str = "t", pools: tuple[str, ...] = ()) -> Allocate:
    scope = "global.workspace" if pools else "global.stack"
    return Allocate(buffer=name, type=Type.I8, elements=elements, align=4, scope=scope, pools=pools)


def function(name: str, *body: Stmt) -> PrimFunc:
    return PrimFunc(name=name, parameters=(), body=body)


def scalar(name: str, *body: Stmt) -> PrimFunc:
    return PrimFunc(name=name, parameters=(), body=(*body, Return(Const(0))), result=Type.I32)


def call(name: str) -> Call:
    return Call(name, (), Type.I32)


def bound(*functions: PrimFunc, limit: int = 1 << 20, device: str = "cpu") -> StackBound:
    """Bound a module that runs every kernel once."""
    steps = tuple(
        Step(
            operator=f"op_{each.name}",
            number=number,
            device=device,
            reads=(),
            writes=(),
            action=KernelCall(each.name, ()),
        )
        for number, each in enumerate(functions)
        if each.result is None
    )
    entry = Entry(inputs=(), outputs=(), allocations=(), constants=(), steps=steps)
    (result,) = stack_bounds(IRModule("m", functions, entry), soc(limit))
    return result


def test_a_kernel_counts_its_allocations_in_whole_stack_units() -> None:
    result = bound(function("k", allocate(1000), allocate(17, "u")))
    assert result.bound == FIXED + FRAME_ALLOWANCE + 1008 + 32
    assert (result.operator, result.calls) == ("op_k", ("k",))


def test_k2_the_deepest_operator_counts_not_the_sum() -> None:
    result = bound(function("k", allocate(160)), function("l", allocate(320)))
    assert result.bound == FIXED + FRAME_ALLOWANCE + 320
    assert result.operator == "op_l"


def test_k3_an_allocation_live_across_a_call_counts_in_the_caller() -> None:
    inner, outer = scalar("inner", allocate(32, "t")), scalar("outer", Let("v", call("inner")))
    deep = Binary(Operation.ADD, Const(1), call("outer"))
    loop = For("i", Const(0), Const(4), (If(Const(1, Type.I1), (Let("v", deep),)),))
    result = bound(inner, outer, function("k", allocate(64), loop))
    assert result.bound == FIXED + FRAME_ALLOWANCE + 64 + 32
    assert result.calls == ("k", "outer", "inner")


def test_allocations_in_loops_and_branches_count_once_each() -> None:
    branch = If(Const(1, Type.I1), (allocate(16, "a"),), (allocate(32, "b"),))
    result = bound(function("k", For("i", Const(0), Const(9), (allocate(64, "c"), branch))))
    assert result.bound == FIXED + FRAME_ALLOWANCE + 112


def test_buffers_in_pools_take_no_stack() -> None:
    assert bound(function("k", allocate(4096, pools=("sram",)))).bound == FIXED + FRAME_ALLOWANCE


def test_a_core_that_runs_nothing_keeps_its_reserves() -> None:
    assert bound(function("k", allocate(4096)), device="dsp").bound == FIXED
    assert bound() == StackBound(
        device="cpu",
        bound=FIXED,
        limit=StackLimit(value=1 << 20, layer="socs/lagoon.yaml:9:5"),
        operator="",
        calls=(),
        largest="",
        region=soc(4096).host_cpu.stack,
    )


def test_accelerators_take_no_stack() -> None:
    run = Step(
        operator="o",
        number=0,
        device="npu",
        reads=(),
        writes=(),
        action=AcceleratorRun("npu", "c", 1),
    )
    entry = Entry(inputs=(), outputs=(), allocations=(), constants=(), steps=(run,))
    (result,) = stack_bounds(IRModule("m", (), entry), soc(4096))
    assert result.bound == FIXED


def test_k2_a_bound_beyond_the_limit_is_said_and_one_at_the_limit_is_not() -> None:
    """The linked image decides: the compiler may well take less than the allowances."""
    kernel = function("k", allocate(64))
    need = FIXED + FRAME_ALLOWANCE + 64
    assert not [*doubts((bound(kernel, limit=need),))]
    assert [*doubts((bound(kernel, limit=need - 1),))] == [
        f"before linking it is only known that a run takes at most {need} B of 'cpu.stack', in "
        f"'op_k' (k), largest buffer t (64 B); its limit of {need - 1} B, set by "
        "socs/lagoon.yaml:9:5, is held against the linked image"
    ]


def test_k2_recursion_is_refused() -> None:
    with pytest.raises(PlanError, match="recursive"):
        bound(scalar("f", Let("v", call("f"))))
    with pytest.raises(PlanError, match="'f' calls 'g', which is not before it") as caught:
        bound(scalar("f", Let("v", call("g"))), scalar("g", Let("v", call("f"))))
    assert caught.value.faults[0].code == "E076"
