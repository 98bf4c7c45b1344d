# SPDX-License-Identifier: Apache-2.0
"""The exported JSON Schemas agree with the models and with every shipped description."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from atoll.description.json_schemas import schema_text, write_schemas
from atoll.description.share import find_soc, shared_folder
from atoll.description.template import starting_description
from atoll.description.tree import plain
from atoll.description.yaml_text import parse_yaml, read_yaml
from atoll.diagnostics.errors import AtollError

ROOT = Path(__file__).parents[3]
SOCS = sorted((ROOT / "socs").glob("*.yaml"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))
ACCELERATORS = [
    *sorted((ROOT / "hw_sim" / "atoll_sim" / "engines").glob("*/*.yaml")),
    *(path for path in EXAMPLES if path.read_text().partition("\n")[0].count("accelerator.schema")),
]


CORES = sorted((ROOT / "socs" / "cores").glob("*.yaml"))


def validator(which: str) -> Any:
    """Return a validator of the schema called `which`."""
    schema = json.loads(schema_text(which))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_committed_schemas_are_current(tmp_path: Path) -> None:
    for path in write_schemas(tmp_path):
        assert path.read_text() == (ROOT / "schemas" / path.name).read_text(), (
            "run 'atoll schema' and commit the result"
        )


@pytest.mark.parametrize("path", SOCS, ids=lambda path: path.stem)
def test_shipped_chips_validate(path: Path) -> None:
    validator("soc").validate(plain(read_yaml(path)))


@pytest.mark.parametrize("path", ACCELERATORS, ids=lambda path: path.stem)
def test_shipped_accelerators_validate(path: Path) -> None:
    validator("accelerator").validate(plain(read_yaml(path)))


@pytest.mark.parametrize("path", CORES, ids=lambda path: path.stem)
def test_shipped_cores_validate(path: Path) -> None:
    validator("core").validate(plain(read_yaml(path)))


@pytest.mark.parametrize("path", [*SOCS, *ACCELERATORS, *CORES], ids=lambda path: path.stem)
def test_the_first_line_names_a_schema_that_is_there(path: Path) -> None:
    head, _, target = path.read_text().partition("\n")[0].partition("$schema=")
    assert head == "# yaml-language-server: "
    assert (path.parent / target).is_file()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", "version: 2"),
        ("kind: cpu", "kind: gpu"),
        ("irq: 3", "irq: x"),
        ("banks: 4", "banks: 3"),
        ("size: 8 KiB", "size: 8 KB"),
        ("  shared:", "  Shared:"),
        ("host: cpu", "hosts: cpu"),
        ("    isa: rv32imc\n", ""),
    ],
)
def test_the_schema_refuses_what_the_models_refuse(old: str, new: str) -> None:
    text = (ROOT / "socs" / "lagoon.yaml").read_text()
    assert old in text
    document = plain(parse_yaml(text.replace(old, new, 1), Path("x")))
    assert not validator("soc").is_valid(document)


def test_a_description_that_extends_another_may_leave_keys_out() -> None:
    assert validator("soc").is_valid({"extends": "lagoon.yaml", "devices": {"npu": {"irq": 4}}})
    assert not validator("soc").is_valid({"extends": "lagoon.yaml", "hots": "cpu"})
    assert not validator("soc").is_valid({"soc": "x"})


def test_numbers_may_be_text_as_yaml_1_2_reads_them() -> None:
    document: Any = plain(read_yaml(ROOT / "socs" / "lagoon.yaml"))
    document["memories"]["sram"]["origin"] = "0x2000_0000"
    validator("soc").validate(document)


@pytest.mark.parametrize(
    ("operators", "valid"),
    [
        ({"ADD": {"limits": {"elements": {"max": 9}}, "cost": "1 + elements"}}, True),
        ({"ADD": {"limits": {"elemens": {"max": 9}}}}, False),
        ({"ADD": {"limits": {"most": {"max": 9}}, "values": {"most": "elements"}}}, True),
        ({"OWN": {"pattern": {"one": "CONV_2D", "two": "ADD(one, _)"}, "cost": 1}}, True),
        ({"OWN": {"pattern": {"one": "conv"}}}, False),
        ({"ADD": {"costs": 1}}, False),
        ({"add": {}}, False),
    ],
)
def test_operators_of_accelerators(operators: dict[str, object], valid: bool) -> None:
    document = {"accelerator": "mine", "version": 1, "operators": operators}
    assert validator("accelerator").is_valid(document) == valid


@pytest.mark.parametrize(
    ("driver", "valid"), [("command_list", True), ("./mine.c", True), ("x", 0)]
)
def test_drivers_of_accelerators(driver: str, valid: bool) -> None:
    document = {"accelerator": "a", "version": 1, "operators": {"ADD": {}}, "driver": driver}
    assert validator("accelerator").is_valid(document) == bool(valid)


def test_unknown_schema() -> None:
    with pytest.raises(AtollError, match="use one of soc, accelerator"):
        schema_text("sox")


@pytest.mark.parametrize("name", ["chip", "a", "x" * 32])
def test_the_template_validates(name: str) -> None:
    document: Any = plain(parse_yaml(starting_description(name), Path("x")))
    assert document["soc"] == name
    validator("soc").validate(document)


@pytest.mark.parametrize("name", ["Chip", "", "int", "x" * 33, "a-b", "../x", "a: b"])
def test_names_that_no_chip_can_have(name: str) -> None:
    with pytest.raises(AtollError, match="E099"):
        starting_description(name)


def test_chips_are_found_by_name_or_path(tmp_path: Path) -> None:
    assert find_soc("lagoon") == shared_folder("socs") / "lagoon.yaml"
    assert find_soc("lagoon.yaml") == Path("lagoon.yaml")
    assert find_soc(tmp_path / "any") == tmp_path / "any"
    with pytest.raises(AtollError, match="did you mean 'lagoon'"):
        find_soc("lagon")


def test_shipped_chips_are_found_from_anywhere(tmp_path: Path) -> None:
    program = "from atoll.resolve import load_soc; print(load_soc('lagoon').name)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout == "lagoon\n"
