"""P2, S2: each situation of SEMANTICS annex A as a user has it: chip, model file and command.

The golden text is the command line and what it prints. A file of tests/golden/place says the
situation; the chip of the same pools is in tests/data/situations, the model is that file's graph.
"""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ir.graph_tflite import file_names, tflite, without_copies

from atoll.cli import main
from atoll.ir.graph import Graph
from atoll.ir.read_graph import parse_graph
from atoll.ops.registry import COPY
from atoll.resolve import load_soc

TESTS = Path(__file__).parents[1]
SITUATIONS = sorted((TESTS / "golden" / "place").glob("*.txt"))
TOLD = TESTS / "golden" / "place_scopes"
CHIPS = sorted((TESTS / "data" / "situations").glob("*.yaml"))

Capture = pytest.CaptureFixture[str]

READ_WHERE = {
    "03": "--pin add_0_out=gpu_ram:in",
    "06": "--pin add_0_out=gpu_ram:in",
    "12": "--set-scope add_1=global.dsp_ram:in",
}
"""What a user asks for in the place of a copy that the graph has and a file cannot have."""


Pools = set[tuple[str, int, str, frozenset[tuple[str, str]]]]


def pools(text: str) -> Pools:
    rows = re.findall(r"^pool (\w+) (\d+) (\w+): (.*)$", text, re.M)
    return {
        (name, int(size), role, frozenset(re.findall(r"(\w+) (\w+)", reach)))
        for name, size, role, reach in rows
    }


def pools_of(chip: Path) -> Pools:
    return {
        (
            pool.name,
            pool.region.size,
            pool.role,
            frozenset(
                (name, str(access)) for name, access in pool.reach.items() if access != "none"
            ),
        )
        for pool in load_soc(str(chip)).pools
    }


def requests(text: str, graph: Graph) -> Iterator[str]:
    """Yield the options of a situation, with the names of the model file."""
    names, of = file_names(graph), without_copies(graph)
    for name, device in re.findall(r"^place (\w+)=(\w+)$", text, re.M):
        yield f"--place {names[name]}={device}"
    for name, wanted in re.findall(r"^pin (\w+)=(.*)$", text, re.M):
        side = "" if of[name] == name else ":in"
        yield f"--pin {names[of[name]]}={wanted}{side}"
    for tensor in graph.tensors:
        for pool in tensor.pools:
            yield f"--pin {names[tensor.name]}={pool}:out"
    for name in re.findall(r"^free (\w+)$", text, re.M):
        yield f"--free {names[name]}"


class Told:
    """A situation in an empty folder, and the command that tells its scopes."""

    def __init__(self, path: Path, folder: Path) -> None:
        given, _, planned = path.read_text().partition("planned: ")
        self.graph, self.planned = map(parse_graph, map(graph_of, (given, planned)))
        (chip,) = (each for each in CHIPS if pools_of(each) == pools(given))
        shutil.copy(chip, folder)
        (folder / f"{path.stem}.tflite").write_bytes(tflite(self.graph))
        asked = [*requests(given, self.graph), READ_WHERE.get(path.stem[:2], "")]
        words = f"explain {chip.name} {path.stem}.tflite --scopes {' '.join(asked)}"
        self.command = shlex.split(words)
        self.limit = int(re.findall(r"^at most (\d+) cop", given, re.M)[0])


def graph_of(text: str) -> str:
    return text[text.index("graph m(") :].rstrip("\n")


def devices(said: str) -> dict[str, str]:
    """Return the device of each operator, and of each tensor that has one, as people read it."""
    numbers = re.findall(r"^  (\w+)  SEScope\(device_type=cpu, virtual_device_id=(\d+)", said, re.M)
    names = {number: name for name, number in numbers}
    found = re.findall(
        r"^  (\w+)\n(?:    .*\n)*?    default  SEScope\([^)]*virtual_device_id=(\d+)", said, re.M
    )
    return {name: names[number] for name, number in found}


@pytest.mark.parametrize("path", SITUATIONS, ids=lambda path: path.stem)
def test_p2_s2_explain_tells_the_scopes_of_a_situation(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    golden: Callable[[Path, str], None],
) -> None:
    """The devices are those of the planned graph, which has no model file, and so are the copies.

    An operator that became a view has none in the planned graph.
    """
    monkeypatch.chdir(tmp_path)
    told = Told(path, tmp_path)
    assert main(told.command) == 0
    said = capsys.readouterr().out
    where = devices(said)
    names = file_names(told.graph)
    written = [op for op in told.graph.operators if op.kind != COPY]
    placed = {op.name: op.device for op in told.planned.operators}
    for op in written:
        assert f"\n  {names[op.name]}\n" in said
        if op.name in placed:
            assert where[names[op.name]] == placed[op.name]
    copies = len(re.findall(r"^  copy_\d+$", said, re.M))
    assert copies == sum(op.kind == COPY for op in told.planned.operators) <= told.limit
    golden(TOLD / path.name, f"$ atoll {shlex.join(told.command)}\n{said}")
