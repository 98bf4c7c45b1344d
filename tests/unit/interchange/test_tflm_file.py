# SPDX-License-Identifier: Apache-2.0
"""A plan in a TFLite file: TFLM reads it, and nothing else of the file changes."""

import re
from pathlib import Path
from struct import unpack
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.flow_samples import looped
from tests.tflm_process import TFLM, allocations
from tflite.Model import Model

from atoll.cli import main
from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.frontend.tflite.metadata import with_metadata
from atoll.frontend.tflite.reader import read_file
from atoll.interchange.tflm_arena import METADATA
from atoll.interchange.tflm_file import tflm_file

HEADS = {
    "vww_96_int8": (73728, 55296),
    "kws_ref_model": (16000, 16000),
    "pretrainedResnet_quant": (49152, 49152),
    "ad01_int8": (768, 768),
}
TAIL = 40 * 1024


@pytest.fixture
def model(tmp_path: Path, tflite_builder: ModuleType, every_operator: Any) -> Path:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    return path


def metadata(source: bytes, name: str) -> bytes | None:
    """Return the content of a metadata entry, None if the file has none of that name."""
    model = Model.GetRootAs(source, 0)
    for entry in (model.Metadata(index) for index in range(model.MetadataLength())):
        if entry.Name() == name.encode():
            buffer = model.Buffers(entry.Buffer())
            return bytes(buffer.DataAsNumpy()) if buffer.DataLength() else b""
    return None


def test_bodies_have_no_plan(tmp_path: Path, tflite_builder: ModuleType) -> None:
    path = tmp_path / "loop.tflite"
    path.write_bytes(tflite_builder.write(looped(tflite_builder)))
    with pytest.raises(ModelError, match=r"operator 0 \(WHILE\): runs other subgraphs"):
        tflm_file(path)


def test_the_model_behind_the_metadata_is_the_same(model: Path, tmp_path: Path) -> None:
    planned = tmp_path / "planned" / "model.tflite"
    planned.parent.mkdir()
    planned.write_bytes(tflm_file(model).data)
    before, after = load_tflite(model), load_tflite(planned)
    assert before == after
    assert read_file(planned).buffers[:-1] == read_file(model).buffers
    assert planned.read_bytes().endswith(model.read_bytes())


def test_every_activation_has_an_offset_and_nothing_else(model: Path) -> None:
    file, graph = tflm_file(model), load_tflite(model)
    content = metadata(file.data, METADATA)
    assert content is not None
    version, subgraph, count, *offsets = unpack(f"<{len(content) // 4}i", content)
    assert (version, subgraph, count) == (1, 0, len(read_file(model).tensors))
    assert count == len(offsets)
    activations = {tensor.index for tensor in graph.tensors if tensor.data is None}
    assert {index for index, offset in enumerate(offsets) if offset >= 0} == activations
    assert all(offset % 16 == 0 for offset in offsets if offset >= 0)


def test_metadata_is_added_and_replaced(model: Path) -> None:
    source = model.read_bytes()
    assert metadata(source, "min_runtime_version") is None
    once = with_metadata(source, "one", b"1")
    both = with_metadata(once, "two", b"22" * 40)
    again = with_metadata(both, "one", b"")
    assert (metadata(both, "one"), metadata(both, "two")) == (b"1", b"22" * 40)
    assert (metadata(again, "one"), metadata(again, "two")) == (b"", b"22" * 40)
    assert both.index(b"22" * 40) % 16 == 0
    assert len(again) % 16 == len(source) % 16, "what is behind stays aligned"


def heads(data: bytes) -> int:
    """Return the bytes that the activations take in the arena of the reference runtime."""
    printed = allocations(data, 1 << 19)
    found = re.search(r"Arena allocation head (\d+) bytes", printed)
    assert found, printed
    return int(found[1])


@pytest.mark.parametrize("network", HEADS)
def test_m4_tflm_runs_with_the_plan(
    network: str, shared_models: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")
    source, planned = shared_models / f"{network}.tflite", tmp_path / "planned.tflite"
    arguments = ["plan", "lagoon", str(source), "--export", "tflm", "-o", str(planned)]
    assert main(arguments) == 0
    assert f"the tensors take {HEADS[network][1]:,} B of the arena" in capfd.readouterr().err
    before, after = (heads(path.read_bytes()) for path in (source, planned))
    assert (before, after) == HEADS[network]
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    graph = load_tflite(planned)
    shape = graph.tensor(graph.inputs[0]).shape
    samples = [[sample.reshape(shape)] for sample in golden["inputs"]]
    found = TFLM.run(planned.read_bytes(), samples, [0], after + TAIL)
    for (answer,), expected in zip(found, golden["outputs_tflm"], strict=True):
        assert answer.tobytes() == expected.tobytes()
