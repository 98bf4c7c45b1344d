# SPDX-License-Identifier: Apache-2.0
"""Several inputs and outputs of what Vela makes: each lies where the commands have it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import tflite_builder
from tests.effort import in_gate
from tests.npu_mutants import judged
from tests.npu_networks import npu_network
from tests.operator_samples import SCALE, Tree
from tflite.BuiltinOperator import BuiltinOperator
from tflite.Model import Model

from atoll.artifacts.samples import random_samples
from atoll.cli import main
from atoll.description.build import read_requests
from atoll.diagnostics.errors import ModelError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.driver.task import BuildOptions
from atoll.resolve import load_soc
from atoll.vela import subgraphs
from atoll.vela.memories import VelaTarget
from atoll.vela.part_files import part_of
from atoll.vela.regions import judge_stream
from atoll.vela.run_vela import VelaOutput, VelaRefusalError, optimise
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

pytest.importorskip("ethosu.vela")

OTHER: dict[str, Any] = {"scales": (0.1,), "zero_points": (4,)}
NPUS = {
    name: (f"devices.ethos_u55.accelerator=ethos_{name}", f"devices.ethos_u55.params.macs={macs}")
    for name, macs in (("u55", 128), ("u65", 256), ("u85", 256))
}


def core_between() -> Any:
    """RELU on the NPU, its result spread by the core, and the sum of both on the NPU."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 16), **SCALE)
    one = tree.apply("RELU", (x,), tree.add((1, 16), **SCALE))
    spread = tree.apply("BROADCAST_TO", (one, tree.numbers(4, 16)), tree.add((4, 16), **SCALE))
    tree.apply("ADD", (one, spread), tree.add((4, 16), **OTHER), "AddOptions")
    return tree.model()


def two_inputs() -> Any:
    """A difference of two inputs, which tells which is which."""
    tree = Tree(tflite_builder)
    x, y = (tree.add((1, 4, 16), **SCALE) for _ in range(2))
    tree.apply("SUB", (x, y), tree.add((1, 4, 16), **OTHER), "SubOptions")
    return replace(tree.model(), inputs=(0, 1))


