# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of trained networks does without the packages that train them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.trained.oracles import operator_steps, run_tflm, without_tiles
from tests.tflite_builder import Model, Operator, Tensor, write

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_qdq.onnx"


def test_what_is_missing_is_one_message(tmp_path: Path) -> None:
    command = [sys.executable, "-S", "-m", "benchmarks.trained", str(tmp_path)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (1, "")
    assert made.stderr.startswith("training needs these packages too: tensorflow tf_keras tf2onnx")
    assert made.stderr.count("\n") == 1


def test_operators_are_compared_one_by_one() -> None:
    samples = np.random.default_rng(0).uniform(0, 1, (2, 1, 8, 8)).astype(np.float32)
    steps = operator_steps(DIGITS, samples)
    assert steps.operators >= 9
    assert steps.most <= 1
    assert steps.share < 0.05


def test_tflm_repeats_what_it_has_no_tile_for(tmp_path: Path) -> None:
    quantized: dict[str, Any] = {"scales": (0.5,), "zero_points": (3,)}
    times = np.array([1, 3, 1], np.int32)
    model = Model(
        tensors=(
            Tensor(shape=(2, 1, 4), **quantized),
            Tensor(shape=(3,), dtype="int32", data=times),
            Tensor(shape=(2, 3, 4), **quantized),
        ),
        operators=(Operator(code="TILE", inputs=(0, 1), outputs=(2,)),),
        inputs=(0,),
        outputs=(2,),
    )
    path, x = tmp_path / "model.tflite", np.arange(8, dtype=np.int8).reshape(2, 1, 4)
    path.write_bytes(write(model))
    made = run_tflm(path, x[np.newaxis])
    assert made is not None
    np.testing.assert_array_equal(made[0], np.tile(x, times))
    assert without_tiles(path.read_bytes()) != path.read_bytes()
