# SPDX-License-Identifier: Apache-2.0
"""Damaged descriptions are refused with a message or mean a chip; nothing else ever happens.

A chip that a mutant means is a chip: digits are planned for it, or refused with a message.
"""

import random
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.effort import cases

from atoll.artifacts.build_tree import texts_of
from atoll.cli import main
from atoll.description.accelerator_files import find_accelerator
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.export import from_json, to_json

ROOT = Path(__file__).parents[2]
SOCS = ROOT / "socs"
EXAMPLES = ROOT / "examples"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
MUTANTS_PER_CHIP = cases(500)
OVERRIDES = cases(300)

VALUES: list[object] = [
    0, 1, 3, 16, 24, 4095, 4096, 65536, 2**31, 2**32 - 4, 2**64, -1, 1.5, None, True, "", "4 KiB",
    "1 MiB", "0x2000_0000", "50 MHz", "cpu", "npu", "rw", "ro", "none", "ram", "rom", "workspace",
    "constants", "both", "rv32i", "rv32imac", "rv64gc", "gcc", "sram", "flash", [], {}, ["CONV_2D"],
]  # fmt: skip

TOKENS = [
    "0x", "1_", "-1", "99999999999999999999999999", "1e999", ".nan", ".inf", "2020-01-01", "1:30",
    "~", "null", "true", "no", "''", "[]", "{}", "[[[[[[", "{a: {b: {c: d}}}", "&a", "*a", "!!int",
    "!!python/name:os.system", "<<", "? ", "- ", ": ", "|", ">", "%YAML 9.9", "---", "...", "#",
    "\t", "\x00", "\ufeff", "\u2028", "\u202e", "é", "cpu", "npu", "sram", "rw",
    "64 KiB", "1.5 MiB", "100 MHz", "extends: lagoon.yaml", "extends: .", "../../etc",
    "kind", "dma",
]  # fmt: skip

KEYS = [
    "devices.cpu.stack.size", "devices.npu", "devices", "pools.shared.reach.cpu", "soc", "version",
    "devices.cpu.limits.max_stack_size", "memories.sram.origin", "", ".", "a.b", "extends",
    "devices.npu.params.input_lanes", "devices.npu.params.x", "limits.max_stack_alloca_size",
    "devices.cpu.code.size",
]  # fmt: skip

Mutation = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def cut(data: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(data))
    return data[:begin] + data[begin + chance.randrange(1, 60) :]


def truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def swap_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def replace_token(data: bytes, chance: random.Random) -> bytes:
    words = data.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(TOKENS).encode()
    return b" ".join(words)


