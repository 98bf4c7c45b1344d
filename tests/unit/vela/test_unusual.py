# SPDX-License-Identifier: Apache-2.0
"""TFLite files with unusual inputs or functions, on a chip with an Ethos-U."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import tflite_builder
from tests.flow_samples import looped
from tests.operator_samples import SCALE, Tree
from tests.unit.vela.test_edges import NPUS, OTHER, compiled, run_well, why_not_there

from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc

pytest.importorskip("ethosu.vela")


def quantised_twice() -> Any:
    """A float32 input that two QUANTIZEs read."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 16), dtype="float32")
    one, two = (tree.apply("QUANTIZE", (x,), tree.add((1, 16), **grid)) for grid in (SCALE, OTHER))
    tree.apply("SUB", (one, two), tree.add((1, 16), **OTHER), "SubOptions")
    return tree.model()


def without_inputs() -> Any:
    """Operators of constants."""
    tree = Tree(tflite_builder)
    operands = tree.weights((3, 4)), tree.weights((3, 4))
    added = tree.apply("ADD", operands, tree.add((3, 4), **SCALE), "AddOptions")
    tree.apply("LOGISTIC", (added,), tree.add((3, 4), scales=(2.0**-8,), zero_points=(-128,)))
    return replace(tree.model(), inputs=())


def single(code: str) -> Any:
    """One operator."""
    tree = Tree(tflite_builder)
    tree.apply(code, (tree.add((1, 16), **SCALE),), tree.add((1, 16), **SCALE))
    return tree.model()


def declared_twice() -> Any:
    """An input that is declared twice."""
    return replace(single("HARD_SWISH"), inputs=(0, 0))


def with_functions() -> Any:
    """Two functions that nobody calls."""
    return replace(single("HARD_SWISH"), others=(single("RELU"), single("RELU")))


def kinds(found: Compiled) -> list[str]:
    """Return what the NPU runs."""
    bodies = [op.body for op in found.graph.operators]
    assert all(bodies)
    return [op.kind for body in bodies if body for op in body.operators]


@pytest.mark.parametrize("npu", ["u55", "u85"])
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (quantised_twice, ["sub"]),
        (without_inputs, ["add", "logistic"]),
        (declared_twice, ["hard_swish"]),
        (with_functions, ["hard_swish"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_it_runs_bit_exactly(
    case: Callable[[], Any], expected: list[str], npu: str, tmp_path: Path
) -> None:
    found = compiled(case(), npu, tmp_path)
    assert kinds(found) == expected
    run_well(found)


def test_the_function_of_a_signature_is_compiled(tmp_path: Path) -> None:
    model = replace(single("HARD_SWISH"), others=(single("RELU"),), signatures=(("run", 1),))
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(model))
    found = compile_file(load_soc("corstone300_u55", NPUS["u55"]), Path(f"{path}#run"))
    assert kinds(found) == ["relu"]
    run_well(found)


def test_functions_that_the_npu_would_run_stay_with_the_core(tmp_path: Path) -> None:
    found = compiled(looped(tflite_builder), "u55", tmp_path)
    whys = why_not_there(found)
    assert whys
    assert all("functions that operators such as WHILE run" in why for why in whys.values())
    run_well(found)
