# SPDX-License-Identifier: Apache-2.0
"""Configuration files of Vela begin chips, are put onto chips, and are written again as they were.

`ATOLL_IMPORT_FOLDER=FOLDER pytest tests/unit/importing/test_vela_ini.py -k folder` takes each
configuration and mode of the files of a folder that Vela takes through a chip and back.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from configparser import ConfigParser, Error
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.importing.reading import asked, chip, imported
from tests.unit.importing.vendor import VELA_INI

import atoll
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.resolve import load_soc
from atoll.resolve.soc import PoolSpeed
from atoll.soc_checks import check_soc
from atoll.vela.ini_file import (
    AreaSpeed,
    VelaChoice,
    parse_vela_config,
    section_lines,
)
from atoll.vela.speeds import Port, area_speed, is_same_scale, pool_speed
from atoll_board.package import Board, package_files
from atoll_import.imported import import_files

_FOLDER = os.environ.get("ATOLL_IMPORT_FOLDER", "")
CHIP = "corstone300_u55"
MODEL = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
PREFIXES = ("System_Config.", "Memory_Mode.")
Values = tuple[Mapping[str, str], Mapping[str, str]]


def sections(text: str) -> tuple[list[str], list[str]]:
    """Return the names of the system configurations and of the memory modes of Vela's file."""
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Error:
        return [], []
    first, second = (
        [name.removeprefix(prefix) for name in parser.sections() if name.startswith(prefix)]
        for prefix in PREFIXES
    )
    return first, second


def values(text: str, system: str, mode: str) -> Values:
    """Return the values of two sections as Vela finds them, with those that they inherit."""
    parser = ConfigParser(interpolation=None)
    parser.read_string(text)

    def of(section: str) -> dict[str, str]:
        own = dict(parser[section])
        parent = own.pop("inherit", None)
        return {**(of(parent) if parent else {}), **own}

    return of(PREFIXES[0] + system), of(PREFIXES[1] + mode)


def onto(path: Path, soc: Path | str, system: str = "", mode: str = "") -> tuple[Path, Any]:
    """Put a file onto a chip; return the description and what was said."""
    target = path.with_name(f"{path.stem}_chip.yaml")
    said = atoll.import_files(
        [path], target, onto=soc, system_config=system, memory_mode=mode, force=True
    )
    return target, said


def written(soc: Path | str, overrides: tuple[str, ...] = ()) -> str:
    """Return the file that is written of a chip."""
    ((_, entry),) = package_files(Board(soc=load_soc(soc, overrides)), ["vela"])["vela"].items()
    return entry.data.decode()


PAIRS = [
    *(("Tern", mode) for mode in ("Only", "Parent", "Shared")),
    *(("Skua", mode) for mode in ("Only", "Parent", "Shared", "Apart")),
]
"""Configurations and modes that Vela takes, and whose arena fits."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tern.ini").write_text(VELA_INI)
    return tmp_path / "tern.ini"


def test_what_a_file_says_of_memories(tmp_path: Path) -> None:
    """Ports and modes become pools; addresses, and whatever else it does not say, are questions."""
    found = import_files(
        [written_to(tmp_path, VELA_INI)],
        Path("chip.yaml"),
        "",
        "ethos-u55-64",
        VelaChoice("Tern", "Shared"),
    )
    data = chip(found)
    npu = data["devices"]["ethos_u"]
    assert (npu["accelerator"], npu["params"], npu["clock"]) == (
        "ethos_u55",
        {"macs": 64},
        "400 MHz",
    )
    assert data["memories"] == {
        "sram": {"origin": "undecided", "size": "undecided", "kind": "ram", "width": 8},
        "offchipflash": {"origin": "undecided", "size": "undecided", "kind": "rom"},
    }
    sram, flash = data["pools"]["sram"], data["pools"]["offchipflash"]
    assert (sram["role"], sram["reach"]["ethos_u"], sram["size"]) == ("workspace", "rw", "1 MiB")
    assert (flash["role"], flash["reach"]["ethos_u"]) == ("constants", "ro")
    assert (flash["read_bandwidth"], flash["latency"], flash["clock"]) == (1, 64, "400 MHz")
    assert flash["burst"] == 128
    assert data["vela"]["memory_mode"] == "Shared"
    questions = {"memories.sram.origin", "memories.sram.size", "devices.ethos_u.registers"}
    assert questions < {*asked(found)}
    assert {each.what for each in found.left_out} == {
        "Sram_max_reads",
        "OffChipFlash_write_latency",
    }


def test_without_the_npu_no_speed_is_said(tmp_path: Path) -> None:
    """Vela's file does not name it, and its ports have different widths."""
    found = imported(tmp_path, {"tern.ini": sections_of("Tern", "Shared")})
    assert {"devices.ethos_u.accelerator", "devices.ethos_u.params.macs"} < {*asked(found)}
    assert all("clock" not in pool for pool in chip(found)["pools"].values())
    assert {"speed of Sram", "speed of OffChipFlash"} < {each.what for each in found.left_out}


