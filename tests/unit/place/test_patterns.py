# SPDX-License-Identifier: Apache-2.0
"""Several operators become one where an accelerator's pattern matches, and nowhere else."""

from pathlib import Path

import numpy as np
import pytest

from atoll.description.build import Build, BuildRequests
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops import reference
from atoll.ops.fused import operand_names
from atoll.ops.registry import kind_of
from atoll.place.patterns import with_patterns
from atoll.place.plan_devices import plan_devices
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

CHIP = """\
soc: chip
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}
  npu: {kind: npu, accelerator: ./mine.yaml, registers: 0x4000_0000, irq: 3}
  twin: {kind: npu, accelerator: ./mine.yaml, registers: 0x4000_1000, irq: 4}
memories:
  flash: {origin: 0x0000_0000, size: 1 MiB, kind: rom}
  sram: {origin: 0x2000_0000, size: 256 KiB, kind: ram, width: 8}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, npu: ro, twin: ro}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw, npu: rw, twin: rw}}
host: cpu
"""
MUL_ADD = "  MUL_ADD: {pattern: {product: MUL, sum: ADD}, cost: 1}\n"
NOTHING = BuildRequests()


@pytest.fixture
def chip(tmp_path: Path) -> ResolvedSoc:
    return chip_with(tmp_path, MUL_ADD)


def chip_with(folder: Path, operators: str) -> ResolvedSoc:
    (folder / "mine.yaml").write_text(f"accelerator: mine\nversion: 1\noperators:\n{operators}")
    (folder / "chip.yaml").write_text(CHIP)
    return load_soc(folder / "chip.yaml")


def network(*lines: str, outputs: str, shape: tuple[int, ...] = (2, 8)) -> Graph:
    """Return a network of ADD and MUL of int8, from lines such as ``c = add(a b)``."""
    operators = []
    for number, line in enumerate(lines):
        made, text = line.split(" = ")
        kind, _, operands = text.rstrip(")").partition("(")
        operators.append(
            Operator(
                name=f"{kind}_{number}",
                kind=kind,
                inputs=tuple(operands.split()),
                outputs=(made,),
                attributes={"activation": "none"},
                index=number,
            )
        )
    made_by = {op.outputs[0] for op in operators}
    names = list(dict.fromkeys(name for op in operators for name in (*op.inputs, *op.outputs)))
    tensors = tuple(
        Tensor(
            name=name,
            shape=shape,
            dtype="int8",
            quantization=Quantization(scales=(0.02 + 0.003 * at,), zero_points=(at - 3,)),
        )
        for at, name in enumerate(names)
    )
    inputs = tuple(name for name in names if name not in made_by)
    return Graph("net", tensors, tuple(operators), inputs, tuple(outputs.split()))


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.operators]


def same_results(before: Graph, after: Graph) -> None:
    generator = np.random.default_rng(1)
    inputs = {name: generator.integers(-128, 128, (2, 8)).astype(np.int8) for name in before.inputs}
    wanted, found = reference.run(before, inputs), reference.run(after, inputs)
    for name in before.outputs:
        np.testing.assert_array_equal(wanted[name], found[name])


def test_a_chain_becomes_one(chip: ResolvedSoc) -> None:
    graph = network("c = mul(a b)", "e = add(c d)", outputs="e")
    after = with_patterns(graph, chip, NOTHING)
    (one,) = after.operators
    assert (one.kind, one.name) == ("mul_add", "mul_0_to_add_1")
    assert one.inputs == ("a", "b", "d")
    assert operand_names(one) == ("product_input1", "product_input2", "sum_input2")
    assert {tensor.name for tensor in after.tensors} == {"a", "b", "d", "e"}
    same_results(graph, after)


def test_a_sum_is_turned_so_that_the_chain_comes_first(chip: ResolvedSoc) -> None:
    graph = network("c = mul(a b)", "e = add(d c)", outputs="e")
    (one,) = with_patterns(graph, chip, NOTHING).operators
    assert one.inputs == ("a", "b", "d")
    assert one.body
    scales = [tensor.quantization.scales[0] for tensor in one.body.tensors if tensor.quantization]
    sums = kind_of(one).quantities(one, graph)
    straight = kind_of(graph.operators[1]).quantities(graph.operators[1], graph)
    assert len(scales) == 5
    assert sums["sum_input1_multiplier"] == straight["input2_multiplier"]
    same_results(graph, with_patterns(graph, chip, NOTHING))


