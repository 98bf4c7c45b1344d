# SPDX-License-Identifier: Apache-2.0
"""M6: equal constants are kept once, aligned, with zeros between; two builds are one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from atoll.codegen.pool_images import pool_images
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add
from atoll.ir.tir import (
    AcceleratorRun,
    Allocate,
    Constant,
    Direction,
    Entry,
    IRModule,
    KernelCall,
    PrimFunc,
    Step,
    Type,
)
from atoll.ir.verify import verify
from atoll.lower.share_constants import ShareConstants
from atoll.memory.build_plan import build_plan
from atoll.memory.build_problem import build_problem
from atoll.memory.conflicts import conflict_graph
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory
from atoll.resolve import load_soc

FOUR, EIGHT = bytes([1, 2, 3, 4]), bytes(range(11, 19))


def constant(name: str, data: bytes | None, *pools: str, align: int = 16) -> Constant:
    size = 64 if data is None else len(data)
    return Constant(name=name, size=size, align=align, pools=pools or ("weights",), data=data)


def kernel(elements: int) -> PrimFunc:
    """Sum two constants into y."""
    builder = FunctionBuilder(f"sum{elements}")
    a = builder.buffer("a", Type.I8, elements, Direction.READ)
    b = builder.buffer("b", Type.I8, elements, Direction.READ)
    y = builder.buffer("y", Type.I8, elements, Direction.WRITE)
    with builder.loop("i", 0, elements) as i:
        y[i] = add(a[i], b[i])
    return builder.kernel()


def step(number: int, first: Constant, second: Constant) -> Step:
    assert first.size == second.size
    return Step(
        operator=f"op{number}",
        number=number,
        device="cpu",
        reads=tuple(dict.fromkeys((first.name, second.name))),
        writes=(f"y{number}",),
        action=KernelCall(f"sum{first.size}", (first.name, second.name, f"y{number}")),
    )


def module(*pairs: tuple[Constant, Constant]) -> IRModule:
    """Sum each pair of constants."""
    constants = {item.name: item for pair in pairs for item in pair}
    sizes = sorted({pair[0].size for pair in pairs})
    outputs = tuple(
        Allocate(
            buffer=f"y{number}",
            type=Type.I8,
            elements=first.size,
            align=16,
            scope="global.workspace",
            pools=("shared",),
        )
        for number, (first, _) in enumerate(pairs)
    )
    entry = Entry(
        inputs=(),
        outputs=tuple(output.buffer for output in outputs),
        allocations=outputs,
        constants=tuple(constants.values()),
        steps=tuple(step(number, *pair) for number, pair in enumerate(pairs)),
    )
    made = IRModule("m", tuple(map(kernel, sizes)), entry)
    verify(made)
    return made


def names(constants: Sequence[Constant]) -> list[str]:
    return [item.name for item in constants]


def test_m6_equal_constants_share_one_copy() -> None:
    a, b, c = constant("a", FOUR), constant("b", FOUR, align=64), constant("c", FOUR)
    shared = ShareConstants().run(module((a, b), (c, a)))
    verify(shared.module)
    assert shared.module.entry.constants == (replace(a, align=64),), "the strictest alignment"
    assert dict(shared.copies) == {"b": "a", "c": "a"}
    assert [each.reads for each in shared.module.entry.steps] == [("a",), ("a",)]
    action = shared.module.entry.steps[0].action
    assert action == KernelCall("sum4", ("a", "a", "y0"))
    assert shared.name("b") == "a"
    assert shared.name("y0") == "y0"


def test_m6_a_copy_stays_where_no_pool_is_common() -> None:
    """What has a pool in common is merged there, also with a copy that came later."""
    a = constant("a", FOUR, "weights", "fast")
    b = constant("b", FOUR, "slow")
    c, d = constant("c", FOUR, "fast", "weights"), constant("d", FOUR, "fast")
    shared = ShareConstants().run(module((a, b), (c, d)))
    assert shared.module.entry.constants == (replace(a, pools=("fast",)), b)
    assert dict(shared.copies) == {"c": "a", "d": "a"}


def test_m6_equal_starts_are_not_equal_constants() -> None:
    a, b = constant("a", FOUR + bytes(4)), constant("b", EIGHT)
    c = constant("c", FOUR)
    before = module((a, b), (c, c))
    shared = ShareConstants().run(before)
    assert shared.module == before
    assert not shared.copies


def test_m6_commands_stay_apart() -> None:
    """Their bytes come after planning; nobody knows yet whether they are equal."""
    lists = (constant("first", None, align=64), constant("second", None, align=64))
    before = module((constant("a", FOUR), constant("b", FOUR)))
    runs = tuple(
        Step(
            operator=each.name,
            number=number,
            device="npu",
            reads=(each.name,),
            writes=("y0",),
            action=AcceleratorRun("npu", each.name, 1),
        )
        for number, each in enumerate(lists, start=1)
    )
    entry = replace(
        before.entry,
        constants=(*before.entry.constants, *lists),
        steps=(*before.entry.steps, *runs),
    )
    shared = ShareConstants().run(replace(before, entry=entry))
    assert names(shared.module.entry.constants) == ["a", "first", "second"]


def test_m6_sharing_twice_is_sharing_once() -> None:
    once = ShareConstants().run(module((constant("a", FOUR), constant("b", FOUR)))).module
    assert ShareConstants().run(once).module == once


def in_order(program: IRModule) -> MemoryPlan:
    """Place the constants in the order in which they are declared."""
    problem = build_problem(program, load_soc("lagoon"))
    constants = program.entry.constants
    end = 0
    places = {
        output.buffer: ("shared", 64 * number)
        for number, output in enumerate(program.entry.allocations)
    }
    for item in constants:
        offset = -(-end // item.align) * item.align
        places[item.name] = "weights", offset
        end = offset + item.size
    numbered = {number: places[buffer.name] for number, buffer in enumerate(problem.buffers)}
    return build_plan(conflict_graph(problem), numbered, "in order")


def test_m6_four_and_eight_bytes_at_sixteen_occupy_24() -> None:
    four, eight = constant("four", FOUR), constant("eight", EIGHT)
    program = module((four, four), (eight, eight))
    image = pool_images(program, in_order(program), {})["weights"]
    assert len(image) == 24
    assert image == FOUR + bytes(12) + EIGHT, "padding is zero"
    planned = plan_memory(build_problem(program, load_soc("lagoon")))
    assert planned.use["weights"].used == 20, "the planner puts the larger one first"
    assert pool_images(program, planned, {})["weights"] == EIGHT + bytes(8) + FOUR


@pytest.mark.parametrize("alignment", [16, 64, 256])
def test_m6_two_plans_give_the_same_image(alignment: int) -> None:
    pairs = [
        (constant(f"a{n}", bytes([n] * n), align=alignment), constant(f"b{n}", bytes([n] * n)))
        for n in range(1, 20)
    ]
    images = []
    for _ in range(2):
        program = ShareConstants().run(module(*pairs)).module
        plan = plan_memory(build_problem(program, load_soc("lagoon")))
        assert len(program.entry.constants) == len(pairs)
        for item in program.entry.constants:
            assert plan.address(item.name) % alignment == 0
        images.append(pool_images(program, plan, {}))
    assert images[0] == images[1]