def test_memories_of_other_files_stay(tmp_path: Path) -> None:
    """Which of them is at which port no file says."""
    tables = (
        '{"csr_bases": {}, "csr_registers": {}, "constants": {}, "memories":'
        ' {"sram": {"base": 536870912, "size": 65536, "type": "cached"}}}'
    )
    texts = {"csr.json": tables, "tern.ini": sections_of("Tern", "Shared")}
    found = imported(tmp_path, texts)
    data = chip(found)
    assert ([*data["memories"]], "vela" in data) == (["sram"], False)
    assert data["pools"]["sram"]["reach"]["ethos_u"] == "undecided"
    assert "--onto" in next(it.why for it in found.left_out if it.what == "memory Sram")


def test_the_npu_is_that_of_other_files(tmp_path: Path) -> None:
    """A devicetree of ours has its registers, Vela's file has its clock."""
    tree = package_files(Board(soc=load_soc(CHIP)), ["svd"])["svd"]
    ((_, entry),) = ((path, it) for path, it in tree.items() if path.endswith(".svd"))
    texts: dict[str, str | bytes] = {"a.svd": entry.data, "tern.ini": sections_of("Tern", "Shared")}
    for order in (texts, dict(reversed(texts.items()))):
        devices = chip(imported(tmp_path, order))["devices"]
        (npu,) = (each for each in devices.values() if each["kind"] == "npu")
        assert (npu["accelerator"], npu["clock"]) == ("ethos_u55", "400 MHz")
        assert npu["registers"] == 0x5810_2000


def test_a_file_of_ours_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "own.ini"
    path.write_text(written(CHIP))
    target, said = onto(path, CHIP)
    assert chip_of(target) == {"soc": CHIP, "version": 1, "extends": CHIP}
    assert (said.rows(), said.left_out) == ([], ())
    assert written(target).splitlines()[3:] == written(CHIP).splitlines()[3:]


@pytest.mark.parametrize(("system", "mode"), PAIRS)
def test_a_file_comes_back(system: str, mode: str, file: Path) -> None:
    there_and_back(file, CHIP, system, mode)


ANSWERS = (
    "devices.cpu={kind: cpu, core: cortex_m55, isa: armv8.1-m.main+mve.fp+fp.dp}",
    "devices.cpu.code={memory: tcm, size: 64 KiB}",
    "devices.cpu.stack={memory: tcm, size: 8 KiB}",
    "memories.tcm={origin: 0x1000_0000, size: 128 KiB, kind: ram}",
    "devices.ethos_u.registers=0x4000_0000",
    "devices.ethos_u.irq=3",
)
"""What answers the questions about core and NPU."""


@pytest.mark.parametrize(("system", "mode"), PAIRS)
def test_a_chip_that_a_file_begins_writes_it(system: str, mode: str, file: Path) -> None:
    """With addresses and sizes, which no file has; the arena is the larger memory."""
    target = file.with_suffix(".yaml")
    said = import_files([file], target, "", "ethos-u65-256", VelaChoice(system, mode))
    target.write_text(said.text)
    areas = chip(said)["memories"]
    places = [
        f"memories.{name}.{answer}"
        for number, name in enumerate(areas, 2)
        for answer in (f"origin={number << 28}", f"size={1 << 25 - (name == 'sram')}")
    ]
    host = [f"pools.{name}.reach.cpu=rw" for name in areas if areas[name]["kind"] == "ram"]
    host += [f"pools.{name}.reach.cpu=ro" for name in areas if areas[name]["kind"] == "rom"]
    text = written(target, (*ANSWERS, *places, *host))
    assert values(text, system, mode) == values(VELA_INI, system, mode)


