# SPDX-License-Identifier: Apache-2.0
"""YAML is read as bounded plain data in which everything has a place."""

from pathlib import Path
from random import Random

import pytest
import yaml
from tests.effort import cases

from atoll.description import yaml_text
from atoll.description.tree import SourceMap, plain
from atoll.description.yaml_text import parse_yaml, read_yaml, scalar
from atoll.diagnostics.errors import AtollError

HERE = Path("chip.yaml")
BAD = Path(__file__).parents[2] / "bad"


def fault(text: str) -> tuple[str, int, int]:
    """Return code, line and column of the one fault in `text`."""
    with pytest.raises(AtollError) as caught:
        parse_yaml(text, HERE)
    (found,) = caught.value.faults
    assert found.at is not None
    return found.code, found.at.line, found.at.column


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x4000_0000", 0x4000_0000),
        ("0xFF", 255),
        ("1_000", 1000),
        ("-3", -3),
        ("0", 0),
        ("010", "010"),
        ("0x", "0x"),
        ("1__0", "1__0"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("no", "no"),
        ("On", "On"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("64 KiB", "64 KiB"),
        ("9" * 65, "9" * 65),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_quotes_make_text() -> None:
    assert plain(parse_yaml("a: '1'\nb: \"0x10\"\nc: |\n  5\n", HERE)) == {
        "a": "1",
        "b": "0x10",
        "c": "5\n",
    }


def test_every_key_and_value_has_a_place() -> None:
    where = SourceMap(parse_yaml("a:\n  b: [1, {c: 2}]\n", HERE))
    assert str(where.key_at("a")) == "chip.yaml:1:1"
    assert str(where.at("a", "b")) == "chip.yaml:2:6"
    assert str(where.at("a", "b", "0")) == "chip.yaml:2:7"
    assert str(where.at("a", "b", "1", "c")) == "chip.yaml:2:14"
    assert str(where.at("a", "nothing")) == "chip.yaml:1:1"


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\n\tb: 2\n", "E003", 2, 1),
        ("a: {b: 1\n", "E003", 2, 1),
        ("", "E003", 1, 1),
        ("a: 1\nb: \x01\n", "E002", 2, 4),
        ("a: \x00", "E002", 1, 4),
        ("a: 1\na: 2\n", "E004", 2, 1),
        ("a: {b: 1, c: {b: 1}, b: 2}\n", "E004", 1, 22),
        ("a: &x 1\n", "E005", 1, 4),
        ("a: *x\n", "E005", 1, 4),
        ("a: !!python/name:os.system\n", "E005", 1, 4),
        ("a: !thing {}\n", "E005", 1, 4),
        ("a: 1\n---\nb: 2\n", "E005", 2, 1),
        ("? [a]\n: 1\n", "E005", 1, 3),
        ("%YAML 9.9\n---\na: 1\n", "E003", 1, 1),
    ],
)
def test_refusals(text: str, code: str, line: int, column: int) -> None:
    assert fault(text) == (code, line, column)


def test_all_duplicate_keys_are_reported() -> None:
    with pytest.raises(AtollError) as caught:
        parse_yaml("a: 1\na: 2\nb: 3\nb: 4\n", HERE)
    assert [str(found.at) for found in caught.value.faults] == ["chip.yaml:2:1", "chip.yaml:4:1"]
    assert caught.value.faults[0].other is not None


def test_depth_is_bounded_on_both_sides() -> None:
    deepest = yaml_text.MAX_DEPTH
    parse_yaml("[" * deepest + "]" * deepest, HERE)
    assert fault("[" * (deepest + 1) + "]" * (deepest + 1))[0] == "E006"
    assert fault("[" * 200_000)[0] == "E006"


def test_the_number_of_nodes_is_bounded() -> None:
    assert fault("[" + "1," * yaml_text.MAX_NODES + "]")[0] == "E006"


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_bytes(b"\xef\xbb\xbfsoc: chip\n")
    assert plain(read_yaml(path)) == {"soc": "chip"}


def test_files_that_are_none(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_text("#" * (2**20 + 1))
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    for name, code in (
        (".", "E001"),
        ("missing.yaml", "E001"),
        ("loop.yaml", "E001"),
        ("nul\0.yaml", "E001"),
        ("large.yaml", "E006"),
    ):
        with pytest.raises(AtollError) as caught:
            read_yaml(tmp_path / name)
        assert [found.code for found in caught.value.faults] == [code]


def test_a_mebibyte_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text("a: 1\n" + "#" * (2**20 - 5))
    assert plain(read_yaml(path)) == {"a": 1}


@pytest.mark.parametrize(
    "data", [b"a: \xff\n", b"\xef\xbb\xbfb: 1\na: \xe9\n", "é: 1".encode("utf-16")]
)
def test_other_encodings(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_bytes(data)
    with pytest.raises(AtollError, match="is not UTF-8") as caught:
        read_yaml(path)
    place = caught.value.faults[0].at
    assert place is not None
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert lines[place.line - 1][place.column - 1] >= 0x80


PIECES = (
    *(
        "\t",
        " ",
        "\n",
        ": ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        '"',
        " #",
        "|\n",
        "> ",
        "&a ",
        "*a",
    ),
    *("!x ", "%", "@", "?", "? ", "\r\n", "\x85", "\u2028", "\ufeff", "---\n", "...\n", "_", ":x"),
    *("{a:1}", "\x00", "\ud800", "\U0001f600", "''", "<<: "),
)


def read(text: str) -> object:
    """Return the tree with its places, or what is said about the text."""
    try:
        return parse_yaml(text, HERE)
    except AtollError as error:
        return tuple(map(str, error.faults))


def damage(text: str, random: Random) -> str:
    """Put a piece somewhere, or take some characters away."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice((*PIECES, "")) + text[at + random.randrange(3) :]


def test_the_fast_parser_says_what_the_other_says(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(4)
    small = [text for path in sorted(BAD.glob("*.yaml")) if len(text := written(path)) < 1000]
    texts = [damage(random.choice(small), random) for _ in range(cases(3000))]
    texts += ["a: |# x\n b\n", "a: >-# x\n b\n", "%YAML 1.2#\n---\na: 1\n"]
    fast = [yaml_text._loader_for(text) is yaml_text.FAST_LOADER for text in texts]
    assert sum(fast) > len(texts) // 5
    found = [read(text) for text in texts]
    monkeypatch.setattr(yaml_text, "_loader_for", lambda text: yaml.SafeLoader)
    assert found == [read(text) for text in texts]


def written(path: Path) -> str:
    """Return the text of a file, some of which are none."""
    return path.read_bytes().decode(errors="replace")
