# SPDX-License-Identifier: Apache-2.0
"""Files that mean harm: names, entities, depth. Nothing gets out of its place in the YAML."""

import json
import time
from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.unit.importing.reading import chip, imported
from tests.unit.importing.vendor import CSR_JSON, SVD

from atoll.description.fields import is_name
from atoll.diagnostics.errors import UsageError

NAMES = (
    *("register", "while", "undecided", "null", "yes", "0x10", "", " ", "_", "-", "1.5"),
    *('a"b', "a'b", "a\nsoc: evil", "a: b", "# x", "a # b", "- a", "&a", "*a", "!!python", "{a}"),
    *("*/", "/*", "${x}", "$(x)", "`id`", "a\\", "%s", "a\tb", "\u2028x", "a\u202eb", "\x85x"),
    *("ГУСЬ", "鳥", "é" * 40, "\U0001f426", "x" * 10_000, "X" * 40, "\ud800"),
)


def test_hostile_names_become_names(tmp_path: Path) -> None:
    document = json.loads(CSR_JSON)
    document["memories"] = {
        name: {"base": 0x1000 * index, "size": 0x1000, "type": "cached"}
        for index, name in enumerate(NAMES)
    }
    found = imported(tmp_path, {"csr.json": json.dumps(document)})
    data = chip(found)
    assert len(data["memories"]) == len(NAMES)
    assert all(is_name(name) and name != "undecided" for name in data["memories"])
    assert [*data] == ["soc", "version", "devices", "memories", "pools"]
    assert [each["origin"] for each in data["memories"].values()] == [
        0x1000 * index for index in range(len(NAMES))
    ]
    assert max(map(len, found.text.splitlines())) < 200


@pytest.mark.parametrize("name", NAMES)
def test_hostile_name_of_a_chip(name: str, tmp_path: Path) -> None:
    document = json.loads(CSR_JSON)
    document["constants"]["config_platform_name"] = name
    found = imported(tmp_path, {"csr.json": json.dumps(document)})
    assert is_name(chip(found)["soc"])
    assert found.text.isascii()


def test_hostile_name_of_a_file(tmp_path: Path) -> None:
    found = imported(tmp_path, {"a\nsoc: evil\n.json": CSR_JSON})
    assert chip(found)["soc"] == "puffin"


BOMB = """<?xml version="1.0"?>
<!DOCTYPE device [
  <!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
  <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
]>
<device schemaVersion="1.3"><name>&c;</name></device>
"""
READS = BOMB.replace('<!ENTITY a "a', '<!ENTITY x SYSTEM "file:///etc/passwd">\n<!ENTITY a "a')
DEEP_XML = f'<device schemaVersion="1.3">{"<a>" * 300_000}'
DEEP_JSON = f'{{"csr_bases": {"[" * 300_000}'
DIGITS = CSR_JSON.replace("8192", "1" * 10_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "defines the entity 'a'"),
        (READS, "defines the entity 'x'"),
        (DEEP_XML, "more than 100 levels"),
        (DEEP_JSON, "not valid JSON"),
        (DIGITS, "not valid JSON"),
        (SVD.replace("utf-8", "utf-99"), "not valid XML"),
    ],
)
def test_refused_at_once(text: str, words: str, tmp_path: Path) -> None:
    begin = time.process_time()
    with pytest.raises(UsageError, match=words) as caught:
        imported(tmp_path, {"file.txt": text})
    assert caught.value.faults[0].code == "E138"
    assert time.process_time() - begin < 5


MANY = 20_000
PERIPHERAL = (
    "<peripheral derivedFrom='P{0}'><name>P{1}</name><baseAddress>{1}</baseAddress></peripheral>"
)
LARGE = {
    "chain": (
        '<device schemaVersion="1.3"><peripherals>'
        + "".join(PERIPHERAL.format(index - 1, index) for index in range(MANY))
        + "</peripherals></device>"
    ),
    "devices": (
        '<package schemaVersion="1"><devices><device Dname="GULL2"><processor Dcore="Cortex-M0+"/>'
        + "".join(f'<memory name="m{n}" start="{64 * n}" size="64"/>' for n in range(MANY))
        + "</device></devices></package>"
    ),
    "names": (
        '<package schemaVersion="1"><devices>'
        + "".join(f'<device Dname="D{n}"/>' for n in range(MANY))
        + "</devices></package>"
    ),
    "elements": f'<device schemaVersion="1.3">{"<a/>" * 400_000}</device>',
    "registration": "a: Memory.MappedMemory @ " + "sysbus {" * 100_000,
    "blanks": "a: A.B @ sysbus 0\n  k: x" + " " * 1_000_000 + "y",
    "entries": "".join(
        f"m{n}: Memory.MappedMemory @ sysbus {n}\n  size: 16\n" for n in range(9000)
    ),
    "memories": json.dumps(
        {"csr_bases": {}, "memories": {f"m{n}": {"base": n, "size": 1} for n in range(MANY)}}
    ),
}


@pytest.mark.parametrize("name", in_gate(LARGE, 1, 2, 4, 5, 6, 7))
def test_large_files_are_read_or_refused_in_bounded_time(name: str, tmp_path: Path) -> None:
    begin = time.process_time()
    try:
        found = imported(tmp_path, {"file.txt": LARGE[name]}, "GULL2")
    except UsageError as error:
        found, codes = None, [fault.code for fault in error.faults]
        assert codes[0] in ("E120", "E138"), codes
    assert found is None or len(found.left_out) < 300
    assert time.process_time() - begin < 10