def test_what_a_mode_says_of_pools(file: Path) -> None:
    """Constants beside the arena: its pool has both, and the NPU reads no others."""
    target, _ = onto(file, CHIP, "Tern", "Only")
    data = chip_of(target)
    assert data["pools"]["shared"]["role"] == "both"
    assert data["pools"]["weights"]["reach"] == {"ethos_u55": "none"}
    target, _ = onto(file, CHIP, "Tern", "Shared")
    pools = chip_of(target)["pools"]
    assert pools["shared"]["size"] == "1 MiB"
    assert pools["fpga"] == {"reach": {"ethos_u55": "none"}}  # else it was the arena
    target, _ = onto(file, CHIP, "Skua", "Apart")
    pools = chip_of(target)["pools"]
    assert (pools["fpga"]["size"], "size" in pools["shared"]) == ("384 KiB", False)
    target, said = onto(file, CHIP, "Tern", "Large")
    assert "size" not in chip_of(target)["pools"]["shared"]
    (large,) = (each for each in said.left_out if each.what == "arena_cache_size 8388608")
    assert large.why == "pool 'shared' has 1 to 4,194,304 bytes"


def test_constants_that_no_pool_has(file: Path) -> None:
    """Which pool they are in no file says; the chip's own mode is written."""
    together, _ = onto(file, CHIP, "Tern", "Only")
    together = together.rename(together.with_name("together.yaml"))
    target, said = onto(file, together, "Tern", "Shared")
    assert any(each.what == "memory OffChipFlash" for each in said.left_out)
    assert "const_mem_area=Axi0" in written(target)


def test_an_application_has_no_constants(file: Path) -> None:
    """Its pool cannot be the constants' too; the file then does not count."""
    soc = file.with_name("soc.yaml")
    pools = "{shared: {provided: application}}"
    soc.write_text(f"{{soc: soc, version: 1, extends: {CHIP}, pools: {pools}}}\n")
    target, said = onto(file, soc, "Tern", "Only")
    assert "const_mem_area Axi0" in {each.what for each in said.left_out}
    assert "[Memory_Mode.Atoll]" in written(target)


def test_a_file_that_is_gone(file: Path) -> None:
    target, _ = onto(file, CHIP, "Tern", "Shared")
    file.unlink()
    with pytest.raises(UsageError, match="cannot read") as caught:
        written(target)
    assert [fault.code for fault in caught.value.faults] == ["E138"]


def test_the_description_decides(file: Path) -> None:
    """What it says is in the file, in the units of the file; what it does not say stays."""
    target, _ = onto(file, CHIP, "Tern", "Shared")
    system, mode = values(
        written(
            target,
            (
                "devices.ethos_u55.clock=200 MHz",
                "pools.weights.latency=100",
                "pools.shared.size=512 KiB",
            ),
        ),
        "Tern",
        "Shared",
    )
    assert (float(system["core_clock"]), mode["arena_cache_size"]) == (200e6, "524288")
    assert (system["offchipflash_clock_scale"], system["offchipflash_read_latency"]) == (
        "0.25",
        "50",
    )
    assert (system["sram_max_reads"], system["offchipflash_burst_length"]) == ("8", "128")


