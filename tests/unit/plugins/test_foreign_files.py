# SPDX-License-Identifier: Apache-2.0
"""Front ends and BSP emitters of other packages may be broken: each fault is one error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.bsp.emitters import bsp_files
from atoll.bsp.interface import ModelInterface
from atoll.diagnostics.errors import AtollError
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.resolve import load_soc

Install = Callable[[str, str, str], None]
HELP = "\n  help: correct it as docs/extending.md shows, or remove the package"

FRONT_END = """
from dataclasses import replace
from atoll.frontend.front_end import FrontEnd
from atoll.ir.graph import Graph, Operator, Tensor

def op(name, inputs, outputs, kind="add"):
    return Operator(name=name, kind=kind, inputs=inputs, outputs=outputs, attributes={})

def graph(tensors, operators, inputs=("x",), outputs=("y",)):
    made = tuple(Tensor(name=name, shape=(4,), dtype="int8") for name in tensors)
    return Graph("g", made, operators, inputs, outputs)

class Mine(FrontEnd):
    suffix = ".mine"
    def load(self, path): return LOAD

MINE = Mine()
"""


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(AtollError) as caught:
        action()
    return str(caught.value)


def mine(install: Install, folder: Path, load: str) -> Callable[[], Graph]:
    install("mine", FRONT_END.replace("LOAD", load), "[atoll.frontends]\nmine = mine:MINE\n")
    path = folder / "net.mine"
    path.write_text("")
    return lambda: load_network(path)


ADD = "op('a', ('x', 'x'), ('y',))"
WRONG = {
    f"replace(graph('xy', ({ADD},)), tensors=())": "a graph in which 'the caller' writes"
    " 'x', which it cannot write",
    "3": "an object of type 'int'",
    f"graph('xy', ({ADD}, {ADD}))": "a graph with two things called 'a'",
    f"graph(('x', 'y-'), ({ADD},))": "a graph with the name 'y-', which is no identifier in C",
    "graph('xy', (op('a', ('y',), ('y',)),))": "a graph in which 'a' reads 'y' before"
    " it is written",
    f"graph('x', ({ADD},))": "a graph in which 'a' writes 'y', which it cannot write",
    "graph('xy', ())": "a graph with output 'y', which nothing writes",
    "graph('xy', (op('a', ('x',), ('y',), 'ad'),))": "a graph with an operator of kind 'ad',"
    " which there is not",
}


@pytest.mark.parametrize("load", WRONG)
def test_a_front_end_that_returns_no_graph(load: str, install: Install, tmp_path: Path) -> None:
    said = refusal(mine(install, tmp_path, load))
    path = tmp_path / "net.mine"
    assert said == (
        f"error[E112]: front end 'mine': 'load' for {path} returned {WRONG[load]}{HELP}"
    )


def test_a_front_end_that_fails(install: Install, tmp_path: Path) -> None:
    said = refusal(mine(install, tmp_path, "path.nothing"))
    assert said.startswith("error[E111]: front end 'mine': 'load' failed: AttributeError")


def test_a_front_end_is_asked_neither_for_tflite_nor_for_what_is_not_there(
    install: Install, tmp_path: Path
) -> None:
    install("broken", "1 / 0", "[atoll.frontends]\nmine = broken:MEMBER\n")
    assert "E050" in refusal(lambda: load_network(tmp_path / "net.mine"))
    digits = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
    renamed = tmp_path / "digits.bin"
    renamed.write_bytes(digits.read_bytes())
    assert load_network(renamed).name == "digits"
    (tmp_path / "net.mine").write_text("")
    assert "E041" in refusal(lambda: load_network(tmp_path / "net.mine"))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("1 / 0", "error[E111]: BSP emitter 'mine' failed: ZeroDivisionError"),
        ("return 3", "error[E112]: BSP emitter 'mine' returned 3, no texts by plain file name"),
        ("return {'../x': ''}", "error[E112]: BSP emitter 'mine' returned {'../x': ''}, no texts"),
        ("return {'x': 3}", "error[E112]: BSP emitter 'mine' returned {'x': 3}, no texts"),
        (
            "return {'main.c': ''}",
            "error[E075]: a file of BSP emitter 'application' and a file of BSP emitter 'mine' "
            "would both be called 'main.c' in the BSP",
        ),
    ],
)
def test_a_broken_emitter(body: str, error: str, install: Install) -> None:
    code = f"def call(soc, models, origins):\n    {body}\n"
    install("emitter", code, "[atoll.emitters]\nmine = emitter:call\n")
    model = ModelInterface(name="m", inputs=(), outputs=())
    assert refusal(lambda: bsp_files(load_soc("lagoon"), model)).startswith(error)
