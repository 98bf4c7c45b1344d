# SPDX-License-Identifier: Apache-2.0
"""What a package says of itself: MLF metadata and an SPDX document."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import UsageError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module", params=["lagoon", "twin"])
def compiled(request: pytest.FixtureRequest) -> Compiled:
    return compile_file(load_soc(request.param), DIGITS)


@pytest.fixture
def board(compiled: Compiled) -> Board:
    return Board.of(compiled.soc, [compiled], [random_sample(compiled.graph)])


def written(board: Board, emitter: str) -> tuple[str, dict[str, Any]]:
    ((path, entry),) = package_files(board, [emitter])[emitter].items()
    document: dict[str, Any] = json.loads(entry.data)
    return path, document


def test_metadata_has_what_the_plan_takes(compiled: Compiled, board: Board) -> None:
    path, document = written(board, "metadata")
    assert (path, document["version"]) == ("metadata.json", 7)
    module = document["modules"]["digits_int8"]
    pools = {each["pool"]: each for each in module["memory"]["functions"]["main"]}
    for name, use in compiled.plan.use.items():
        if use.used:
            took = pools[name]["constants_size_bytes"] + pools[name]["workspace_size_bytes"]
            assert took >= use.used
    ports = (*compiled.graph.inputs, *compiled.graph.outputs)
    sizes = sum(compiled.graph.tensor(name).size for name in ports)
    assert sum(each["io_size_bytes"] for each in pools.values()) == sizes
    for way, names in (("inputs", compiled.graph.inputs), ("outputs", compiled.graph.outputs)):
        found = {name: port["address"] for name, port in module["entry"][way].items()}
        assert found == {name: compiled.plan.address(name) for name in names}
    objects = package_files(board, ["models"])["models"]
    assert set(module["objects"]) == {*objects}


def test_no_metadata_without_networks() -> None:
    assert not package_files(Board(soc=load_soc("lagoon")), ["metadata"])["metadata"]


def test_the_document_is_valid_spdx(board: Board, tmp_path: Path) -> None:
    path, document = written(board, "sbom")
    (tmp_path / path).write_text(json.dumps(document))
    parsed = parse_file(str(tmp_path / path))
    assert validate_full_spdx_document(parsed) == []
    linked = {each["fileName"] for each in document["files"]}
    files = package_files(board, ["models", "startup", "drivers", "cmake"])
    wanted = {*files["models"], *files["startup"], *files["drivers"]}
    wanted |= {path for path in files["cmake"] if path.startswith("lib/")}
    assert {f"./{each}" for each in wanted} <= linked


def test_it_names_the_bytes_that_are_there(board: Board) -> None:
    _, document = written(board, "sbom")
    sums = {each["fileName"]: each["checksums"][1]["checksumValue"] for each in document["files"]}
    files = package_files(board, ["models", "drivers", "startup"])
    for path, entry in (item for each in files.values() for item in each.items()):
        assert sums[f"./{path}"] == entry.digest


def test_it_names_the_file_that_each_object_is_of(board: Board) -> None:
    _, document = written(board, "sbom")
    (network,) = (each for each in document["packages"] if each["SPDXID"] != "SPDXRef-Package")
    assert network["packageFileName"] == "digits_int8.tflite"
    assert network["checksums"][1] == {
        "algorithm": "SHA256",
        "checksumValue": sha256(DIGITS.read_bytes()).hexdigest(),
    }
    names = {each["SPDXID"]: each["fileName"] for each in document["files"]}
    made = {names[each["spdxElementId"]]: each for each in document["relationships"]}
    assert {*made} == {f"./models/{core.name}/digits_int8.o" for core in board.cores}
    assert {each["relationshipType"] for each in made.values()} == {"GENERATED_FROM"}
    assert {each["relatedSpdxElement"] for each in made.values()} == {network["SPDXID"]}


def test_its_time_is_that_of_the_source(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert written(board, "sbom")[1]["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert written(board, "sbom")[1]["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(UsageError, match="E135"):
        written(board, "sbom")
