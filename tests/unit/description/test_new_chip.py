"""'atoll new' writes a chip, and beside it the schema that its first line names to editors."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from atoll.cli import main
from atoll.description.schemas import schema_text
from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml


def named_schema(chip: Path) -> Path:
    """Return the file that the first line of a description names."""
    head, _, target = chip.read_text().partition("\n")[0].partition("$schema=")
    assert head == "# yaml-language-server: "
    return chip.parent / target


def test_the_first_line_leads_to_a_schema_outside_of_any_checkout(tmp_path: Path) -> None:
    chip = tmp_path / "chips" / "mine.yaml"
    chip.parent.mkdir()
    assert main(["new", "mine", "-o", str(chip)]) == 0
    assert main(["check", str(chip)]) == 0
    schema: Any = json.loads(named_schema(chip).read_text())
    assert schema == json.loads(schema_text("soc"))
    validator: Any = jsonschema.Draft202012Validator(schema)
    document: Any = plain(read_yaml(chip))
    validator.validate(document)
    document["devices"]["cpu"]["isa"] = "rv64gcv"
    assert not validator.is_valid(document)


def test_a_schema_that_atoll_wrote_is_written_anew(tmp_path: Path) -> None:
    old = tmp_path / "soc.schema.json"
    old.write_text('{"$comment": "Made by \'atoll schema soc\'."}')
    assert main(["new", "mine", "-o", str(tmp_path / "mine.yaml")]) == 0
    assert old.read_text() == schema_text("soc")


@pytest.mark.parametrize("text", ["{}", "mine"])
def test_a_schema_of_somebody_else_stays(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "soc.schema.json"
    other.write_text(text)
    assert main(["new", "mine", "-o", str(tmp_path / "mine.yaml")]) == 1
    assert "E091" in capsys.readouterr().err
    assert other.read_text() == text
    assert not (tmp_path / "mine.yaml").exists()
