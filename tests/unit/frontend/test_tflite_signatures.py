# SPDX-License-Identifier: Apache-2.0
"""A file of several functions: which of them is the network."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.operator_samples import SCALE, Tree
from tests.tflm_process import TFLM

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import ModelError
from atoll.driver.pipeline import compile_file
from atoll.frontend.registry import load_network, read_source
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.resolve import load_soc

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")


@pytest.fixture
def file(tmp_path: Path, tflite_builder: ModuleType) -> Path:
    """Return a file of two functions, of which the first one makes its input larger."""
    trees = []
    for code, shape in (("RELU", (1, 8)), ("ABS", (2, 3))):
        tree = Tree(tflite_builder)
        tree.apply(code, (tree.add(shape, **SCALE),), tree.add(shape, **SCALE))
        trees.append(tree.model())
    (first, second), names = trees, (("encode", 0), ("decode", 1))
    fields = {"tensors": first.tensors, "operators": first.operators}
    model = tflite_builder.Model(
        **fields, inputs=first.inputs, outputs=first.outputs, others=(second,), signatures=names
    )
    path = tmp_path / "codec.tflite"
    path.write_bytes(tflite_builder.write(model))
    return path


def chosen(file: Path, signature: str) -> Path:
    return file.with_name(f"{file.name}#{signature}")


@pytest.mark.parametrize(("signature", "kind"), [("encode", "relu"), ("decode", "abs")])
def test_a_signature_is_a_network(file: Path, signature: str, kind: str) -> None:
    """The function alone, named after both; the bytes for others have it first, as TFLM runs it."""
    path = chosen(file, signature)
    graph = load_network(path)
    assert [op.kind for op in graph.operators] == [kind]
    assert graph.name == f"codec_{signature}"
    (sample,) = random_sample(graph)[:1]
    ((found,),) = TFLM.run(read_source(path).data, [[sample[graph.inputs[0]]]], [0])
    np.testing.assert_array_equal(found, reference.run(graph, sample)[graph.outputs[0]])


def test_two_signatures_are_two_networks_of_one_chip(file: Path) -> None:
    soc = load_soc("lagoon")
    made = [compile_file(soc, chosen(file, each)) for each in ("encode", "decode")]
    assert [each.graph.name for each in made] == ["codec_encode", "codec_decode"]
    assert made[1].source.suffix == ".tflite"


def test_a_file_of_several_says_what_to_choose(file: Path) -> None:
    with pytest.raises(ModelError) as found:
        load_tflite(file)
    assert "put #encode or #decode behind the file's name" in str(found.value)
    with pytest.raises(ModelError) as found:
        load_tflite(chosen(file, "encod"))
    assert "codec.tflite#encod: has no signature 'encod'" in str(found.value)
    assert "did you mean 'encode'?" in str(found.value)


def test_a_file_whose_name_has_the_sign_is_itself(file: Path) -> None:
    other = file.rename(chosen(file, "decode"))
    with pytest.raises(ModelError, match="has 2 subgraphs instead of 1"):
        load_tflite(other)
