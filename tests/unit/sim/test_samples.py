# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.samples import load_samples, random_sample, save_outputs
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph, Tensor

ONE = Graph("one", (Tensor(name="x", shape=(1, 2, 3), dtype="int8"),), (), ("x",), ("x",))
TWO = Graph(
    "two",
    (Tensor(name="x", shape=(1, 2), dtype="int8"), Tensor(name="y", shape=(4,), dtype="int8")),
    (),
    ("x", "y"),
    ("x", "y"),
)


@pytest.mark.parametrize(
    ("shape", "count"),
    [((1, 2, 3), 1), ((2, 3), 1), ((5, 2, 3), 5), ((5, 1, 2, 3), 5)],
)
def test_one_sample_or_a_batch(tmp_path: Path, shape: tuple[int, ...], count: int) -> None:
    values = np.arange(np.prod(shape), dtype=np.int8).reshape(shape)
    np.save(tmp_path / "x.npy", values)
    samples = load_samples(tmp_path / "x.npy", ONE)
    assert [sample["x"].shape for sample in samples] == [(1, 2, 3)] * count
    assert b"".join(sample["x"].tobytes() for sample in samples) == values.tobytes()


def test_uint8_is_less_by_128(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[0, 1, 127], [128, 200, 255]], np.uint8))
    (sample,) = load_samples(tmp_path / "x.npy", ONE)
    assert sample["x"].tolist() == [[[-128, -127, -1], [0, 72, 127]]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((1, 2, 3), np.int16), "is int16, not int8"),
        (np.zeros((3, 2), np.int8), r"has shape \[3, 2\]"),
        (np.zeros((0, 2, 3), np.int8), r"has shape \[0, 2, 3\]"),
    ],
)
def test_wrong_arrays_are_refused(tmp_path: Path, values: np.ndarray, words: str) -> None:
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(UsageError, match=words):
        load_samples(tmp_path / "x.npy", ONE)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", b"PK\x03\x04broken"])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(UsageError, match="cannot read samples"):
        load_samples(tmp_path / "x.npy", ONE)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(UsageError, match="cannot read samples"):
        load_samples(tmp_path / "x.npy", ONE)


def test_several_inputs_come_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "xy.npz", x=np.ones((3, 2), np.int8), y=np.ones((3, 4), np.int8))
    assert len(load_samples(tmp_path / "xy.npz", TWO)) == 3


def test_inputs_that_disagree_on_the_count(tmp_path: Path) -> None:
    np.savez(tmp_path / "xy.npz", x=np.ones((3, 2), np.int8), y=np.ones((2, 4), np.int8))
    with pytest.raises(UsageError, match="disagree"):
        load_samples(tmp_path / "xy.npz", TWO)


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "xy.npz", x=np.ones((3, 2), np.int8))
    with pytest.raises(UsageError, match="no array 'y'"):
        load_samples(tmp_path / "xy.npz", TWO)


def test_random_samples_are_the_same_every_time() -> None:
    first, second = random_sample(ONE), random_sample(ONE)
    assert first[0]["x"].tobytes() == second[0]["x"].tobytes()


def test_outputs_are_stacked(tmp_path: Path) -> None:
    save_outputs(tmp_path / "o.npy", [{"x": np.full((1, 2), n, np.int8)} for n in range(3)])
    assert np.load(tmp_path / "o.npy").tolist() == [[0, 0], [1, 1], [2, 2]]
