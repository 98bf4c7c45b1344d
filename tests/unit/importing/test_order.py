# SPDX-License-Identifier: Apache-2.0
"""The order in which a file has its elements does not matter, in no format."""

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.unit.importing.reading import chip, imported
from tests.unit.importing.test_cases import CASES
from tests.unit.importing.vendor import FILES

ORDERS = 12
Shuffle = Callable[[random.Random, str], str]

RDL = """addrmap tern {
    mem { mementries = 1024; memwidth = 32; sw = rw; } external ram @ 0x20000000;
    mem { mementries = 2048; memwidth = 32; sw = r; } external rom @ 0x0;
    mem { mementries = 1024; memwidth = 32; sw = rw; } external ram_b @ 0x30000000;
};
"""


def shuffled_xml(dice: random.Random, text: str) -> str:
    """Exchange elements that are beside each other; what comes before which has no meaning."""
    for namespace in re.findall(r'xmlns:ipxact="([^"]*)"', text):
        ElementTree.register_namespace("ipxact", namespace)
    root = ElementTree.fromstring(text)
    for each in [*root.iter()]:
        if not each.tag.endswith(("array", "bank")):  # dimensions, and a serial bank, have an order
            children = [*each]
            dice.shuffle(children)
            each[:] = children
    return ElementTree.tostring(root, encoding="unicode")


def shuffled_json(dice: random.Random, text: str) -> str:
    """Exchange the entries of each object."""

    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        keys = [*value]
        dice.shuffle(keys)
        return {key: shuffled(value[key]) for key in keys}

    return json.dumps(shuffled(json.loads(text)))


def shuffled_pools(dice: random.Random, text: str) -> str:
    """Exchange the pools of a memory-pool file, and the entries of each object."""
    document = json.loads(text)
    dice.shuffle(document["memory"]["mempools"])
    return shuffled_json(dice, json.dumps(document))


def shuffled_ini(dice: random.Random, text: str) -> str:
    """Exchange the sections of a configuration, and the keys of each."""
    blocks = [block.splitlines() for block in re.split(r"\n(?=\[)", text.strip())]
    dice.shuffle(blocks)
    return "\n".join("\n".join((first, *dice.sample(keys, len(keys)))) for first, *keys in blocks)


def shuffled_repl(dice: random.Random, text: str) -> str:
    """Exchange entries; one that adds to another stays behind all."""
    blocks = re.split(r"\n(?=\w)", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL))
    typed = [each for each in blocks if re.match(r"\w+\s*:\s*\w+\.", each)]
    rest = [each for each in blocks if each not in typed]
    dice.shuffle(typed)
    return "\n".join(each.rstrip() for each in (*typed, *rest)) + "\n"


def shuffled_tree(dice: random.Random, text: str) -> str:
    """Exchange the nodes of a devicetree that are beside each other, behind the properties."""
    head, _, body = text.partition("/ {")
    parts = iter(re.findall(r"[^{};]*[{};]", body))
    return f"{head}/ {{{_node(dice, parts)};\n"


def _node(dice: random.Random, parts: Iterator[str]) -> str:
    properties: list[str] = []
    nodes: list[str] = []
    for part in parts:
        if part.endswith("{"):
            nodes.append(part + _node(dice, parts) + next(parts))
        elif part.endswith("}"):
            dice.shuffle(nodes)
            return "".join((*properties, *nodes, part))
        else:
            properties.append(part)
    raise AssertionError("the tree is not closed")


SHUFFLES: Mapping[str, Shuffle] = {
    **dict.fromkeys((".svd", ".pdsc", ".xml"), shuffled_xml),
    **{".json": shuffled_json, ".repl": shuffled_repl, ".dts": shuffled_tree},
    ".mpool": shuffled_pools,
    ".ini": shuffled_ini,
}
ALL = {**CASES, **FILES}


def said(folder: Path, name: str, text: str) -> Mapping[str, Any]:
    """Return devices, memories and pools of an import, and what is left out, without order."""
    found = imported(folder, {name: text}, "GULL2" if name == "gull.pdsc" else "")
    left_out = sorted(f"{each.what}: {re.sub(r':[0-9]+', '', each.why)}" for each in found.left_out)
    return {**{key: chip(found)[key] for key in ("devices", "memories", "pools")}, "out": left_out}


@pytest.mark.parametrize("name", [name for name in ALL if Path(name).suffix in SHUFFLES])
def test_any_order_means_one_chip(name: str, tmp_path: Path) -> None:
    if name.endswith(".dts") and not shutil.which("dtc"):
        pytest.skip("dtc is not installed")
    dice = random.Random(name)
    expected = said(tmp_path, name, ALL[name])
    orders = {SHUFFLES[Path(name).suffix](dice, ALL[name]) for _ in range(ORDERS)}
    assert len(orders) > 1
    for text in orders:
        assert said(tmp_path, name, text) == expected, text


def test_any_order_of_systemrdl(tmp_path: Path) -> None:
    pytest.importorskip("systemrdl")
    begin, *rows, end = RDL.splitlines(keepends=True)
    expected = said(tmp_path, "tern.rdl", RDL)
    assert [*expected["memories"]] == ["rom", "ram", "ram_b"]
    for _ in range(3):
        rows = rows[1:] + rows[:1]
        assert said(tmp_path, "tern.rdl", "".join((begin, *rows, end))) == expected
