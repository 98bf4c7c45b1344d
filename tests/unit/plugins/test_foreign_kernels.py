# SPDX-License-Identifier: Apache-2.0
"""Operators of other packages: scalar functions of their own, and answers that are none."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.frontend.registry import load_network
from atoll.ops.registry import kind_of

Install = Callable[[str, str, str], None]

HALVES = """
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import binary
from atoll.ir.tir import Call, Operation, Type
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import OperatorKind
from atoll.ops.tflite_form import TfliteForm

def half():
    builder = FunctionBuilder("halves_half")
    return builder.function(binary(Operation.SHR, builder.scalar("x"), 1))

class Halves(OperatorKind):
    tflite = TfliteForm(code="CUSTOM Halves")
    def check(self, op, graph): pass
    def reference(self, op, graph, inputs): return (inputs[0] >> 1,)
    def overlap(self, op, graph): return (0,)
    def lower(self, op, graph):
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with builder.loop("i", 0, graph.results(op)[0].elements) as i:
            y[i] = Call("halves_half", (x.wide(i),), Type.I32)
        return builder.lowered((half(),))

HALVES = Halves()
"""
POINTS = "[atoll.operators]\nhalves = halves:HALVES\n"


@pytest.fixture
def halves(tflite_builder: ModuleType, tmp_path: Path) -> Path:
    """A network of two custom operators ``Halves``."""
    tensors = (tflite_builder.Tensor(shape=(9,), scales=(0.5,), zero_points=(0,)),) * 3
    operators = tuple(
        tflite_builder.Operator(code="CUSTOM", custom="Halves", inputs=(at,), outputs=(at + 1,))
        for at in (0, 1)
    )
    model = tflite_builder.Model(tensors=tensors, operators=operators, inputs=(0,), outputs=(2,))
    path = tmp_path / "halves.tflite"
    path.write_bytes(tflite_builder.write(model))
    return path


def test_a_kernel_may_call_scalar_functions_of_its_own(
    install: Install, halves: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("halves", HALVES, POINTS)
    assert main(["run", "lagoon", str(halves), "--cpu", "native", "--accelerator", "model"]) == 0
    assert "3 of 3 layers bit-exact" in capsys.readouterr().out


def test_a_kernel_that_computes_something_else_is_found(
    install: Install, halves: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("halves", HALVES.replace("inputs[0] >> 1", "inputs[0] >> 2"), POINTS)
    assert main(["run", "lagoon", str(halves), "--cpu", "native", "--accelerator", "model"]) == 1
    out = capsys.readouterr().out
    assert "halves_0_out of halves_0 on cpu differs in 9 elements" in out, out


REFERENCE = "def reference(self, op, graph, inputs): return (inputs[0] >> 1,)"
OVERLAP = "def overlap(self, op, graph): return (0,)"


@pytest.mark.parametrize(
    ("old", "new", "method", "said"),
    [
        (OVERLAP, f"{OVERLAP}\n    def features(self, op, graph): return 3", "features", "3, not"),
        (OVERLAP, f"{OVERLAP}\n    def features(self, op, graph): return {{}}", "features", "{}"),
        (REFERENCE, REFERENCE.replace("(inputs[0] >> 1,)", "inputs[0]"), "reference", "array("),
        (REFERENCE, REFERENCE.replace(">> 1", "/ 2"), "reference", "(array("),
        ("return builder.lowered((half(),))", "return builder", "lower", "<"),
        (OVERLAP, OVERLAP.replace("(0,)", "(-1,)"), "overlap", "(-1,), not"),
        (OVERLAP, OVERLAP.replace("(0,)", "()"), "overlap", "(), not"),
        (OVERLAP, f"{OVERLAP}\n    def cycles(self, op, graph): return 0.5", "cycles", "0.5, not"),
    ],
)
def test_an_answer_that_is_none(
    old: str, new: str, method: str, said: str, install: Install, halves: Path
) -> None:
    assert old in HALVES
    install("halves", HALVES.replace(old, new), POINTS)
    graph = load_network(halves)
    op = graph.operators[0]
    further = ([np.zeros(9, np.int8)],) if method == "reference" else ()
    with pytest.raises(AtollError) as caught:
        getattr(kind_of(op), method)(op, graph, *further)
    start = f"error[E112]: operator 'halves': '{method}' for 'halves_0' returned {said}"
    assert str(caught.value).startswith(start)


def test_a_program_that_breaks_the_rules_is_one_error(
    install: Install, halves: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "halves",
        HALVES.replace("return builder.lowered((half(),))", "return builder.lowered()"),
        POINTS,
    )
    assert main(["plan", "lagoon", str(halves)]) == 1
    assert capsys.readouterr().err.startswith("error[E078]: function 'halves_0'")
