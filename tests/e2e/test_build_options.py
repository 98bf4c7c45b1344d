# SPDX-License-Identifier: Apache-2.0
"""P1, P4: what a user asks for reaches the plan, the run and the build folder."""

from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ops.registry import COPY
from atoll.resolve import load_soc
from atoll_sim.host.native_run import run_native
from atoll_sim.inputs.build_folder import open_build
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
ISLANDS = ROOT / "tests" / "data" / "islands.yaml"
OPTIONS = """\
place: {conv_2d_2: cpu}
pin: {add_3_out: private:out, conv_2d_0_out: {pool: shared, applies: both}}
free: [conv_2d_0_out]
overlap: all
"""


@pytest.fixture
def compiled(tmp_path: Path) -> Compiled:
    """Return digits with options of a file and of the command line."""
    path = tmp_path / "options.yaml"
    path.write_text(OPTIONS)
    requests = load_requests(path, ["fully_connected_8=cpu"])
    return compile_file(load_soc("lagoon"), DIGITS, BuildOptions(requests=requests))


def test_p1_devices_and_pools_are_those_asked_for(compiled: Compiled) -> None:
    devices = {op.name: op.device for op in compiled.graph.operators}
    assert devices["conv_2d_2"] == devices["fully_connected_8"] == "cpu"
    assert devices["conv_2d_0"] == devices["conv_2d_5"] == "npu"
    assert compiled.plan.placements["add_3_out"].pool == "private"
    assert compiled.plan.placements["conv_2d_0_out"].pool == "shared"
    # The accelerator reads what the core wrote into its private memory: one copy.
    assert sum(op.kind == COPY for op in compiled.graph.operators) == 1


def test_p1_the_result_is_bit_exact(compiled: Compiled) -> None:
    report = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.NATIVE,
        accelerator=AcceleratorKind.MODEL,
    )[0].report
    assert report.passed


def test_p1_a_build_folder_keeps_its_options(compiled: Compiled, tmp_path: Path) -> None:
    tree = build((compiled,), tmp_path / "out")
    again = open_build(tree.folder).compiled
    assert again.graph == compiled.graph
    assert again.options == compiled.options


def test_p1_both_commands_take_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    native = ["run", "lagoon", str(DIGITS), "--cpu", "native", "--accelerator", "model", "--brief"]
    wishes = ["--place", "conv_2d_0=cpu", "--pin", "add_3_out=private:out", "--free", "image"]
    assert main([*native, *wishes]) == 0
    assert "11 of 11 layers bit-exact" in capsys.readouterr().out
    dump = ["--dump-after", "place"]
    assert main(["build", "lagoon", str(DIGITS), "-o", "/dev/null", *wishes, *dump]) == 1
    assert "%add_3_out: int8[1x8x8x24] in private" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["build", "run"])
def test_p7_an_unknown_operator_is_one_message(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "options.yaml"
    path.write_text("place: {conv_2d_1: npu}\n")
    output = ["-o", str(tmp_path / "out")] if command == "build" else []
    assert main([command, "lagoon", str(DIGITS), "--build", str(path), *output]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{path}:1:9: error[E025]: build options name operator 'conv_2d_1', which does not exist",
        "    1 | place: {conv_2d_1: npu}",
        "                ^",
        "  help: did you mean 'conv_2d_5'? If not, delete it",
    ]


@pytest.mark.parametrize(("soc", "copies"), [("lagoon", 0), (str(ISLANDS), 3)])
def test_p5_digits_copies_only_where_memories_are_apart(soc: str, copies: int) -> None:
    compiled = compile_file(load_soc(soc), DIGITS)
    assert sum(op.kind == COPY for op in compiled.graph.operators) == copies


def test_p5_the_simulator_moves_the_bytes_that_the_plan_copies() -> None:
    compiled = compile_file(load_soc(ISLANDS), DIGITS)
    graph = compiled.graph
    copies = {number: op for number, op in enumerate(graph.operators) if op.kind == COPY}
    planned = {op.outputs[0]: graph.results(op)[0].size for op in copies.values()}
    (layers,) = run_native((compiled,), (random_sample(graph),)).layers
    written = [layers[number].items() for number in copies]
    moved = {tensor: len(data) for tensors in written for tensor, data in tensors}
    assert moved == planned
    assert sum(moved.values()) == 1536 + 1536 + 384
