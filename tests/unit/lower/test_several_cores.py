# SPDX-License-Identifier: Apache-2.0
"""K1, K4 and P6 on more than one core: whose limits decide, and what runs beside the host."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.passes import specialized

from atoll.contract.contract import contract_of
from atoll.diagnostics.errors import PlanError
from atoll.ir.builder import FunctionBuilder
from atoll.ir.faults import ProgramError
from atoll.ir.graph import Graph
from atoll.ir.read_module import parse_module
from atoll.ir.tir import Direction, IRModule, KernelCall, PrimFunc, SafeOverlap, Type
from atoll.ir.verify import verify
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.separate_kernels import SeparateKernels
from atoll.memory.build_problem import build_problem
from atoll.memory.solve import plan_memory
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.stack_bound import doubts, stack_bounds

Duo = Callable[..., ResolvedSoc]
SIZE = 128
CYCLES = {f"s{number}": 1000 for number in range(4)}


def kernel(name: str, *, scratch: bool) -> PrimFunc:
    builder = FunctionBuilder(name)
    x = builder.buffer("x", Type.I8, SIZE, Direction.READ)
    y = builder.buffer("y", Type.I8, SIZE, Direction.WRITE)
    buffer = builder.allocate("t", Type.I8, SIZE, scope="global") if scratch else y
    with builder.loop("i", 0, SIZE) as i:
        buffer[i] = x[i]
    if scratch:
        with builder.loop("j", 0, SIZE) as j:
            y[j] = buffer[j]
    return builder.kernel()


def module(*steps: str) -> IRModule:
    """Return a chain; each step is ``DEVICE KERNEL READ>WRITTEN``, such as ``cpu deep x>a``."""
    lines = ["module m", str(kernel("deep", scratch=True)), str(kernel("flat", scratch=False))]
    lines.append("entry [x] -> [y] {")
    allocated = f"allocate {{}}: i8[{SIZE}] align 16 in global.workspace [shared]"
    lines += map(allocated.format, ("x", "a", "b", "c", "y"))
    for number, step in enumerate(steps):
        device, called, flow = step.split()
        read, written = flow.split(">")
        lines.append(
            f"step {number} s{number} on {device}: call @{called}({read}, {written}) "
            f"reads [{read}] writes [{written}]"
        )
    program = parse_module("\n".join((*lines, "}")))
    verify(program)
    return program


SHARED = ("cpu deep x>a", "dsp deep a>b", "dsp flat b>c", "cpu flat c>y")


def called(program: IRModule) -> list[str]:
    calls = [step.action for step in program.entry.steps if isinstance(step.action, KernelCall)]
    return [call.function for call in calls]


def test_only_kernels_with_buffers_to_place_are_copied() -> None:
    separate = SeparateKernels().run(module(*SHARED))
    verify(separate)
    assert called(separate) == ["deep", "deep_on_dsp", "flat", "flat"]
    assert [function.name for function in separate.functions] == ["deep", "deep_on_dsp", "flat"]
    deep, copy = (separate.by_name[name] for name in ("deep", "deep_on_dsp"))
    assert replace(copy, name="deep") == deep


def test_a_program_of_one_core_stays_as_it_is() -> None:
    program = module("cpu deep x>a", "cpu deep a>y")
    assert SeparateKernels().run(program) == program


def test_separating_again_changes_nothing() -> None:
    once = SeparateKernels().run(module(*SHARED))
    assert SeparateKernels().run(once) == once


@pytest.mark.parametrize(
    ("host", "other", "moved"),
    [
        (SIZE, SIZE - 1, ["s1_t"]),
        (SIZE - 1, SIZE, ["s0_t"]),
        (SIZE, SIZE, []),
        (0, 0, ["s0_t", "s1_t"]),
    ],
)
def test_k1_k4_each_core_obeys_its_own_limit(
    duo: Duo, host: int, other: int, moved: list[str]
) -> None:
    """The same kernel keeps its buffer on one core's stack and has workspace on the other."""
    limits = (f"devices.{name}.limits.max_stack_alloca_size" for name in ("cpu", "dsp"))
    soc = duo(*(f"{key}={value}" for key, value in zip(limits, (host, other), strict=True)))
    program = specialized(module(*SHARED), soc)
    plan = plan_memory(build_problem(program, soc))
    assert sorted(name for name in plan.placements if name.endswith("_t")) == moved
    bounds = {bound.device: bound for bound in stack_bounds(program, soc)}
    saved = {"cpu": "s0_t" in moved, "dsp": "s1_t" in moved}
    for name, bound in bounds.items():
        assert bound.largest == ("" if saved[name] else f"t ({SIZE} B)")


