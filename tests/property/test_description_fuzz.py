"""Damaged descriptions are refused with a message or mean a chip; nothing else ever happens."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.export import from_json, to_json

SOCS = Path(__file__).parents[2] / "socs"
MUTANTS_PER_CHIP = 500

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


@pytest.mark.parametrize("name", ["lagoon", "atoll2"])
def test_mutants(name: str, tmp_path: Path) -> None:
    chance = random.Random(f"mutants of {name}")
    original = (SOCS / f"{name}.yaml").read_bytes()
    path = tmp_path / "mutant.yaml"
    refused: list[str] = []
    for _ in range(MUTANTS_PER_CHIP):
        data = original
        for _ in range(chance.randrange(1, 4)):
            data = chance.choice(MUTATIONS)(data, chance) or b" "
        path.write_bytes(data)
        try:
            soc = load_soc(path)
        except AtollError as error:
            refused.append(str(error))
        else:
            assert from_json(to_json(soc)) == soc
    assert MUTANTS_PER_CHIP // 3 < len(refused) < MUTANTS_PER_CHIP
    assert all("error[E0" in message for message in refused)


def test_mutants_of_an_accelerator(tmp_path: Path) -> None:
    chance = random.Random("mutants of reef")
    original = (SOCS / "accelerators" / "reef.yaml").read_bytes()
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
    assert all("error[E0" in message for message in refused)


def test_random_overrides() -> None:
    chance = random.Random("overrides")
    refused: list[str] = []
    for _ in range(300):
        override = f"{chance.choice(KEYS)}={chance.choice(TOKENS)}"
        try:
            load_soc("lagoon", [override])
        except AtollError as error:
            refused.append(str(error))
    assert 100 < len(refused) < 300
    assert all("error[E0" in message for message in refused)
