# SPDX-License-Identifier: Apache-2.0
"""What Vela compiles becomes operators of the graph, and nothing else of the graph changes."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import ModelError, PlacementError, ToolchainError
from atoll.driver.pipeline import compile_file
from atoll.frontend.registry import load_network, read_source
from atoll.frontend.tflite.reader import read_file
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.ops.ethos_u import SCRATCH_FILL
from atoll.resolve import load_soc
from atoll.vela import regions, run_vela, subgraphs
from atoll.vela.optimised import NpuCall, calls_in
from atoll.vela.subgraphs import with_subgraphs

pytest.importorskip("ethosu.vela")

CHIP = "corstone300_u55"
DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


def rewritten(path: Path, *settings: str) -> tuple[Graph, Graph]:
    """Return a network as it was read, and with what Vela made of it."""
    graph = load_network(path)
    return graph, with_subgraphs(graph, read_source(path), load_soc(CHIP, settings)).graph


def same_results(before: Graph, after: Graph) -> None:
    """Hold the outputs of both, and every tensor that both have, against each other."""
    (sample,) = random_sample(before, 3)
    expected, found = (reference.run(graph, sample) for graph in (before, after))
    common = expected.keys() & found.keys()
    assert {*before.inputs, *before.outputs} <= common
    assert all(np.array_equal(expected[name], found[name]) for name in common)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have Vela leave kinds of operators to the core."""

    def leave(kinds: str) -> None:
        options = run_vela.options_of
        monkeypatch.setattr(
            run_vela, "options_of", lambda *a: (*options(*a), "--ignore-ops", kinds)
        )

    return leave


def test_digits_become_one_operator() -> None:
    before, after = rewritten(DIGITS)
    (op,) = after.operators
    assert (op.kind, op.name, op.inputs[2:]) == ("ethos_u", "ethos_u_9", before.inputs)
    assert op.outputs == (*before.outputs, "ethos_u_9_scratch")
    assert op.body is not None
    assert op.body.operators == before.operators
    assert op.integer("operators") == len(before.operators) == 10
    assert 1_000 < op.integer("cycles") < 100_000
    same_results(before, after)
    (sample,) = random_sample(after)
    scratch = reference.run(after, sample)[op.outputs[-1]]
    assert set(scratch.tolist()) == {SCRATCH_FILL}


def test_operators_that_vela_leaves_stay_as_they_are(
    without: Callable[[str], None], shared_models: Path
) -> None:
    without("AVERAGE_POOL_2D")
    before, after = rewritten(shared_models / "kws_ref_model.tflite")
    kinds = [op.kind for op in after.operators]
    assert kinds == ["ethos_u", "average_pool_2d", "ethos_u"]
    assert after.operators[1] in before.operators
    first, last = (after.operators[place].integer("cycles") for place in (0, 2))
    assert 0 < last < first
    same_results(before, after)


def test_a_network_that_vela_leaves_altogether_is_the_same(
    without: Callable[[str], None], shared_models: Path
) -> None:
    without("FULLY_CONNECTED")
    before, after = rewritten(shared_models / "ad01_int8.tflite")
    assert after == before


def test_a_chip_without_an_npu_changes_nothing() -> None:
    graph = load_network(DIGITS)
    assert with_subgraphs(graph, read_source(DIGITS), load_soc("lagoon")).graph is graph


def test_a_small_pool_gets_vela_to_save_memory_and_then_an_error(shared_models: Path) -> None:
    path = shared_models / "vww_96_int8.tflite"
    fpga = ("pools.fpga.others=none", "pools.fpga.reach={cpu: rw}")
    sizes = [rewritten(path, *fpga, f"pools.shared.size={size}")[1] for size in ("4MiB", "96KiB")]
    large, small = (graph.tensor("ethos_u_30_scratch").size for graph in sizes)
    assert small < large < 96 * 1024, "only with inputs and outputs it is too large"
    with pytest.raises(PlacementError, match="E061") as raised:
        compile_file(load_soc(CHIP, (*fpga, "pools.shared.size=16KiB")), path)
    (size,) = re.findall(r"set 'pools.shared.size' to (\d+ B)", str(raised.value.faults[0].remedy))
    compile_file(load_soc(CHIP, (*fpga, f"pools.shared.size={size}")), path)


