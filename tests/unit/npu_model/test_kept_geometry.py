# SPDX-License-Identifier: Apache-2.0
"""What is kept of one operator is not taken for another one that differs in values alone."""

from pathlib import Path

from tests import tflite_builder
from tests.operator_samples import SCALE, Tree

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models


def test_means_of_one_image_over_other_axes(tmp_path: Path) -> None:
    """Their shapes are equal: 8x8x16 becomes 8x16 either way."""
    tree = Tree(tflite_builder)
    image = tree.add((1, 8, 8, 16), **SCALE)
    for axis in (1, 2):
        result = tree.add((1, 8, 16), **SCALE)
        tree.apply("MEAN", (image, tree.numbers(axis)), result, "ReducerOptions", KeepDims=False)
    path = tmp_path / "means.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    compiled = compile_file(load_soc("lagoon"), path)
    assert [op.device for op in compiled.graph.operators if op.kind == "mean"] == ["npu", "npu"]
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.NATIVE,
        accelerator=AcceleratorKind.MODEL,
    )
    assert outcome.report.passed
