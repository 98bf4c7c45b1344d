# SPDX-License-Identifier: Apache-2.0
"""The text of every stage of the compiler reads back, for real networks and for each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import tflite_builder
from tests.all_samples import fixed_samples
from tests.differential.generator import random_model
from tests.effort import cases, in_gate

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.ir.graph import Graph
from atoll.ir.read_graph import parse_graph
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
EXAMPLES = (
    "01_digits/digits_int8.tflite",
    "01_digits/digits_qdq.onnx",
    "03_two_networks/sampler.tflite",
    "07_own_accelerator/network.tflite",
)
CHIPS = ("lagoon", "twin", "quad", "stm32h747", "zynqmp")
DRAWN = range(cases(20))


def reads_back(result: object) -> None:
    """Require that what a stage made is what its text is read as."""
    if isinstance(result, Graph):
        assert parse_graph(str(result)) == result
    elif isinstance(result, IRModule):
        assert parse_module(str(result)) == result


def hold(chip: str, model: Path, *refusals: str) -> set[type]:
    """Compile a network and look at every stage; return what kinds of results there were.

    There may be none of the last stages where a refusal has one of these codes.
    """
    kinds: set[type] = set()

    def observe(stage: str, result: object) -> None:
        kinds.add(type(result))
        reads_back(result)

    try:
        compile_file(load_soc(chip), model, observe=observe)
    except AtollError as error:
        if not {fault.code for fault in error.faults} <= {*refusals}:
            raise
    return kinds


@pytest.mark.parametrize("chip", in_gate(CHIPS, 1))
@pytest.mark.parametrize("name", in_gate(EXAMPLES, 1, 3))
def test_p2_stages_of_the_examples(name: str, chip: str) -> None:
    assert hold(chip, ROOT / "examples" / name) >= {Graph, IRModule}


def test_p2_stages_with_the_operator_of_an_ethos_u() -> None:
    assert hold("corstone300_u55", ROOT / "examples" / EXAMPLES[0]) >= {Graph, IRModule}


@pytest.mark.slow
@pytest.mark.parametrize(
    "chip", [*CHIPS, "corstone300_u55", "atoll2", "pulp", "litex", "rp2040", "imxrt1176"]
)
@pytest.mark.parametrize(
    "name", ["ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8"]
)
def test_p2_stages_of_the_mlperf_networks(name: str, chip: str, shared_models: Path) -> None:
    assert hold(chip, shared_models / f"{name}.tflite", "E060", "E062", "E144")


def samples() -> Iterator[bytes]:
    for sample in fixed_samples(tflite_builder):
        yield tflite_builder.write(sample)
    for seed in DRAWN:
        yield tflite_builder.write(random_model(seed))


def test_p2_stages_of_every_kind(tmp_path: Path) -> None:
    path, held = tmp_path / "sample.tflite", 0
    for number, data in enumerate(samples()):
        path.write_bytes(data)
        for chip in ("lagoon", CHIPS[number % len(CHIPS)]):
            held += hold(chip, path, "E054", "E060", "E062", "E067") >= {Graph, IRModule}
    assert held > number