def two_outputs() -> Any:
    """One input and two outputs."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 4, 16), **SCALE)
    for code in ("RELU", "HARD_SWISH"):
        tree.apply(code, (x,), tree.add((1, 4, 16), **OTHER))
    return tree.model()


def product() -> Any:
    """BATCH_MATMUL of two inputs."""
    tree = Tree(tflite_builder)
    x, y = tree.add((1, 4, 8), **SCALE), tree.add((1, 8, 4), **SCALE)
    result = tree.add((1, 4, 4), **OTHER)
    tree.apply("BATCH_MATMUL", (x, y), result, "BatchMatMulOptions", AdjX=False, AdjY=False)
    return replace(tree.model(), inputs=(0, 1))


def shared() -> Any:
    """Two parts that share a tensor, of which Vela 5.2 has one address for both.

    The first part writes two tensors; where the second has one of them is in the other's bytes.
    """
    return npu_network(tflite_builder, 0)


CASES = (core_between, two_inputs, two_outputs, product, shared)


def compiled(model: Any, npu: str, folder: Path) -> Compiled:
    """Compile a network for a chip with one of the NPUs."""
    path = folder / "network.tflite"
    path.write_bytes(tflite_builder.write(model))
    return compile_file(load_soc("corstone300_u55", NPUS[npu]), path)


def run_well(found: Compiled) -> None:
    """Run it natively, with the border of the NPU."""
    samples = random_samples(found.graph, 1)
    kinds: dict[str, Any] = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    (outcome,) = run_models((found,), (samples,), **kinds)
    assert outcome.report.passed, outcome.report


@pytest.mark.parametrize("npu", in_gate(NPUS, 0, 2))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_network_runs_bit_exactly(case: Callable[[], Any], npu: str, tmp_path: Path) -> None:
    found = compiled(case(), npu, tmp_path)
    parts = [op for op in found.graph.operators if op.kind == "ethos_u"]
    assert len(parts) == (2 if case in (core_between, shared) else 1)
    run_well(found)


@pytest.mark.parametrize("npu", in_gate(NPUS, 2))
def test_random_networks_run_bit_exactly(npu: str, tmp_path: Path) -> None:
    """A few; `python -m benchmarks.ethos_u` tries more."""
    for seed in range(3, 7):
        run_well(compiled(npu_network(tflite_builder, seed), npu, tmp_path))


def many_edges() -> Any:
    """A part with four inputs and four outputs, and a chain of sums that Vela takes in one."""
    tree = Tree(tflite_builder)
    first, *others = (tree.add((1, 4, 4, 8), **SCALE) for _ in range(4))
    for other in others:
        first = tree.apply("ADD", (first, other), tree.add((1, 4, 4, 8), **SCALE), "AddOptions")
        tree.apply("HARD_SWISH", (first,), tree.add((1, 4, 4, 8), **SCALE))
    return replace(tree.model(), inputs=(0, 1, 2, 3))


@pytest.mark.parametrize("npu", NPUS)
def test_a_part_with_more_edges_than_base_addresses_is_cut(npu: str, tmp_path: Path) -> None:
    found = compiled(many_edges(), npu, tmp_path)
    parts = [op for op in found.graph.operators if op.kind == "ethos_u"]
    assert len(parts) == len(found.graph.operators) == 2
    assert all(len(op.inputs) - 2 + len(op.outputs) - 1 <= 6 for op in parts)
    run_well(found)


def test_a_random_part_with_seven_edges_is_cut(tmp_path: Path) -> None:
    """Three inputs and four outputs, of a network drawn by `benchmarks.ethos_u`."""
    run_well(compiled(npu_network(tflite_builder, 7008), "u55", tmp_path))


def test_an_input_that_vela_reads_and_does_not_name_is_found(tmp_path: Path) -> None:
    """Of three parts, Vela 5.2 has the last read t2, which the first makes and does not forward."""
    found = compiled(npu_network(tflite_builder, 7010), "u55", tmp_path)
    assert [op.kind for op in found.graph.operators] == ["ethos_u"] * 3
    run_well(found)


def why_not_there(found: Compiled) -> dict[str, str]:
    """Return why operators are not on the NPU, for those that cores run."""
    return {
        each.operator: dict(each.rejected).get("ethos_u55", "")
        for each in found.decisions
        if each.device == "cpu"
    }


def summed() -> Any:
    """SUM and RELU; of two axes, Vela 5.2 sums over the first one alone."""
    tree = Tree(tflite_builder)
    x, axes = tree.add((1, 6, 6, 8), **SCALE), tree.numbers(1, -1)
    total = tree.add((1, 6), **SCALE)
    tree.apply("SUM", (x, axes), total, "ReducerOptions", KeepDims=False)
    tree.apply("RELU", (total,), tree.add((1, 6), **SCALE))
    return tree.model()


def test_what_vela_does_past_a_tensor_runs_on_the_core(tmp_path: Path) -> None:
    found = compiled(summed(), "u55", tmp_path)
    assert [op.kind for op in found.graph.operators] == ["sum", "ethos_u"]
    (why,) = why_not_there(found).values()
    assert "made commands that do not keep to their tensors: " in why
    assert "is bytes 0 to 48 of region" in why
    run_well(found)


@pytest.mark.parametrize("name", ["sum_0", "ethos_u_0"])
def test_what_vela_does_past_a_tensor_is_refused_to_who_asks_for_it(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(summed()))
    soc = load_soc("corstone300_u55")

    def asking(text: str) -> Compiled:
        requests = read_requests({"place": dict([text.split("=")])})
        return compile_file(soc, path, BuildOptions(requests=requests))

    with pytest.raises(ModelError, match="E170") as raised:
        asking(f"{name}=ethos_u55")
    assert "is bytes 0 to 48 of region" in str(raised.value)
    assert f"do not ask for 'ethos_u55' for '{name}'" in str(raised.value.faults[0].remedy)
    asking("ethos_u_1=ethos_u55")


REFUSED_ONCE = (7006, 7016, 7020, 7033, 7042, 7048)
"""Networks of which Vela 5.2 makes commands for U55 that do not keep to their tensors."""


@pytest.mark.parametrize("seed", in_gate(REFUSED_ONCE, 0))
def test_what_vela_compiles_wrongly_is_cut_smaller(seed: int, tmp_path: Path) -> None:
    found = compiled(npu_network(tflite_builder, seed), "u55", tmp_path)
    assert any(op.kind == "ethos_u" for op in found.graph.operators)
    assert any("do not keep to their tensors" in why for why in why_not_there(found).values())
    run_well(found)


def test_explain_says_what_the_commands_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(summed()))
    assert main(["explain", "corstone300_u55", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "ethos_u55: Vela " in said
    assert "made commands that do not keep to their tensors: the ofm" in said


def test_a_split_is_not_cut(tmp_path: Path) -> None:
    """Each half of a SPLIT is an operator, and the file has one for both."""
    found = compiled(npu_network(tflite_builder, 7006), "u55", tmp_path)
    names = [op.name for op in found.graph.operators]
    assert len(names) == len({*names})


def refusing(code: str) -> Callable[..., VelaOutput]:
    """Return Vela as it would be if it gave up on files with a kind of operator."""
    compile_it = optimise

    def given(data: bytes, target: VelaTarget, strategy: str) -> VelaOutput:
        model = Model.GetRootAs(data)
        graph = model.Subgraphs(0)
        for at in range(graph.OperatorsLength()):
            op = model.OperatorCodes(graph.Operators(at).OpcodeIndex())
            if op.BuiltinCode() == getattr(BuiltinOperator, code):
                raise VelaRefusalError("E143", "Vela does not compile it: AssertionError")
        return compile_it(data, target, strategy)

    return given


@pytest.mark.parametrize("count", [1, 4])
def test_what_vela_gives_up_on_runs_on_the_core(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RELUs, a HARD_SWISH that Vela cannot take, and RELUs."""
    monkeypatch.setattr(subgraphs, "optimise", refusing("HARD_SWISH"))
    tree = Tree(tflite_builder)
    x = tree.add((1, 16), **SCALE)
    for code in (*["RELU"] * count, "HARD_SWISH", *["RELU"] * count):
        x = tree.apply(code, (x,), tree.add((1, 16), **SCALE))
    found = compiled(tree.model(), "u55", tmp_path)
    kinds = [op.kind for op in found.graph.operators]
    assert kinds.count("hard_swish") == 1
    assert {*kinds} == {"ethos_u", "hard_swish"}
    assert [*why_not_there(found).values()] == ["Vela does not compile it: AssertionError"]
    told = f"{2 * count} compiled in smaller parts, 1 left to the cores"
    assert f"ethos_u55: Vela failed on {2 * count + 1} operators: {told}" in found.offloading
    run_well(found)