def test_check_finds_what_the_emitter_would_refuse(file: Path) -> None:
    target, _ = onto(file, CHIP, "Tern", "Shared")
    check_soc(load_soc(target), simulate=False)
    file.write_text(VELA_INI.replace("core_clock=400e6", "core_clock=fast"))
    with pytest.raises(AtollError) as caught:
        check_soc(load_soc(target), simulate=False)
    (fault,) = caught.value.faults
    assert (fault.code, fault.at and fault.at.line) == ("E138", 3)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda text: text.replace("[System_Config.", "[System."), "E138", "no section '.System_"),
        (lambda text: text.replace("400e6", "fast"), "E138", "'core_clock' is 'fast', not a freq"),
        (lambda text: text.replace("=Sram", "=Ram"), "E138", "'axi0_port' is 'Ram', not Sram or"),
        (lambda text: text.replace("0.125", "1.5"), "E138", "'OffChipFlash_clock_scale' is '1.5'"),
        (lambda text: text.replace("=64", "=-64"), "E138", "'OffChipFlash_read_latency' is '-64'"),
        (lambda text: text.replace("1048576", "1 MiB"), "E138", "'arena_cache_size' is '1 MiB'"),
        (lambda text: text.replace("_area=Axi1", "_area=Axi2"), "E138", "not Axi0 or Axi1"),
        (lambda text: text.replace(".Parent\nar", ".Mother\nar"), "E138", "section 'Memory_Mode.M"),
        (
            lambda text: text.replace(".Parent]", ".Parent]\ninherit=Memory_Mode.Shared"),
            "E138",
            "inherits itself",
        ),
        (lambda text: text + "[System_Config.Tern]\n", "E138", "'System_Config.Tern' is there twi"),
        (
            lambda text: text.replace("]\n", "]\ncore_clock=1\n", 1),
            "E138",
            "key 'core_clock' is th",
        ),
        (lambda text: "a\n" + text, "E138", "a line before any"),
        (
            lambda text: text.replace("core_clock=", "core clock "),
            "E138",
            "a line is no 'key=value'",
        ),
        (
            lambda text: text.replace("cache_mem_area=Axi0", "cache_mem_area=Axi1"),
            "E138",
            "has Off",
        ),
        (lambda text: text.replace("System_Config.Tern", "System_Config.T"), "E120", "no system c"),
        (
            lambda text: text.replace("Mode.Shared", "Mode.S"),
            "E120",
            "no memory mode 'Shared', but",
        ),
    ],
)
def test_damaged_files(change: Callable[[str], str], code: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse_vela_config(change(VELA_INI), Path("tern.ini"), VelaChoice("Tern", "Shared"))
    assert [fault.code for fault in caught.value.faults] == [code]
    assert all(fault.remedy for fault in caught.value.faults)


SPEEDS = st.builds(
    AreaSpeed,
    clock_scale=st.fractions(Fraction(1, 256), 1, max_denominator=10**4),
    ports=st.integers(1, 4),
    burst=st.sampled_from([8, 32, 128]),
    read_latency=st.integers(0, 600),
)
POOLS = st.builds(
    PoolSpeed,
    read_bandwidth=st.sampled_from([1, 4, 8, 12]),
    write_bandwidth=st.just(4),
    latency=st.integers(0, 100),
    burst=st.sampled_from([0, 32, 128]),
    clock=st.integers(10**6, 10**9),
)
PORTS = st.builds(Port, st.sampled_from([8, 16]), st.sampled_from([32 * 10**6, 4 * 10**8, 10**9]))


@settings(max_examples=300, deadline=None)
@given(said=SPEEDS, old=POOLS, port=PORTS, most=st.sampled_from([4, 16, 32]))
def test_speeds_come_back(said: AreaSpeed, old: PoolSpeed, port: Port, most: int) -> None:
    """Bandwidth and burst do, to the digits that are written; what was read is not read anew."""
    new = pool_speed(said, old, port, most)
    back = area_speed(new, port, said.ports)
    assert said.clock_scale
    assert back.clock_scale
    assert is_same_scale(said.clock_scale, back.clock_scale)
    assert back.burst == said.burst
    assert pool_speed(said, new, port, most) == new
    assert pool_speed(back, new, port, most) == new


TEXTS = st.text(st.sampled_from("[]=;#%:. \n\tAxi01SramSystem_Config.Memory_Mode"), max_size=40)


@settings(max_examples=300, deadline=None)
@given(pieces=st.lists(st.one_of(TEXTS, st.sampled_from(VELA_INI.splitlines(keepends=True)))))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    """What is read is written and read as the same."""
    try:
        config = parse_vela_config("".join(pieces), Path("any.ini"), VelaChoice())
    except UsageError:
        return
    again = parse_vela_config(
        "\n".join(section_lines(config)), Path("any.ini"), VelaChoice(config.system, config.mode)
    )
    assert (again.system_values, again.mode_values) == (config.system_values, config.mode_values)


@pytest.mark.slow
@pytest.mark.parametrize(("system", "mode"), PAIRS)
def test_vela_reads_what_comes_back(system: str, mode: str, file: Path) -> None:
    before = read_by_vela(file, "ethos-u55-128", system, mode)
    text = there_and_back(file, CHIP, system, mode)
    file.write_text(text)
    assert before is not None
    assert read_by_vela(file, "ethos-u55-128", system, mode) == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Only", "Shared"])
def test_vela_compiles_with_what_comes_back(mode: str, file: Path) -> None:
    """So does a build of the chip that was read: its NPU runs what Vela compiles."""
    pytest.importorskip("ethosu.vela")
    target, _ = onto(file, CHIP, "Tern", mode)
    file.write_text(written(target))
    words = file.read_text().splitlines()[1].removeprefix("; vela ").split()
    command = [str(MODEL) if word == "MODEL" else word for word in words[:-1]]
    command[command.index("--config") + 1] = file.name
    done = subprocess.run(
        (sys.executable, "-m", "ethosu.vela", *command, str(MODEL)),
        cwd=file.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [*file.parent.rglob("*_vela.tflite")]
    assert "ethos_u_9_stream" in atoll.compile(target, [MODEL]).networks[0].explain().text()


@pytest.mark.skipif(not _FOLDER, reason="ATOLL_IMPORT_FOLDER names no folder of files")
def test_the_files_of_a_folder_come_back(tmp_path: Path) -> None:
    """Onto a chip with the Ethos-U that a configuration names; Vela reads both alike."""
    socs = chips(tmp_path)
    counts = {"files": 0, "pairs": 0, "refused by both": 0}
    for path in {each.read_bytes(): each for each in sorted(Path(_FOLDER).rglob("*.ini"))}.values():
        systems, modes = sections(path.read_text(errors="replace"))
        counts["files"] += bool(systems)
        for system, mode in product(systems, modes):
            npu = next((npu for npu in socs if npu[6:9] in system.lower()), "ethos-u55-128")
            copy = tmp_path / f"n{counts['files']}_{counts['pairs']}.ini"
            copy.write_bytes(path.read_bytes())
            counts["pairs"] += 1
            before = read_by_vela(copy, npu, system, mode)
            if before is None:
                with pytest.raises(UsageError):
                    onto(copy, socs[npu], system, mode)
                counts["refused by both"] += 1
            else:
                copy.write_text(there_and_back(copy, socs[npu], system, mode))
                assert read_by_vela(copy, npu, system, mode) == before, (path, system, mode)
    assert counts["pairs"] > counts["refused by both"], counts
    print(counts)


def chips(folder: Path) -> dict[str, Path]:
    """Return a chip with each Ethos-U by Vela's name of the NPU; each has two memories to write."""
    socs = {}
    for npu in ("ethos-u55-128", "ethos-u65-256", "ethos-u85-256"):
        kind, macs = npu.replace("-u", "_u").split("-")
        socs[npu] = folder / f"{kind}.yaml"
        socs[npu].write_text(
            f"{{soc: {kind}, version: 1, extends: {CHIP},"
            f" devices: {{ethos_u55: {{accelerator: {kind}, params: {{macs: {macs}}}}}}},"
            " memories: {fpga_sram: {origin: 0x1200_0000, size: 3 MiB}}}\n"
        )
    return socs


def there_and_back(path: Path, soc: Path | str, system: str, mode: str) -> str:
    """Put a file onto a chip; return what is written: equal values, which change nothing."""
    target, _ = onto(path, soc, system, mode)
    text = written(target)
    assert values(text, system, mode) == values(path.read_text(), system, mode)
    again = path.with_name(f"{path.stem}_again.ini")
    again.write_text(text)
    unchanged, _ = onto(again, target)
    assert {*chip_of(unchanged)} == {"soc", "version", "extends"}
    return text


def read_by_vela(path: Path, npu: str, system: str, mode: str) -> dict[str, Any] | None:
    """Return what Vela makes of a configuration and a mode; None if it refuses them."""
    features = pytest.importorskip("ethosu.vela.architecture_features")
    try:
        found = features.ArchitectureFeatures([str(path)], npu, system, mode, 3, False, None)
    except pytest.importorskip("ethosu.vela.errors").VelaError:
        return None
    names = ("memory_clock_scales", "memory_ports_used", "memory_burst_length", "memory_latency")
    arrays = {name: getattr(found, name).tolist() for name in names}
    plain = ("core_clock", "axi0_port", "axi1_port", "arena_cache_size")
    areas = ("const_mem_area", "arena_mem_area", "cache_mem_area")
    return arrays | {name: getattr(found, name) for name in (*plain, *areas)}


def chip_of(path: Path) -> dict[str, Any]:
    """Return the data of a description."""
    data: dict[str, Any] = yaml.safe_load(path.read_text())
    return data


def written_to(folder: Path, text: str) -> Path:
    """Write a file, and return its path."""
    (folder / "tern.ini").write_text(text)
    return folder / "tern.ini"


def sections_of(system: str, mode: str) -> str:
    """Return a file with one system configuration and one memory mode."""
    path = Path("tern.ini")
    return "\n".join(section_lines(parse_vela_config(VELA_INI, path, VelaChoice(system, mode))))
