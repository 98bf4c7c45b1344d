# SPDX-License-Identifier: Apache-2.0
"""What files call an alias is one in the description, and what could be one is a question."""

import shutil
from pathlib import Path

import pytest
from tests.unit.importing.reading import chip, imported

from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.units import parse_size
from atoll.resolve import load_soc

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<package schemaVersion="1.7.0"><devices><family Dfamily="Terns" Dvendor="Nobody:1">
<processor Dcore="Cortex-M4" Dfpu="SP_FPU" Dmpu="MPU"/>
"""
MEMORY = '<memory name="{}" access="{}" start="{:#x}" size="0x8000" {}/>'


def pdsc(*memories: tuple[str, str, int, str]) -> str:
    lines = "\n".join(MEMORY.format(*memory) for memory in memories)
    return f'{HEAD}<device Dname="D">{lines}</device></family></devices></package>\n'


def aliases(tmp_path: Path, *memories: tuple[str, str, int, str]) -> dict[str, str]:
    found = chip(imported(tmp_path, {"tern.pdsc": pdsc(*memories)}))
    named = {
        name: each["alias_of"] for name, each in found["memories"].items() if "alias_of" in each
    }
    assert found["pools"].keys() == found["memories"].keys() - named.keys()
    return named


@pytest.mark.parametrize("back", ["", 'alias="RAM_NS"'])
def test_a_pack_says_which_memory_has_the_bytes(tmp_path: Path, back: str) -> None:
    both = ("RAM_S", "rwx", 0x3000_0000, back), ("RAM_NS", "rwx", 0x2000_0000, 'alias="RAM_S"')
    assert aliases(tmp_path, *both) == ({"ram_s": "ram_ns"} if back else {"ram_ns": "ram_s"})


def test_an_alias_of_an_alias_is_one_of_the_memory(tmp_path: Path) -> None:
    rows = (
        ("C", "rx", 0x1000_0000, 'alias="B"'),
        ("B", "rx", 0x0800_0000, 'alias="A"'),
        ("A", "rx", 0x0000_0000, ""),
    )
    assert aliases(tmp_path, *rows) == {"c": "a", "b": "a"}


def test_an_alias_of_nothing_is_a_question(tmp_path: Path) -> None:
    rows = ("A", "rx", 0, ""), ("B", "rwx", 0x2000_0000, 'alias="GONE"')
    assert aliases(tmp_path, *rows) == {"b": UNDECIDED}


def test_an_alias_of_itself_is_a_question(tmp_path: Path) -> None:
    """So is what is an alias of such a one."""
    rows = ("A", "rwx", 0x2000_0000, 'alias="A"'), ("B", "rwx", 0x3000_0000, 'alias="A"')
    assert aliases(tmp_path, ("F", "rx", 0, ""), *rows) == {"a": UNDECIDED, "b": UNDECIDED}


def test_memories_of_one_name_and_size_are_a_question(tmp_path: Path) -> None:
    rows = ("R", "rwx", 0x3000_0000, ""), ("R", "rw", 0x2000_0000, "")
    assert aliases(tmp_path, *rows) == {"r_2": UNDECIDED}
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    assert chip(found)["memories"]["r_2"]["origin"] == 0x3000_0000
    assert [each.example for each in found.questions if each.key[-1] == "alias_of"] == ["r"]


@pytest.mark.parametrize(("one", "two"), [("RAM_S", "RAM_NS"), ("SRAM_CODE", "SRAM_SYS")])
def test_twins_are_a_question(tmp_path: Path, one: str, two: str) -> None:
    rows = (one, "rwx", 0x2000_0000, ""), (two, "rwx", 0x3000_0000, "")
    assert aliases(tmp_path, *rows) == {two.lower(): UNDECIDED}


@pytest.mark.parametrize(("kind", "answer"), [("rwx", "ram_s"), ("rx", "none")])
def test_the_example_is_a_memory_that_could_have_the_bytes(
    tmp_path: Path, kind: str, answer: str
) -> None:
    rows = ("RAM_S", "rwx", 0x3000_0000, ""), ("B", kind, 0x2000_0000, 'alias="GONE"')
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    (asked,) = (each for each in found.questions if each.key[-1] == "alias_of")
    assert asked.example == answer


TREE = """/dts-v1/;
/ { #address-cells = <1>; #size-cells = <1>;
  cpus { #address-cells = <1>; #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m33"; reg = <0>; }; };
  flash@8000000 { compatible = "soc-nv-flash"; reg = <0x8000000 0x80000>; };
  sram_ns@20000000 { compatible = "mmio-sram"; reg = <0x20000000 0x8000>; };
  sram_s@30000000 { compatible = "mmio-sram"; reg = <0x30000000 0x8000>; };
  reserved-memory { #address-cells = <1>; #size-cells = <1>; ranges;
    r@0 { reg = <%s>; no-map; }; };
};
"""


@pytest.mark.skipif(not shutil.which("dtc"), reason="needs dtc")
@pytest.mark.parametrize(
    ("reserved", "parts"),
    [
        ("0x20007000 0x1000", [(0, 0x7000)]),
        ("0x30007000 0x1000", [(0, 0x7000)]),
        ("0x20004000 0x1000", [(0, 0x4000), (0x5000, 0x3000)]),
        ("0x20000000 0x1000>, <0x30003ff8 0x1008", [(0x1000, 0x2FF0), (0x5000, 0x3000)]),
    ],
)
@pytest.mark.parametrize("answer", ["alias", "none"])
def test_bytes_reserved_at_one_address_are_so_at_the_other(
    tmp_path: Path, reserved: str, parts: list[tuple[int, int]], answer: str
) -> None:
    """Whatever the answer is, nothing is planned there; the other address says what it loses."""
    found = imported(tmp_path, {"tern.dts": TREE % reserved})
    memories = chip(found)["memories"]
    for name, origin in (("sram_ns", 0x2000_0000), ("sram_s", 0x3000_0000)):
        of_one = [each for key, each in memories.items() if key.startswith(name)]
        assert [(each["origin"] - origin, parse_size(each["size"])) for each in of_one] == parts
    names = [name for name, each in memories.items() if "alias_of" in each]
    assert [name[:6] for name in names] == ["sram_s"] * len(parts)
    examples = {each.key[1]: each.example for each in found.questions if each.key[-1] == "alias_of"}
    assert examples == {name: name.replace("_s", "_ns", 1) for name in names}
    assert any("memory sram_" in each.what and "0x" in each.what for each in found.left_out)
    lines = found.text
    for name in names:
        target = examples[name] if answer == "alias" else "none"
        before = lines.index(f"  {name}: {{")
        lines = lines[:before] + lines[before:].replace(
            "alias_of: undecided", f"alias_of: {target}", 1
        )
    answers = {
        "isa: undecided": "isa: armv8-m.main",
        "{memory: undecided, size: undecided}": "{memory: sram_ns, size: 2 KiB}",
        "role: undecided": "role: workspace",
    }
    for asked, said in answers.items():
        lines = lines.replace(asked, said)
    (tmp_path / "chip.yaml").write_text(lines)
    soc = load_soc(tmp_path / "chip.yaml")
    assert len(soc.aliases) == (len(parts) if answer == "alias" else 0)
    spots = [
        (it.origin & 0xFFFFFF, it.end & 0xFFFFFF) for it in soc.regions() if it.memory != "flash"
    ]
    assert len(spots) > len(parts)
    assert all(any(at <= low <= high <= at + size for at, size in parts) for low, high in spots)


@pytest.mark.skipif(not shutil.which("dtc"), reason="needs dtc")
def test_memories_of_one_pack_are_cut_by_what_a_tree_reserves(tmp_path: Path) -> None:
    """An alias of which no file says what part it shows is a question where its memory is cut."""
    rows = (
        ("RAM_NS", "rwx", 0x2000_0000, ""),
        ("RAM_S", "rwx", 0x3000_0000, 'alias="RAM_NS"'),
    )
    half = MEMORY.replace("0x8000", "0x4000").format("HALF", "rwx", 0x4000_0000, 'alias="RAM_NS"')
    pack = pdsc(*rows).replace("</device>", f"{half}</device>")
    texts = {"tern.pdsc": pack, "tern.dts": TREE % "0x20004000 0x1000"}
    memories = chip(imported(tmp_path, texts))["memories"]
    kept = {name: (each["size"], each.get("alias_of")) for name, each in memories.items()}
    assert kept == {
        "flash": ("512 KiB", None),
        "ram_ns": ("16 KiB", None),
        "ram_ns_2": ("12 KiB", None),
        "ram_s": ("16 KiB", "ram_ns"),
        "ram_s_2": ("12 KiB", "ram_ns_2"),
        "half": ("16 KiB", UNDECIDED),
    }
    texts["tern.dts"] = TREE % "0x40001000 0x1000"
    (told,) = (each for each in imported(tmp_path, texts).left_out if "RAM_NS" in each.what)
    assert told.why == "some of it is reserved in 'HALF', no file says which; keep pools off it"


@pytest.mark.parametrize(
    ("access", "start", "size", "what"),
    [
        ("rx", 0x3000_0000, 0x8000, "only read"),
        ("rwx", 0x3000_0800, 0x8000, "4 KiB"),
    ],
)
def test_what_a_description_cannot_have_of_an_alias_is_left_out(
    tmp_path: Path, access: str, start: int, size: int, what: str
) -> None:
    rows = ("A", "rwx", 0x2000_0000, ""), ("B", access, start, 'alias="A"')
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    assert [*chip(found)["memories"]] == ["a"]
    (left,) = found.left_out
    assert left.what == f"memory B at {start:#x}"
    assert what in left.why
    assert "32 KiB" in left.why


def test_the_size_of_an_alias_larger_than_its_memory_is_a_question(tmp_path: Path) -> None:
    rows = ("A", "rwx", 0x2000_0000, ""), ("B", "rwx", 0x3000_0000, 'alias="A"')
    text = pdsc(*rows).replace('start="0x30000000" size="0x8000"', 'start="0x30000000" size="64K"')
    found = imported(tmp_path, {"tern.pdsc": text})
    assert chip(found)["memories"]["b"] == {
        **{"origin": 0x3000_0000, "size": UNDECIDED, "kind": "ram", "alias_of": "a"}
    }
    assert "the file says 64 KiB, more than 'A' has" in found.text
    assert [it.example for it in found.questions if it.key[1] == "b"] == ["32 KiB"]


def test_memories_that_are_all_perhaps_aliases_have_an_example_of_a_pool(tmp_path: Path) -> None:
    rows = ("F", "rx", 0, 'alias="GONE"'), ("A", "rwx", 0x2000_0000, 'alias="GONE"')
    found = imported(tmp_path, {"tern.pdsc": pdsc(*rows)})
    assert chip(found)["pools"] == UNDECIDED
    assert "one in each memory for which you write 'alias_of: none'" in found.text
    (asked,) = (each for each in found.questions if each.key == ("pools",))
    pool = asked.example
    assert pool == "{a: {memory: a, role: workspace, reach: {cpu: rw}}}"
    pools = pool.replace("}}}", "}}, f: {memory: f, role: constants, reach: {cpu: ro}}}")
    text = found.text.replace("alias_of: undecided", "alias_of: none")
    text = text.replace("pools: undecided", f"pools: {pools}")
    text = text.replace("{memory: undecided, size: undecided}", "{memory: a, size: 8 KiB}")
    (tmp_path / "chip.yaml").write_text(text)
    assert [each.name for each in load_soc(tmp_path / "chip.yaml").pools] == ["a", "f"]
