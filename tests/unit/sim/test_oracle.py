# SPDX-License-Identifier: Apache-2.0
"""`atoll run --oracle`: another implementation is a witness of the import."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import tflite_builder
from tests.effort import in_gate
from tests.onnx_builder import Builder, Grid
from tests.onnx_cases import channels_last
from tests.onnx_networks import NETWORKS, WAYS, quantized
from tests.operator_samples import SCALE, Tree

from atoll.artifacts.samples import random_samples
from atoll.cli import main
from atoll.diagnostics.errors import UsageError
from atoll.frontend.onnx.imported import import_file, in_order_of_file
from atoll.frontend.onnx.operators import curves
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll_sim.oracle import onnx as of_onnx
from atoll_sim.oracle.ask import oracle_of
from atoll_sim.oracle.onnx import against_onnxruntime
from atoll_sim.oracle.onnx_runs import outputs
from atoll_sim.oracle.steps import Array, Comparison
from atoll_sim.oracle.tflite import against_tflm

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits"
MESSAGES = Path(__file__).parents[2] / "golden" / "oracle"
Golden = Callable[[Path, str], None]
QUICK = ["--cpu", "native", "--accelerator", "model", "--brief", "--oracle"]


def said_by(error: UsageError, folder: Path = DIGITS) -> str:
    """Return what the user reads, without the folder of the model."""
    return f"{error}\n".replace(f"{folder}/", "")


def samples_of(graph: Graph, count: int = 3) -> list[list[np.ndarray]]:
    samples = random_samples(graph, count)
    return [[np.asarray(sample[name]) for name in graph.inputs] for sample in samples]


@pytest.mark.parametrize(
    ("file", "oracle"), [("digits_qdq.onnx", "onnxruntime"), ("digits_int8.tflite", "tflite-micro")]
)
def test_a_run_says_against_what(
    file: str, oracle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "lagoon", str(DIGITS / file), *QUICK]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "bit-exact over 1 sample, against Atoll's reference" in told
    assert f"{oracle} " in told
    assert main(["run", "lagoon", str(DIGITS / file), *QUICK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reference"] == "Atoll's reference of the imported graph"
    assert found["oracle"]["passed"]
    assert found["oracle"]["oracle"].startswith(oracle)
    assert found["oracle"]["limit_steps"] == int(oracle == "onnxruntime")


def test_without_the_option_nobody_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lagoon", str(DIGITS / "digits_qdq.onnx"), *QUICK[:-1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["oracle"] is None


@pytest.mark.parametrize("way", in_gate(WAYS, 0, 3))
@pytest.mark.parametrize("name", NETWORKS)
def test_each_value_of_a_network_is_compared(name: str, way: str, tmp_path: Path) -> None:
    """Each is made of Atoll's operands, so that steps do not add up."""
    path = tmp_path / "network.onnx"
    path.write_bytes(quantized(name, way, tmp_path)[0])
    verdict = against_onnxruntime(path, samples_of(load_network(path)), outputs)
    assert verdict.passed, str(verdict)
    assert len(verdict.furthest) >= 5