def unequal() -> Any:
    """RELU, HARD_SWISH, and NOT_EQUAL of both, on which Vela 5.2 gives a network up."""
    tree = Tree(tflite_builder)
    x = tree.apply("RELU", (tree.add((1, 16), **SCALE),), tree.add((1, 16), **SCALE))
    y = tree.apply("HARD_SWISH", (x,), tree.add((1, 16), **SCALE))
    tree.apply("NOT_EQUAL", (x, y), tree.add((1, 16), dtype="bool"))
    return tree.model()


NOTE = "ethos_u55: Vela failed on 3 operators: 2 compiled in smaller parts, 1 left to the cores"


def test_vela_gives_up_on_a_network(tmp_path: Path) -> None:
    found = compiled(unequal(), "u55", tmp_path)
    assert [op.kind for op in found.graph.operators] == ["ethos_u", "ethos_u", "not_equal"]
    (why,) = why_not_there(found).values()
    assert "does not compile it for ethos-u55-128: RuntimeError: Non-passthrough" in why
    run_well(found)


@pytest.mark.slow
def test_every_command_says_what_vela_failed_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, build = tmp_path / "network.tflite", str(tmp_path / "build")
    model.write_bytes(tflite_builder.write(unequal()))
    how = ["--cpu", "native", "--accelerator", "model"]
    for command, *words in (
        ["plan"],
        ["build", "--objects", "-o", build],
        ["run", *how],
        ["explain"],
    ):
        assert main([command, "corstone300_u55", str(model), *words, "--json"]) == 0
        said = capsys.readouterr()
        assert any(NOTE in each for each in json.loads(said.out)["notes"])
        if command in ("plan", "build"):
            assert f"note: {NOTE}" in " ".join(said.err.split())
    assert main(["plan", "corstone300_u55", str(model), "--no-accelerators", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def halves(
    result: tuple[int, ...], code: str, *table: str, inside: bool = False, **options: Any
) -> Any:
    """An operator of both halves of an input, or of what HARD_SWISH makes of it."""
    tree = Tree(tflite_builder)
    x, one, two = (tree.add((1, 8, 3, depth), **SCALE) for depth in (8, 4, 4))
    if inside:
        x = tree.apply("HARD_SWISH", (x,), tree.add((1, 8, 3, 8), **SCALE))
    tree.apply_to_several(
        "SPLIT", (tree.numbers(3, shape=()), x), (one, two), "SplitOptions", NumSplits=2
    )
    tree.apply(code, (one, two), tree.add(result, **OTHER), *table, **options)
    return tree.model()


def multiplied_halves(*, inside: bool = False) -> Any:
    """A product of which Vela 5.2 reads one row of the second half, for U55 and U65."""
    options = {"AdjX": False, "AdjY": True, "inside": inside}
    return halves((1, 8, 3, 3), "BATCH_MATMUL", "BatchMatMulOptions", **options)


@pytest.mark.parametrize("npu", in_gate(["u55", "u65"], 0))
@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (False, "its results depend on 84 bytes of 't0' from byte 24 on, which it never reads"),
        (True, "no operation reads all that the pooling at word"),
    ],
)
def test_what_is_not_read_as_far_as_results_need_it_is_refused(
    inside: bool, said: str, npu: str, tmp_path: Path
) -> None:
    with judged() as parts:
        found = compiled(multiplied_halves(inside=inside), npu, tmp_path)
    assert not parts[0].accepted
    with pytest.raises(VelaRefusalError, match="E170") as raised:
        judge_stream(parts[0].body, parts[0].call)
    assert said in str(raised.value)
    assert len(found.graph.operators) > 1
    run_well(found)


