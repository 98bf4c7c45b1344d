# SPDX-License-Identifier: Apache-2.0
"""Mutated files of every format: one coded error, or a description that can be read."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.importing.test_cases import CASES
from tests.unit.importing.vendor import FILES

from atoll.description.chip import Soc
from atoll.description.faults import Faults
from atoll.description.layers import apply_overrides
from atoll.description.loader import describe
from atoll.description.messages import schema_of
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import AtollError
from atoll_import.imported import Imported, import_files

MUTANTS, ALL_MUTANTS = 60, 2000
EXPECTED = {"E120", "E138", "E139", "E187"}
NEVER = {"", "E002", "E003", "E004", "E005", "E006", "E010", "E011", "E014", "E098"}
"""What is wrong with a description whose text, keys or names are; a fault without a remedy."""

PIECES = (
    *("", "0", "-1", "0x", "1" * 50, "0xFFFFFFFF", "0x100000000", "null", "true", "1e400", "NaN"),
    *("<", ">", "&", "&amp;", "&x;", "</", "/>", "<!--", "]]>", "<![CDATA[", '"', "'", "\\", "\n"),
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "@",
        "sysbus",
        "cpu0",
        "#",
        "*/",
        "/*",
        "${x}",
        "`",
        "- ",
        "\t",
    ),
    *("\0", "\x85", "\u2028", "\u202e", "é", "\U0001f426", "undecided", "while", "a" * 3000),
)
Random = random.Random
Mutation = Callable[[Random, str], str]


def replaced_word(dice: Random, text: str) -> str:
    """Put a piece in the place of a word."""
    found = dice.choice([*re.finditer(r"\w+", text)] or [*re.finditer(r"", text)])
    return text[: found.start()] + dice.choice(PIECES) + text[found.end() :]


def inserted(dice: Random, text: str) -> str:
    """Insert a piece anywhere."""
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(PIECES) + text[at:]


def deleted(dice: Random, text: str) -> str:
    """Delete a few characters."""
    at = dice.randrange(len(text) + 1)
    return text[:at] + text[at + dice.randrange(1, 30) :]


def cut_off(dice: Random, text: str) -> str:
    """Cut the end off."""
    return text[: dice.randrange(len(text) + 1)]


def doubled_line(dice: Random, text: str) -> str:
    """Repeat a line at another place."""
    lines = text.splitlines(keepends=True) or [""]
    lines.insert(dice.randrange(len(lines)), dice.choice(lines))
    return "".join(lines)


def swapped_lines(dice: Random, text: str) -> str:
    """Exchange two lines."""
    lines = text.splitlines(keepends=True) or [""]
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    *(replaced_word, replaced_word, replaced_word, inserted, deleted, doubled_line),
    *(swapped_lines, cut_off),
)


def mutants(name: str, count: int) -> Iterator[bytes]:
    """Yield files of a format, each with a few mutations."""
    dice = random.Random(f"{name} 14")
    bases = [
        FILES[name],
        *(CASES[each] for each in CASES if Path(each).suffix == Path(name).suffix),
    ]
    for _ in range(count):
        text = dice.choice(bases)
        for _ in range(dice.choice((1, 1, 2, 4))):
            text = dice.choice(MUTATIONS)(dice, text)
        data = bytearray(text.encode())
        if data and dice.random() < 0.1:
            data[dice.randrange(len(data))] = dice.randrange(256)
        yield bytes(data)


def codes_of(run: Callable[[], object]) -> set[str]:
    """Return the codes of what is refused; each refusal has a remedy."""
    try:
        run()
    except AtollError as error:
        return {fault.code if fault.remedy else "" for fault in error.faults}
    return set()


def answered(found: Imported) -> None:
    """Answer all questions with their examples, and refuse what is still wrong."""
    root = parse_yaml(found.text, Path("chip.yaml"))
    answers = [f"{'.'.join(each.key)}={each.example}" for each in found.questions if each.example]
    faults = Faults()
    faults.found |= dict.fromkeys(
        describe(apply_overrides(root, answers, lambda: schema_of(Soc)), Path(), Faults()).faults
    )
    faults.raise_any()


def judge(path: Path, data: bytes) -> bool:
    """Import a file; tell whether it became a description."""
    path.write_bytes(data)
    became: list[Imported] = []
    refused = codes_of(lambda: became.append(import_files([path], Path("chip.yaml"), "", "GULL2")))
    assert refused <= EXPECTED, data
    assert len(refused) + len(became) == 1
    if became:
        assert max(map(len, became[0].text.splitlines())) < 1000, data
        assert not NEVER & codes_of(lambda: answered(became[0])), data
    return bool(became)


def campaign(name: str, folder: Path, count: int) -> None:
    """Import mutants; some are refused and some are not, or the mutations say nothing."""
    became = sum(judge(folder / name, data) for data in mutants(name, count))
    assert 0 < became < count


@pytest.mark.parametrize("name", FILES)
def test_mutants(name: str, tmp_path: Path) -> None:
    campaign(name, tmp_path, MUTANTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_many_mutants(name: str, tmp_path: Path) -> None:
    campaign(name, tmp_path, ALL_MUTANTS)