def test_a_wrong_import_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chip agrees with the reference, the reference not with the file."""
    b = Builder()
    first = b.again(b.node("Softplus", [b.x((1, 4, 5, 5))]))
    made = b.quantized(b.node("Relu", [first]), Grid("int8", 0.02, -128))
    path = tmp_path / "wrong.onnx"
    path.write_bytes(b.model([made]))
    right = curves.results_of
    monkeypatch.setattr(curves, "results_of", lambda *given: right(*given) + 0.5)
    assert main(["run", "lagoon", str(path), *QUICK, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["bit_exact"]
    assert not found["oracle"]["passed"]
    far = [name for name, most in found["oracle"]["furthest_steps"].items() if most > 1]
    assert len(far) == 1  # the table's result, not what is made of it
    assert main(["run", "lagoon", str(path), *QUICK]) == 1
    assert f"'{far[0]}' differs by up to" in capsys.readouterr().out


def test_a_wrong_import_of_tflite_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = DIGITS / "digits_int8.tflite"
    graph = load_network(path)
    assert against_tflm(path, samples_of(graph)).passed
    tensors = tuple(
        replace(tensor, data=bytes(tensor.size)) if tensor.name.endswith("bias") else tensor
        for tensor in graph.tensors
    )
    wrong = replace(graph, tensors=tensors)
    monkeypatch.setattr("atoll_sim.oracle.tflite.load_network", lambda path: wrong)
    verdict = against_tflm(path, samples_of(graph))
    assert not verdict.passed
    assert "differs by up to" in str(verdict)


def test_values_are_brought_to_the_order_of_the_file(tmp_path: Path) -> None:
    """Images lie channels last, and so does what is flattened."""
    b = Builder()
    image = channels_last(b, b.x((2, 3, 4, 5)))
    grid = next(iter(b.grids.values()))
    flat = b.quantized(b.node("Flatten", [image]), grid)
    dense = b.node("Gemm", [b.real(flat), b.weights((60, 4))])
    path = tmp_path / "moved.onnx"
    path.write_bytes(b.model([b.quantized(image, grid), b.quantized(dense, b.suited(dense))]))
    own = import_file(path)
    (given,) = b.feeds.values()
    values = reference.run(own.graph, {own.graph.inputs[0]: given})
    stored = own.integers[flat]
    assert stored.folded
    found = in_order_of_file(stored, np.asarray(values[stored.tensor]))
    np.testing.assert_array_equal(found, given.reshape(2, 60))
    assert against_onnxruntime(path, [[given]]).passed


@pytest.mark.parametrize(("at_once", "asked"), [(2, [2, 1]), (256, [3])])
def test_one_process_answers_for_many_samples(
    at_once: int, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, counts = DIGITS / "digits_qdq.onnx", []

    def counted(model: bytes, feeds: Sequence[Mapping[str, Array]]) -> Any:
        counts.append(len(feeds))
        return outputs(model, feeds)

    monkeypatch.setattr(of_onnx, "AT_ONCE", at_once)
    samples = samples_of(load_network(path))
    verdict = against_onnxruntime(path, samples, counted)
    assert verdict.passed
    assert counts == asked
    assert against_onnxruntime(path, samples[:1], outputs).values != verdict.values


def test_nothing_that_is_compared_is_no_agreement() -> None:
    assert not Comparison(1).verdict("nobody").passed


@pytest.mark.parametrize("file", ["digits_qdq.onnx", "digits_int8.tflite"])
def test_an_oracle_that_is_not_installed(
    file: str, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atoll_sim.oracle.ask.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="which is not installed") as caught:
        oracle_of(DIGITS / file)
    golden(MESSAGES / f"oracle_not_installed_{Path(file).suffix[1:]}.txt", said_by(caught.value))


def test_a_format_without_an_oracle(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atoll_sim.oracle.ask.format_of", lambda path: "foreign")
    with pytest.raises(UsageError, match="whose format has no oracle") as caught:
        oracle_of(DIGITS / "digits_qdq.onnx")
    golden(MESSAGES / "oracle_of_no_format.txt", said_by(caught.value, DIGITS))


def refused_by_tflm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat what TFLM has no kernel for."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 4), **SCALE)
    tree.apply("TILE", (x, tree.numbers(1, 3)), tree.add((1, 12), **SCALE))
    path = folder / "tiled.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    against_tflm(path, [])


def on_two_grids(tree: Tree) -> None:
    """A float32 input that two QUANTIZEs read."""
    x = tree.add((1, 4), dtype="float32")
    for scale in (0.05, 0.1):
        tree.apply("QUANTIZE", (x,), tree.add((1, 4), scales=(scale,), zero_points=(0,)))


def of_no_multiple(tree: Tree) -> None:
    """A DEPTHWISE_CONV_2D whose options leave its DepthMultiplier to the shapes."""
    operands = tree.add((1, 3, 3, 2), **SCALE), tree.weights((1, 1, 1, 2))
    result, options = tree.add((1, 3, 3, 2), **SCALE), {"StrideH": 1, "StrideW": 1}
    tree.apply("DEPTHWISE_CONV_2D", operands, result, "DepthwiseConv2DOptions", **options)


@pytest.mark.parametrize(
    ("grown", "said"),
    [
        (on_two_grids, "it has 1 of the 2 inputs that Atoll has, one for each grid"),
        (of_no_multiple, "operator 0 has a DepthMultiplier of 0, for which it computes nothing"),
    ],
)
def test_tflm_is_not_asked_about_another_network(
    grown: Callable[[Tree], None], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tree = Tree(tflite_builder)
    grown(tree)
    path = tmp_path / "other.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    with pytest.raises(UsageError, match=f"does not run .*: {said}"):
        against_tflm(path, samples_of(load_network(path)))
    assert not capfd.readouterr().err


@pytest.mark.parametrize(
    ("death", "said"),
    [
        ("os._exit(7)", "status 7"),
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("os._exit(0)", "status 0"),
    ],
)
@pytest.mark.parametrize(
    ("file", "package", "code", "oracle"),
    [
        (
            *("digits_int8.tflite", "tflite_micro/__init__.py"),
            "import os\nclass runtime:\n class Interpreter:\n  from_bytes = lambda *a, **b: {}\n",
            "tflite-micro",
        ),
        (
            *("digits_qdq.onnx", "onnxruntime/__init__.py"),
            "import os\n{}\n",
            "onnxruntime",
        ),
    ],
    ids=["tflm", "onnxruntime"],
)
def test_a_crash_of_an_oracle_is_an_error_of_one_sentence(
    file: str,
    package: str,
    code: str,
    oracle: str,
    death: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A package of the same name ends its process where the implementation would."""
    (tmp_path / package).parent.mkdir()
    (tmp_path / package).write_text(code.format(death))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setattr("atoll_sim.oracle.ask.find_spec", lambda name: name)
    assert main(["run", "lagoon", str(DIGITS / file), *QUICK]) == 1
    err = capsys.readouterr().err
    assert f"error[E181]: --oracle: {oracle} does not run" in err
    assert f"it ended its process with {said}\n  help: " in err
    assert "leave --oracle out" in err


def refused_by_onnxruntime(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give two values of the file one name."""
    monkeypatch.setattr("atoll_sim.oracle.onnx._GIVEN", "")
    b = Builder()
    path = folder / "refused.onnx"
    path.write_bytes(b.model([b.quantized(b.node("Softplus", [b.x((1, 8))]), b.grid())]))
    against_onnxruntime(path, [])


@pytest.mark.parametrize("asked", [refused_by_tflm, refused_by_onnxruntime])
def test_an_oracle_that_does_not_run_the_file(
    asked: Callable[[Path, pytest.MonkeyPatch], None],
    tmp_path: Path,
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="does not run") as caught:
        asked(tmp_path, monkeypatch)
    golden(MESSAGES / f"oracle_{asked.__name__}.txt", said_by(caught.value, tmp_path))