def one_slice() -> Any:
    """Nothing needs more than every second row of the input, and half of its channels."""
    tree = Tree(tflite_builder)
    x, part = tree.add((1, 8, 3, 8), **SCALE), tree.add((1, 4, 3, 4), **SCALE)
    edges = (tree.numbers(0, 0, 0, 4), tree.numbers(1, 8, 3, 8), tree.numbers(1, 2, 1, 1))
    tree.apply("STRIDED_SLICE", (x, *edges), part, "StridedSliceOptions")
    tree.apply("HARD_SWISH", (part,), tree.add((1, 4, 3, 4), **OTHER))
    return tree.model()


def windows_with_gaps() -> Any:
    """Windows of one place, two apart, in what lies in the scratch: three of four are not read."""
    tree = Tree(tflite_builder)
    x, inner = (tree.add((1, 8, 8, 8), **SCALE) for _ in range(2))
    tree.apply("HARD_SWISH", (x,), inner)
    options = {"FilterHeight": 1, "FilterWidth": 1, "StrideH": 2, "StrideW": 2, "Padding": 1}
    result = tree.add((1, 4, 4, 8), **SCALE)
    tree.apply("MAX_POOL_2D", (inner,), result, "Pool2DOptions", **options)
    return tree.model()


def slice_of_a_half() -> Any:
    """A half of a SPLIT, which Vela copies once more for the SLICE of it alone."""
    return npu_network(tflite_builder, 148)


PARTLY = (one_slice, windows_with_gaps, slice_of_a_half)


@pytest.mark.parametrize("npu", NPUS)
@pytest.mark.parametrize("case", PARTLY, ids=lambda case: case.__name__)
def test_what_nothing_needs_may_be_left_out(
    case: Callable[[], Any], npu: str, tmp_path: Path
) -> None:
    run_well(compiled(case(), npu, tmp_path))


@pytest.mark.parametrize("inside", [False, True])
def test_halves_that_are_read_in_full_are_accepted(inside: bool, tmp_path: Path) -> None:
    run_well(compiled(multiplied_halves(inside=inside), "u85", tmp_path))
    halved = halves((1, 8, 3, 4), "SUB", "SubOptions", inside=inside)
    run_well(compiled(halved, "u55", tmp_path))


def test_a_part_of_a_file_has_its_operators_and_edges() -> None:
    data = tflite_builder.write(core_between())
    graph = Model.GetRootAs(part_of(data, (1, 3), (4,))).Subgraphs(0)
    assert graph.OperatorsLength() == 1
    assert graph.InputsAsNumpy().tolist() == [1, 3]
    assert graph.OutputsAsNumpy().tolist() == [4]
    assert graph.Operators(0).InputsAsNumpy().tolist() == [1, 3]
    assert graph.TensorsLength() == 5
