# SPDX-License-Identifier: Apache-2.0
"""`--json` of every command: one JSON text that its schema allows, faults too."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.importing.vendor import SVD
from typer.testing import CliRunner

from atoll.cli import app, main
from atoll.cli.group import CommandGroup
from atoll.report.json_shapes import FAULTS
from atoll.report.output_schemas import OUTPUTS
from atoll.report.schema_files import schema_names, schema_text, write_schemas

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
SAMPLER = str(ROOT / "examples" / "03_two_networks" / "sampler.tflite")
SWEEP = str(ROOT / "examples" / "14_sweep" / "lanes.yaml")
HELD_OUT = str(ROOT / "examples" / "01_digits" / "digits_test.npz")
NATIVE = ["--cpu", "native", "--accelerator", "model"]
UNITS = re.compile(r"(size|offset|used|bound|peak|limit|watermark|clock|wall|gap|seconds)$")

IDEA = "accelerator: idea\nversion: 1\noperators: {ADD: {cost: 100 + elements}}\n"
COMMANDS: dict[str, list[str]] = {
    "check": ["check", "lagoon"],
    "explain": ["explain", "lagoon"],
    "explain_all_kinds": ["explain", "twin"],
    "explain_network": ["explain", "lagoon", DIGITS],
    "explain_buffer": ["explain", "lagoon", DIGITS, "--buffer", "conv_2d_0_out"],
    "explain_candidates": ["explain", "lagoon", DIGITS, "--candidates"],
    "explain_stack": ["explain", "lagoon", DIGITS, "--no-accelerators"],
    "plan": ["plan", "lagoon", DIGITS],
    "plan_instance": ["plan", "--instance", "instance.csv"],
    "estimate": ["estimate", "lagoon", DIGITS],
    "estimate_two": ["estimate", "twin", DIGITS, SAMPLER],
    "sweep": ["sweep", SWEEP, "-o", "swept", "--workers", "0"],
    "build": ["build", "lagoon", DIGITS, "-o", "out"],
    "build_two": ["build", "twin", DIGITS, SAMPLER, "-o", "out"],
    "opt": ["opt", DIGITS, "--soc", "lagoon", "--pass", "plan-devices", "--pass", "lower"],
    "opt_list": ["opt", "--list"],
    "run": ["run", "lagoon", DIGITS, *NATIVE],
    "run_dataset": ["run", "lagoon", DIGITS, "--dataset", HELD_OUT, *NATIVE],
    "operators": ["operators"],
    "operators_of_a_chip": ["operators", "twin"],
    "doctor": ["doctor"],
    "new": ["new", "chip"],
    "import": ["import", "chip.svd", "-o", "chip.yaml"],
    "diff": ["diff", "lagoon", "atoll2"],
    "report": ["report", "lagoon", DIGITS],
    "accelerator": ["accelerator", "test", "idea.yaml", "--operators", "2"],
    "schema": ["schema", "--write", "schemas"],
}
RTL: dict[str, list[str]] = {
    "run_two": ["run", "lagoon", DIGITS, SAMPLER],
    "simulate": ["simulate", "out"],
    "validate": ["validate", "lagoon", DIGITS, "--mutants", "2", "--faults", "2"],
    "core": ["core", "test", "picorv32"],
}
WRONG: dict[str, list[str]] = {
    "check": ["check", "bad.yaml"],
    "check_clash": ["check", str(ROOT / "tests" / "bad" / "overlapping_memories.yaml")],
    "explain": ["explain", "lagoon", "absent.tflite"],
    "plan": ["plan"],
    "plan_instance": ["plan", "--instance", "bad.yaml"],
    "estimate": ["estimate", "absent_chip", DIGITS],
    "estimate_model": ["estimate", "lagoon", "absent.tflite"],
    "sweep": ["sweep", "bad.yaml"],
    "build": ["build", "lagoon", DIGITS, "-o", "out", "--place", "x=y"],
    "build_dump": ["build", "lagoon", DIGITS, "-o", "out", "--dump-after", "memory"],
    "opt": ["opt", DIGITS, "--pass", "absent"],
    "run": ["run", "lagoon", DIGITS, "--input", "absent.npy"],
    "simulate": ["simulate", "absent"],
    "validate": ["validate", "lagoon", "absent.tflite"],
    "core": ["core", "test", "picorv23"],
    "accelerator": ["accelerator", "test", "absent.yaml"],
    "operators": ["operators", "--set", "devices.cpu.isa=rv32im"],
    "doctor": ["doctor", "--unknown"],
    "new": ["new", "Not-A-Name"],
    "import": ["import", "absent.svd", "-o", "chip.yaml"],
    "diff": ["diff", "lagoon", "absent.yaml"],
    "report": ["report", "absent.json"],
    "schema": ["schema", "sox"],
    "unknown": ["unheard-of"],
}


def keys_of(data: Any) -> Iterator[tuple[str, Any]]:
    match data:
        case dict():
            yield from data.items()
            for value in data.values():
                yield from keys_of(value)
        case list():
            for value in data:
                yield from keys_of(value)


def judged(command: str, text: str) -> Any:
    """Return the data of a JSON text that the schema of a command allows."""
    data = json.loads(text)
    schema = json.loads(schema_text(f"{command}-output"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema["anyOf"][0]).validate(data)
    jsonschema.Draft202012Validator(schema).validate(data)
    bare = [k for k, v in keys_of(data) if UNITS.search(k) and type(v) in (int, float)]
    assert bare == [], "numbers without a unit"
    assert not [key for key, value in keys_of(data) if re.fullmatch("0x[0-9a-f]+", str(value))]
    return data


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("instance.csv").write_text("id,lower,upper,size\na,0,2,64\n")
    Path("chip.svd").write_text(SVD)
    Path("idea.yaml").write_text(IDEA)
    Path("bad.yaml").write_text("soc: x\nversion: 1\nwrong: 2\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMANDS[name], "--json"]) == 0
    judged(COMMANDS[name][0], capsys.readouterr().out)


@pytest.mark.rtl
@pytest.mark.parametrize(
    "name",
    [*list(RTL)[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in list(RTL)[2:])],
)
def test_commands_that_simulate(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "simulate":
        assert main(["build", "lagoon", DIGITS, "-o", "out"]) == 0
        capsys.readouterr()
    assert main([*RTL[name], "--json"]) == 0
    data = judged(RTL[name][0], capsys.readouterr().out)
    assert isinstance(data, list) == (name == "run_two")


@pytest.mark.parametrize("name", WRONG)
def test_faults_are_json_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WRONG[name], "--json"]) == 1
    out, err = capsys.readouterr()
    data = json.loads(out)
    jsonschema.Draft202012Validator(FAULTS).validate(data)
    assert err == ""
    assert all(fault["remedy"] for fault in data["faults"])
    if name in OUTPUTS:
        schema = json.loads(schema_text(f"{name}-output"))
        jsonschema.Draft202012Validator(schema).validate(data)


def test_places_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WRONG["check"], "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    unknown = next(fault for fault in faults if fault["code"] == "E011")
    assert unknown["at"] == {"path": "bad.yaml", "line": 3, "column": 1}
    assert main([*WRONG["check_clash"], "--json"]) == 1
    (clash,) = json.loads(capsys.readouterr().out)["faults"]
    assert clash["other"]["at"]["line"] != clash["at"]["line"]


def test_every_command_has_the_option_and_a_schema() -> None:
    servers = {"lsp", "serve"}
    """They answer others until they are ended."""
    commands = {*CommandGroup().list_commands(None)} - servers
    assert commands == set(OUTPUTS)
    assert {command for command in commands if "--json" in _help(command)} == commands


def test_the_help_of_all_has_the_first_sentence_of_each() -> None:
    group = CommandGroup()
    for command in group.list_commands(None):
        assert _help(command).split("\n\n")[1].strip() == group.get_command(None, command).help


def _help(command: str) -> str:
    return CliRunner().invoke(app, [command, "--help"]).output


def test_the_committed_schemas_are_current(tmp_path: Path) -> None:
    written = write_schemas(tmp_path)
    assert len(written) == len(schema_names())
    for path in written:
        assert path.read_text() == (ROOT / "schemas" / path.name).read_text(), "run `make schemas`"