def test_c3_workspace_of_a_kernel_is_where_its_own_core_reaches(duo: Duo) -> None:
    soc = duo("devices.cpu.limits.max_stack_alloca_size=0", "pools.dsp_own.preference=-1")
    program = specialized(module(*SHARED), soc)
    pools = {each.buffer: each.pools for each in program.entry.allocations}
    assert pools["s0_t"] == ("shared",)
    assert pools["s1_t"] == ("dsp_own", "shared")


def test_k2_a_stack_that_may_be_too_small_names_its_core(duo: Duo) -> None:
    soc = duo("devices.dsp.limits.max_stack_size=700")
    (said,) = doubts(stack_bounds(specialized(module(*SHARED), soc), soc))
    assert "'dsp.stack', in 's1'" in said
    assert "its limit of 700 B, set by --set, is held against the linked image" in said


def order(program: IRModule) -> list[str]:
    return [f"{s.number} {str(s.action).split()[0]}" for s in program.entry.steps]


def test_p6_a_core_runs_beside_the_host() -> None:
    program = OverlapRuns(devices=frozenset({"dsp"}), cycles=CYCLES).run(
        module("dsp flat x>a", "cpu flat x>b", "cpu flat b>c", "dsp flat a>y")
    )
    verify(program)
    assert parse_module(str(program)) == program
    assert order(program) == ["0 begin", "1 call", "0 wait", "3 begin", "2 call", "3 wait"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("step 1 s1 on cpu", "step 1 s1 on dsp", "busy with 's0'"),
        (
            "call @flat(x, b) reads [x] writes [b]",
            "call @flat(x, a) reads [x] writes [a]",
            "disturbs",
        ),
        ("wait dsp reads [x]", "wait dsp reads [b]", "does not repeat"),
        ("begin @flat(x, a)", "begin @flat(x)", "passes 1 of 2 buffers"),
        ("begin @flat(x, a)", "begin @none(x, a)", "which is no kernel"),
        ("begin @flat(x, a) reads [x]", "begin @flat(x, a) reads [b]", "does not read and write"),
    ],
)
def test_p6_the_verifier_refuses_what_disturbs_a_core(old: str, new: str, message: str) -> None:
    text = str(
        OverlapRuns(devices=frozenset({"dsp"}), cycles=CYCLES).run(
            module("dsp flat x>a", "cpu flat x>b", "cpu flat b>c", "dsp flat a>y")
        )
    )
    assert old in text
    with pytest.raises(ProgramError, match=message):
        verify(parse_module(text.replace(old, new, 1)))


def with_overlaps(program: IRModule) -> IRModule:
    """Return the chain whose results may all lie over their operands, as in `flat`."""
    steps = tuple(
        replace(step, overlaps=(SafeOverlap(step.writes[0], step.reads[0], 0),))
        for step in program.entry.steps
    )
    return replace(program, entry=replace(program.entry, steps=steps))


def test_m2_what_is_split_loses_its_overlaps_and_nothing_else_does() -> None:
    """Both buffers of a core that runs beside the host are in use until the host has waited."""
    chain = with_overlaps(module("cpu flat x>a", "dsp flat a>b", "cpu flat x>c", "cpu flat b>y"))
    program = OverlapRuns(devices=frozenset({"dsp"}), cycles=CYCLES).run(chain)
    verify(program)
    kept = [bool(step.overlaps) for step in program.entry.steps]
    assert order(program) == ["0 call", "1 begin", "2 call", "1 wait", "3 call"]
    assert kept == [True, False, True, False, True]
    with pytest.raises(ProgramError, match="although other steps run meanwhile"):
        verify(with_overlaps(program))


def test_m2_a_result_of_another_core_lies_over_its_operand(duo: Duo) -> None:
    alone = module("cpu flat x>a", "dsp flat a>b", "cpu flat b>y")
    tight = duo(f"pools.shared.size={SIZE}")
    with pytest.raises(PlanError, match="too small"):
        plan_memory(build_problem(alone, tight))
    program = specialized(with_overlaps(alone), tight)
    plan = plan_memory(build_problem(program, tight))
    assert {plan.placements[name].offset for name in ("x", "a", "b", "y")} == {0}
    nothing = Graph(name="m", tensors=(), operators=(), inputs=(), outputs=())
    contract = contract_of(program, plan, nothing, tight)
    assert [phase.overlaps for phase in contract.phases.values()] == [
        (("a", "x"),),
        (("b", "a"),),
        (("y", "b"),),
    ]
    roomy = plan_memory(build_problem(alone, duo()))
    assert not any(
        phase.overlaps for phase in contract_of(alone, roomy, nothing, duo()).phases.values()
    )
