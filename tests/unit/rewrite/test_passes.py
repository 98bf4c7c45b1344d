# SPDX-License-Identifier: Apache-2.0
"""Each pass on a network made for it: what goes, and what must stay."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator
from atoll.rewrite.activations import fuse_activations
from atoll.rewrite.constants import fold_constants
from atoll.rewrite.dead_code import remove_dead_code
from atoll.rewrite.edit import Given
from atoll.rewrite.identities import remove_identities
from atoll.rewrite.pads import fuse_pads
from atoll.rewrite.passes import GraphPass, verify
from atoll.rewrite.repeated import share_operators

ONE: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}
OTHER: dict[str, Any] = {"scales": (0.07,), "zero_points": (5,)}
VALID: dict[str, float] = {"Padding": 1, "StrideH": 1, "StrideW": 1}
NOTHING = Given()

Make = Callable[[list[Any], list[Any], tuple[int, ...]], Graph]


@pytest.fixture
def made(tmp_path: Path, tflite_builder: ModuleType) -> Make:
    """Return what loads a network of tensors and operators whose input is tensor 0."""

    def load(tensors: list[Any], operators: list[Any], outputs: tuple[int, ...]) -> Graph:
        path = tmp_path / "network.tflite"
        model = tflite_builder.Model(
            tensors=tuple(tflite_builder.Tensor(**each) for each in tensors),
            operators=tuple(tflite_builder.Operator(**each) for each in operators),
            inputs=(0,),
            outputs=outputs,
        )
        path.write_bytes(tflite_builder.write(model))
        return load_tflite(path)

    return load


def image(*shape: int, **fields: Any) -> dict[str, Any]:
    return {"shape": shape, **ONE, **fields}


def held(*shape: int) -> dict[str, Any]:
    return image(*shape, data=np.arange(np.prod(shape)).reshape(shape).astype(np.int8))


def quantize(source: int, result: int) -> dict[str, Any]:
    return {"code": "QUANTIZE", "inputs": (source,), "outputs": (result,)}


def add(left: int, right: int, result: int) -> dict[str, Any]:
    operands = {"inputs": (left, right), "outputs": (result,)}
    return {"code": "ADD", "table": "AddOptions", **operands}


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.operators]


def test_an_operator_on_constants_becomes_a_constant(made: Make) -> None:
    tensors = [image(1, 6), held(1, 6), image(1, 6, **OTHER), image(1, 6)]
    graph = made(tensors, [quantize(1, 2), add(0, 2, 3)], (3,))
    folded = fold_constants(graph, NOTHING)
    assert kinds(folded) == ["add"]
    assert folded.tensor(folded.operators[0].inputs[1]).data is not None
    named = Given(named=frozenset({graph.operators[0].name}))
    assert fold_constants(graph, named) is graph


def test_an_output_that_is_made_of_constants_is_written(made: Make) -> None:
    graph = made([image(1, 6), held(1, 6), image(1, 6, **OTHER)], [quantize(1, 2)], (2,))
    assert fold_constants(graph, NOTHING) is graph


def test_what_grows_is_not_folded(made: Make) -> None:
    """An ADD that broadcasts 4 KiB out of two small constants runs."""
    tensors = [image(1, 6), held(1, 64), held(80, 1), image(80, 64), image(80, 64)]
    graph = made(tensors, [add(1, 2, 3), quantize(3, 4)], (4,))
    assert fold_constants(graph, NOTHING) is graph


@pytest.mark.parametrize(("scale", "left"), [(ONE, ["add"]), (OTHER, ["quantize", "add"])])
def test_a_quantize_without_effect_goes(made: Make, scale: Any, left: list[str]) -> None:
    tensors = [image(1, 6), image(1, 6, **scale), image(1, 6)]
    graph = made(tensors, [quantize(0, 1), add(1, 0, 2)], (2,))
    assert kinds(remove_identities(graph, NOTHING)) == left


def test_an_output_without_effect_is_written(made: Make) -> None:
    graph = made([image(1, 6), image(1, 6)], [quantize(0, 1)], (1,))
    assert remove_identities(graph, NOTHING) is graph


def test_what_is_made_twice_is_made_once(made: Make) -> None:
    """Operands are equal if constants have equal bytes; the second of two outputs stays."""
    tensors = [image(1, 6), held(1, 6), held(1, 6), *(image(1, 6) for _ in range(3))]
    operators = [add(0, 1, 3), add(0, 2, 4), add(3, 4, 5)]
    graph = made(tensors, operators, (5,))
    shared = share_operators(graph, NOTHING)
    assert [op.name for op in shared.operators] == ["add_0", "add_2"]
    assert shared.operators[1].inputs == ("add_0_out", "add_0_out")
    assert share_operators(made(tensors, operators, (4, 5)), NOTHING).operators == graph.operators


def test_other_options_are_another_operator(made: Make) -> None:
    tensors = [image(1, 6), *(image(1, 6) for _ in range(3))]
    clamped = {**add(0, 0, 2), "options": {"FusedActivationFunction": 1}}
    graph = made(tensors, [add(0, 0, 1), clamped, add(1, 2, 3)], (3,))
    assert share_operators(graph, NOTHING) is graph


def test_what_no_output_is_made_of_goes(made: Make) -> None:
    tensors = [image(1, 6), *(image(1, 6, **OTHER) for _ in range(3))]
    graph = made(tensors, [quantize(0, 1), quantize(1, 2), quantize(0, 3)], (3,))
    left = remove_dead_code(graph, NOTHING)
    assert [op.name for op in left.operators] == ["quantize_2"]
    assert left.inputs == graph.inputs
    kept = remove_dead_code(graph, Given(named=frozenset({"quantize_1_out"})))
    assert kept is graph


def padded(made: Make, pairs: Any, outputs: tuple[int, ...] = (5,)) -> Graph:
    """Return a network in which a 3x3 convolution reads an image of 4x4 with padding."""
    table = np.array(pairs, np.int32)
    shape = tuple(int(size) for size in np.array((1, 4, 4, 2)) + table.sum(axis=1))
    filters = {"scales": (0.1,), "zero_points": (0,), "data": np.ones((3, 3, 3, shape[3]), np.int8)}
    tensors = [
        image(1, 4, 4, 2),
        {"shape": table.shape, "dtype": "int32", "data": table},
        image(*shape),
        {"shape": (3, 3, 3, shape[3]), **filters},
        {"shape": (1,), **ONE},
        image(shape[0], shape[1] - 2, shape[2] - 2, 3, **OTHER),
    ]
    operators = [
        {"code": "PAD", "inputs": (0, 1), "outputs": (2,)},
        {
            "code": "CONV_2D",
            "inputs": (2, 3),
            "outputs": (5,),
            "table": "Conv2DOptions",
            "options": VALID,
        },
    ]
    return made(tensors, operators, outputs)


AROUND = ((0, 0), (1, 1), (0, 2), (0, 0))


def test_a_pad_becomes_the_padding_of_a_convolution(made: Make) -> None:
    fused = fuse_pads(padded(made, AROUND), NOTHING)
    (op,) = fused.operators
    sides = ("pad_top", "pad_bottom", "pad_left", "pad_right")
    assert [op.attributes[side] for side in sides] == [1, 1, 0, 2]
    assert op.inputs[0] == fused.inputs[0]


@pytest.mark.parametrize(
    ("pairs", "outputs"),
    [
        (((0, 0), (3, 0), (0, 0), (0, 0)), (5,)),
        (((0, 0), (0, 0), (0, 0), (0, 1)), (5,)),
        (((1, 0), (1, 1), (1, 1), (0, 0)), (5,)),
        (AROUND, (5, 2)),
    ],
    ids=["as wide as the kernel", "of channels", "of the batch", "read by the caller"],
)
def test_a_pad_that_stays(made: Make, pairs: Any, outputs: tuple[int, ...]) -> None:
    graph = padded(made, pairs, outputs)
    assert fuse_pads(graph, NOTHING) is graph


def test_no_accelerator_loses_a_convolution_to_its_padding(made: Make) -> None:
    def unpadded(op: Operator, graph: Graph) -> frozenset[str]:
        return frozenset({"npu"} if op.attributes.get("pad_top") == 0 else ())

    graph = padded(made, AROUND)
    assert fuse_pads(graph, Given(runs=unpadded)) is graph
    assert fuse_pads(graph, Given(runs=lambda op, graph: frozenset({"npu"}))) is not graph
    assert fuse_pads(graph, Given(patterned=frozenset({"pad"}))) is graph


def test_a_pass_that_drops_what_is_read_is_found(made: Make) -> None:
    tensors = [image(1, 6), *(image(1, 6, **OTHER) for _ in range(2))]
    graph = made(tensors, [quantize(0, 1), quantize(1, 2)], (2,))
    wrong = GraphPass("wrong", lambda graph, given: graph.with_operators(graph.operators[1:]))
    with pytest.raises(AssertionError, match="reads what is not there"):
        verify(graph, wrong.run(graph, NOTHING))


def relu(source: int, result: int, code: str = "RELU") -> dict[str, Any]:
    return {"code": code, "inputs": (source,), "outputs": (result,)}


@pytest.mark.parametrize(("code", "name"), [("RELU", "relu"), ("RELU6", "relu6")])
def test_a_clamp_becomes_the_activation_of_what_it_reads(made: Make, code: str, name: str) -> None:
    tensors = [image(1, 6), image(1, 6, **OTHER), image(1, 6, **OTHER), image(1, 6)]
    graph = made(tensors, [add(0, 0, 1), relu(1, 2, code), quantize(2, 3)], (3,))
    fused = fuse_activations(graph, NOTHING)
    assert kinds(fused) == ["add", "quantize"]
    assert fused.operators[0].attributes["activation"] == name
    assert fused.operators[0].outputs == graph.operators[1].outputs
    named = Given(named=frozenset({graph.operators[1].name}))
    assert fuse_activations(graph, named) is graph
    assert fuse_activations(graph, Given(patterned=frozenset({name}))) is graph


def test_a_clamp_that_stays(made: Make) -> None:
    """Of another scale, of what has an activation, of what is read twice, of what takes none."""
    plain = [image(1, 6), *(image(1, 6, **OTHER) for _ in range(3))]
    rescaled = [image(1, 6), image(1, 6, **OTHER), image(1, 6), image(1, 6)]
    clamped = {**add(0, 0, 1), "options": {"FusedActivationFunction": 3}}
    join: dict[str, Any] = {"code": "CONCATENATION", "inputs": (0,), "outputs": (1,)}
    join |= {"table": "ConcatenationOptions", "options": {"Axis": 1}}
    alike = [image(1, 6) for _ in range(4)]
    for tensors, operators, outputs in (
        (rescaled, [add(0, 0, 1), relu(1, 2), quantize(2, 3)], (3,)),
        (plain, [clamped, relu(1, 2), quantize(2, 3)], (3,)),
        (plain, [add(0, 0, 1), relu(1, 2), add(1, 2, 3)], (3,)),
        (plain, [add(0, 0, 1), relu(1, 2)], (2, 1)),
        (alike, [join, relu(1, 2)], (2,)),
    ):
        graph = made(tensors, operators, outputs)
        assert fuse_activations(graph, NOTHING) is graph, kinds(graph)