def test_a_missing_vela_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(run_vela, "version", absent)
    with pytest.raises(ToolchainError, match="E136") as raised:
        rewritten(DIGITS)
    assert "pip install 'atoll[ethos-u]'" in str(raised.value.faults[0].remedy)


def test_what_vela_says_is_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_vela, "options_of", lambda *_: ("--no-such-option",))
    with pytest.raises(ModelError, match="E143") as raised:
        rewritten(DIGITS)
    assert "unrecognized arguments: --no-such-option" in str(raised.value)
    assert "usage:" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": ()}, "input 'image' of the network, which it does not name"),
        ({"weights": b"1234"}, "of region 0, which has 4"),
        ({"scratch": 64}, "of region 1, which has 64"),
        ({"locations": {}}, "its tables have 0 places of tensor 'serving_default_image:0'"),
    ],
)
def test_a_file_that_cannot_be_followed_is_left_to_the_cores(
    change: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(output: run_vela.VelaOutput) -> tuple[NpuCall, ...]:
        return tuple(replace(call, **change) for call in calls_in(output))  # type: ignore[arg-type]

    monkeypatch.setattr(subgraphs, "calls_in", changed)
    graph = load_network(DIGITS)
    made = with_subgraphs(graph, read_source(DIGITS), load_soc(CHIP))
    assert any(message in why for why in made.kept_off.values())
    name = next(iter(made.kept_off))
    with pytest.raises(ModelError, match=r"E143|E170") as raised:
        with_subgraphs(graph, read_source(DIGITS), load_soc(CHIP), {name: "ethos_u55"})
    assert made.kept_off[name] in str(raised.value)
    assert f"do not ask for 'ethos_u55' for '{name}'" in str(raised.value.faults[0].remedy)


def test_a_tensor_that_the_network_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(output: run_vela.VelaOutput) -> tuple[NpuCall, ...]:
        return tuple(replace(call, inputs=("no such tensor",)) for call in calls_in(output))

    monkeypatch.setattr(subgraphs, "calls_in", changed)
    with pytest.raises(ModelError, match="E143") as raised:
        rewritten(DIGITS)
    assert "the tensor 'no such tensor'" in str(raised.value)


def test_a_tensor_inside_that_others_read_is_left_to_the_cores(
    shared_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if Vela had taken one side of a residual block up to its sum."""
    path = shared_models / "pretrainedResnet_quant.tflite"
    graph = load_network(path)
    added = next(op for op in graph.operators if op.kind == "add")
    before = next(op for op in graph.operators if added.inputs[1] in op.outputs)
    tensors = read_file(path).tensors
    names = (tensors[graph.tensor(before.outputs[0]).index].name,)

    def cut(output: run_vela.VelaOutput) -> tuple[NpuCall, ...]:
        return tuple(replace(call, outputs=names) for call in calls_in(output))

    monkeypatch.setattr(subgraphs, "calls_in", cut)
    made = with_subgraphs(graph, read_source(path), load_soc(CHIP))
    assert all("inside, which others read" in why for why in made.kept_off.values())
    assert made.kept_off


def test_what_has_more_edges_than_base_addresses_alone_stays_with_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regions, "MOST_REGIONS", 3)
    before, after = rewritten(DIGITS)
    assert after == before


def test_a_second_build_does_not_ask_vela_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    first = compile_file(load_soc(CHIP), DIGITS)
    monkeypatch.setattr(run_vela, "run_tool", lambda *_, **__: pytest.fail("Vela ran again"))
    assert compile_file(load_soc(CHIP), DIGITS).commands == first.commands
