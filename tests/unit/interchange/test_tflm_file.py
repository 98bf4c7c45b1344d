# SPDX-License-Identifier: Apache-2.0
"""A plan in a TFLite file: TFLM reads it, and nothing else of the file changes."""

import json
import re
from pathlib import Path
from struct import pack, unpack
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.flow_samples import looped
from tests.tflm_process import TFLM, allocations

from atoll.cli import main
from atoll.diagnostics.errors import ModelError
from atoll.frontend.registry import Source
from atoll.frontend.tflite.load import load_tflite
from atoll.frontend.tflite.metadata import metadata_of, with_metadata
from atoll.frontend.tflite.reader import read_file
from atoll.interchange.tflm_arena import METADATA
from atoll.interchange.tflm_file import tflm_file
from atoll.interchange.tflm_given import GivenPlan, given_plan

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
    content = metadata_of(file.data, METADATA)
    assert content is not None
    version, subgraph, count, *offsets = unpack(f"<{len(content) // 4}i", content)
    assert (version, subgraph, count) == (1, 0, len(read_file(model).tensors))
    assert count == len(offsets)
    activations = {tensor.index for tensor in graph.tensors if tensor.data is None}
    assert {index for index, offset in enumerate(offsets) if offset >= 0} == activations
    assert all(offset % 16 == 0 for offset in offsets if offset >= 0)


def test_metadata_is_added_and_replaced(model: Path) -> None:
    source = model.read_bytes()
    assert metadata_of(source, "min_runtime_version") is None
    once = with_metadata(source, "one", b"1")
    both = with_metadata(once, "two", b"22" * 40)
    again = with_metadata(both, "one", b"")
    assert (metadata_of(both, "one"), metadata_of(both, "two")) == (b"1", b"22" * 40)
    assert (metadata_of(again, "one"), metadata_of(again, "two")) == (b"", b"22" * 40)
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


def of_file(model: Path, data: bytes) -> GivenPlan | None:
    path = model.with_name("given.tflite")
    path.write_bytes(data)
    return given_plan(Source(suffix=".tflite", data=data, path=path))


def changed(data: bytes, at: int, word: int) -> bytes:
    """Return a file with another word in its plan."""
    content = metadata_of(data, METADATA)
    assert content
    return with_metadata(
        data, METADATA, content[: 4 * at] + pack("<i", word) + content[4 * at + 4 :]
    )


def test_a_plan_that_a_file_has_is_held_against_the_network(model: Path) -> None:
    made = tflm_file(model)
    assert of_file(model, model.read_bytes()) is None
    given = of_file(model, made.data)
    assert given
    assert given.used is not None
    assert (given.left, given.faults) == ((), ())
    assert made.plan.use["arena"].used - 16 < given.used <= made.plan.use["arena"].used
    graph = load_tflite(model)
    places = {3 + graph.tensor(name).index for name in made.plan.placements}
    apart = of_file(model, changed(made.data, min(places), -1))
    assert apart
    assert (len(apart.left), apart.faults) == (1, ())
    assert "1 tensor that TFLM places itself; no two" in str(apart)
    skew = of_file(model, changed(made.data, min(places), 1 << 20 | 4))
    assert skew
    assert "is at 1048580, and may be at 0 or a multiple of 16" in str(skew)


def test_every_clash_of_a_given_plan_is_told(model: Path) -> None:
    made, graph = tflm_file(model), load_tflite(model)
    first = graph.operators[0]
    one, other = first.inputs[0], first.outputs[0]
    at = made.plan.placements[one].offset
    wrong = of_file(model, changed(made.data, 3 + graph.tensor(other).index, at))
    assert wrong
    assert any(f"'{one}'" in each and f"'{other}'" in each for each in wrong.faults), wrong
    assert str(wrong).startswith("the file has a plan for TFLM, ")
    assert ", which is wrong: " in str(wrong)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "does not begin with version 1"),
        (b"123", "does not begin with version 1"),
        (pack("<3i", 2, 0, 0), "does not begin with version 1"),
        (pack("<4i", 1, 0, 1, 0), "it has 1 offsets for"),
        (pack("<3i", 1, 0, 10_000), "it has 0 offsets for"),
        (pack("<3i", 1, 0, -5), "it has -5 offsets for"),
    ],
)
def test_a_damaged_plan_is_no_plan(content: bytes, said: str, model: Path) -> None:
    found = of_file(model, with_metadata(model.read_bytes(), METADATA, content))
    assert found
    assert said in str(found)
    assert " B of its arena" not in str(found)


def test_the_plan_of_a_file_is_told_beside_atolls_own(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    planned = tmp_path / "planned.tflite"
    planned.write_bytes(tflm_file(model).data)
    assert main(["plan", "lagoon", str(planned)]) == 0
    said = " ".join(capfd.readouterr().err.split())
    assert "note: the file has a plan for TFLM, " in said
    assert "no two tensors overlap that are needed at once" in said
    assert main(["plan", "lagoon", str(planned), "--json"]) == 0
    notes = json.loads(capfd.readouterr().out)["notes"]
    assert any("the file has a plan for TFLM" in each for each in notes)