@pytest.mark.parametrize(
    ("lines", "outputs"),
    [
        (["c = mul(a b)", "e = add(c d)"], "c e"),
        (["c = mul(a b)", "e = add(c d)", "f = add(a b)", "g = mul(c f)"], "e g"),
        (["c = mul(a b)", "e = add(c c)"], "e"),
        (["c = add(a b)", "e = mul(c d)"], "e"),
    ],
    ids=["inner output", "inner read elsewhere", "both operands", "other order"],
)
def test_no_match(chip: ResolvedSoc, lines: list[str], outputs: str) -> None:
    graph = network(*lines, outputs=outputs)
    assert with_patterns(graph, chip, NOTHING) is graph


@pytest.mark.parametrize(
    "asked", [{"pin": {"c": "shared"}}, {"place": {"mul_0": "cpu"}}, {"free": ["c"]}]
)
def test_what_somebody_asked_for_stays(chip: ResolvedSoc, asked: dict[str, object]) -> None:
    graph = network("c = mul(a b)", "e = add(c d)", outputs="e")
    requests = BuildRequests(model=Build.model_validate(asked))
    assert with_patterns(graph, chip, requests) is graph


def test_no_operator_is_in_two(chip: ResolvedSoc) -> None:
    graph = network("c = mul(a b)", "d = mul(a c)", "e = add(c d)", outputs="e")
    after = with_patterns(graph, chip, NOTHING)
    assert kinds(after) == ["mul", "mul_add"]
    same_results(graph, after)
    graph = network("c = mul(a b)", "d = mul(a b)", "e = add(c d)", outputs="e")
    after = with_patterns(graph, chip, NOTHING)
    assert kinds(after) == ["mul", "mul_add"]
    same_results(graph, after)


def test_a_dear_pattern_is_left_alone(tmp_path: Path) -> None:
    chip = chip_with(tmp_path, MUL_ADD.replace("cost: 1", "cost: 100000000"))
    graph = network("c = mul(a b)", "e = add(c d)", outputs="e")
    assert with_patterns(graph, chip, NOTHING) is graph


def test_limits_name_features_of_steps_and_values(tmp_path: Path) -> None:
    limits = "limits: {most: {max: 15}}, values: {most: sum_elements}"
    chip = chip_with(tmp_path, MUL_ADD.replace("cost: 1", f"cost: 1, {limits}"))
    graph = network("c = mul(a b)", "e = add(c d)", outputs="e")
    assert with_patterns(graph, chip, NOTHING) is graph


def test_branches_that_meet(tmp_path: Path) -> None:
    pattern = "{left: MUL, right: MUL, sum: 'ADD(left, right)'}"
    chip = chip_with(tmp_path, f"  MEET: {{pattern: {pattern}, cost: 1}}\n{MUL_ADD}")
    lines = ["c = mul(a b)", "d = mul(b a)", "e = add(d c)", "f = mul(e a)", "g = add(f b)"]
    graph = network(*lines, outputs="g")
    after = with_patterns(graph, chip, NOTHING)
    assert kinds(after) == ["meet", "mul_add"]
    assert operand_names(after.operators[0]) == (
        "left_input1",
        "left_input2",
        "right_input1",
        "right_input2",
    )
    same_results(graph, after)


def test_a_step_that_is_read_twice(tmp_path: Path) -> None:
    pattern = "{product: MUL, sum: 'ADD(product, product)'}"
    chip = chip_with(tmp_path, f"  TWICE: {{pattern: {pattern}, cost: 1}}\n")
    graph = network("c = mul(a b)", "e = add(c c)", outputs="e")
    after = with_patterns(graph, chip, NOTHING)
    assert kinds(after) == ["twice"]
    same_results(graph, after)


def test_an_operand_on_the_second_place(tmp_path: Path) -> None:
    pattern = "{one: ADD, two: 'ADD(_, one)'}"
    chip = chip_with(tmp_path, f"  SECOND: {{pattern: {pattern}, cost: 1}}\n")
    graph = network("c = add(a b)", "e = add(c d)", outputs="e")
    (one,) = with_patterns(graph, chip, NOTHING).operators
    assert operand_names(one) == ("one_input1", "one_input2", "two_input1")
    assert one.inputs == ("a", "b", "d")


def test_the_accelerator_runs_it_and_says_what_it_stands_for(chip: ResolvedSoc) -> None:
    graph = network("c = mul(a b)", "e = add(c d)", outputs="e")
    plan = plan_devices(with_patterns(graph, chip, NOTHING), chip)
    (decision,) = plan.decisions
    assert decision.device == "npu"
    assert decision.reason.startswith("mine takes mul_0, add_1 as one, about ")