def insert_token(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.choice(TOKENS).encode() + data[place:]


MUTATIONS: list[Mutation] = [flip, cut, truncate, swap_lines, replace_token, insert_token]


def damaged_text(original: bytes, chance: random.Random) -> bytes:
    data = original
    for _ in range(chance.randrange(1, 4)):
        data = chance.choice(MUTATIONS)(data, chance) or b" "
    return data


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return (table or list, key) of everything in a document."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    inner = [node[key] for key in keys if isinstance(node[key], dict | list)]
    return [(node, key) for key in keys] + [place for child in inner for place in places(child)]


@cache
def parsed(text: bytes) -> Any:
    return yaml.safe_load(text)


def changed_value(original: bytes, chance: random.Random) -> bytes:
    """Return well-formed YAML with one value changed or one key gone."""
    document = deepcopy(parsed(original))
    table, key = chance.choice(places(document))
    old = table[key]
    if chance.random() < 0.1:
        del table[key]
    elif type(old) is int and chance.random() < 0.7:
        table[key] = chance.choice((old + 1, old - 1, old + 4096, old - 4096, old * 2, old // 2))
    else:
        table[key] = chance.choice(VALUES)
    return yaml.safe_dump(document, sort_keys=False).encode()


def planned(path: Path) -> bool:
    """Tell whether digits are planned for a chip; if not, they are refused with a remedy."""
    soc = load_soc(path)
    assert from_json(to_json(soc)) == soc
    try:
        texts_of(compile_file(soc, DIGITS))
    except AtollError as error:
        faults = error.faults
    else:
        return True
    assert all(fault.code.startswith("E06") and fault.remedy for fault in faults)
    return False


@pytest.mark.parametrize("mutate", [damaged_text, changed_value])
@pytest.mark.parametrize(
    "name", ["lagoon", *(pytest.param(name, marks=pytest.mark.slow) for name in ("atoll2", "twin"))]
)
def test_mutants(
    name: str,
    mutate: Mutation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(f"{mutate.__name__} of {name}")
    original = (SOCS / f"{name}.yaml").read_bytes()
    refused = accepted = 0
    for _ in range(MUTANTS_PER_CHIP // 2):
        Path("mutant.yaml").write_bytes(mutate(original, chance))
        status = main(["check", "mutant.yaml"])
        out, err = capsys.readouterr()
        if status == 0:
            assert (err, out.endswith(": no faults\n")) == ("", True)
            accepted += planned(Path("mutant.yaml"))
        else:
            assert (status, out) == (1, "")
            assert err.count("error[E") == err.count("  help: ") > 0
            refused += 1
    assert accepted > cases(5, least=0)
    assert refused > MUTANTS_PER_CHIP // 8


def test_mutants_of_an_accelerator(tmp_path: Path) -> None:
    chance = random.Random("mutants of reef")
    original = find_accelerator("reef", Path(), None).read_bytes()
    chip = (SOCS / "lagoon.yaml").read_text().replace("accelerator: reef", "accelerator: ./a.yaml")
    (tmp_path / "chip.yaml").write_text(chip)
    refused: list[str] = []
    for _ in range(MUTANTS_PER_CHIP // 2):
        (tmp_path / "a.yaml").write_bytes(chance.choice(MUTATIONS)(original, chance))
        try:
            load_soc(tmp_path / "chip.yaml")
        except AtollError as error:
            refused.append(str(error))
    assert MUTANTS_PER_CHIP // 6 < len(refused) < MUTANTS_PER_CHIP // 2
    assert all("error[E" in message for message in refused)


def swap_words(data: bytes, chance: random.Random) -> bytes:
    """Write a word of the file in the place of another one, or in none."""
    words = list(re.finditer(rb"[\w.]+", data))
    old, new = chance.choice(words), chance.choice(words)
    put = new[0] if chance.random() < 0.8 else b""
    return data[: old.start()] + put + data[old.end() :]


@pytest.mark.parametrize(
    "path", ["10_vector_engine/plover.yaml", "11_systolic_array/loom.yaml"], ids=["plover", "loom"]
)
def test_mutants_of_programs(path: str, tmp_path: Path) -> None:
    """Steps, formulas, layouts, patterns and ports of an accelerator of one's own."""
    chance = random.Random(f"mutants of {path}")
    original = EXAMPLES / path
    for each in original.parent.glob(f"{original.stem}*"):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    (tmp_path / "chip.yaml").write_text(
        (SOCS / "lagoon.yaml")
        .read_text()
        .replace("accelerator: reef", "accelerator: ./a.yaml")
        .replace("    params: {input_lanes: 8, output_lanes: 8, vector: 2}\n", "")
    )
    refused: list[AtollError] = []
    for _ in range(MUTANTS_PER_CHIP // 2):
        data = original.read_bytes()
        for _ in range(chance.choice((1, 1, 2, 4))):
            data = chance.choice([swap_words, swap_words, *MUTATIONS])(data, chance)
        (tmp_path / "a.yaml").write_bytes(data)
        try:
            load_soc(tmp_path / "chip.yaml")
        except AtollError as error:
            refused.append(error)
    assert len(refused) > MUTANTS_PER_CHIP // 6
    assert all(fault.remedy for error in refused for fault in error.faults)


def test_random_overrides() -> None:
    chance = random.Random("overrides")
    refused: list[str] = []
    for _ in range(OVERRIDES):
        override = f"{chance.choice(KEYS)}={chance.choice(TOKENS)}"
        try:
            load_soc("lagoon", [override])
        except AtollError as error:
            refused.append(str(error))
    assert OVERRIDES // 3 < len(refused) < OVERRIDES
    assert all("error[E" in message for message in refused)
