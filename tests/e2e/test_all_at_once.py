# SPDX-License-Identifier: Apache-2.0
"""One chip with scopes, ordered pools, threads, targets and dashes: all of it holds together."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.artifacts.build_tree import part_of
from atoll.bsp.firmware import link_unchecked
from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
EXAMPLE = EXAMPLES / "09_custom_instruction"
WORDS = [str(DATA / "crab.yaml"), str(DIGITS), "--build", str(DATA / "crab.build.yaml")]

Capture = pytest.CaptureFixture[str]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cpu", ["iss", pytest.param("rtl", marks=(pytest.mark.rtl, pytest.mark.slow))]
)
def test_d1_c1_k1_a_chip_with_all_of_it_is_exact(cpu: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", *WORDS, "--cpu", cpu, "--json", "--output", str(tmp_path / "built")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    assert set(report["stack"]) >= {"cpu", "cpu.net", "audio_dsp", "audio_dsp.thread0"}


@pytest.mark.rtl
@pytest.mark.slow
def test_faults_in_it_are_noticed(capsys: Capture) -> None:
    assert main(["validate", *WORDS, "--mutants", "220"]) == 0
    noticed, faults = re.findall(r"(\d+) of (\d+) faults noticed", capsys.readouterr().out)[0]
    assert int(noticed) == int(faults) >= 200


def test_scopes_say_who_asked(capsys: Capture) -> None:
    assert main(["explain", *WORDS]) == 0
    said = capsys.readouterr().out
    for asked in (
        "pin 'lp@64KiB,rp'",
        "pin 'own,w'",
        "of role 'workspace'",
        "of role 'inputs'",
        "scope 'global.lp:out'",
        "scope 'global.rp:in' of 'average_pool_2d_6..fully_connected_8'",
        "asked for by 'on_device' of 'conv_2d_0..conv_2d_2'",
        "pin 'lp:out' of 'on_device' of 'depthwise_conv_2d_4'",
    ):
        assert asked in said
    assert "softmax_9.powers                local       audio-dsp.thread0.stack" in said
    assert re.search(r"softmax_9.greatest +scope 'local' .* registers ", said)
    assert re.search(r"conv_2d_5_weights +constant +own ", said)


def test_each_device_has_its_loader(capsys: Capture) -> None:
    """Code in ROM runs in place, that in RAM is brought by what is outside the image."""
    assert main(["check", WORDS[0], "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    loaders = {row["device"]: row["loader"] for row in rows_of(tables, "loader")}
    assert loaders["cpu"] == "xip"
    assert loaders["audio_dsp"] == "external"
    assert loaders["conv"] == loaders["dma"] == "none"


def rows_of(data: object, key: str) -> list[dict[str, str]]:
    """Return each object in JSON that has `key`."""
    if isinstance(data, dict):
        return [data] if key in data else [r for each in data.values() for r in rows_of(each, key)]
    return [r for each in data for r in rows_of(each, key)] if isinstance(data, list) else []


def test_the_application_has_the_parameters_and_a_workspace(tmp_path: Path) -> None:
    """In sections of its own choosing, at the origins of their pools; the network has the rest."""
    built = tmp_path / "built"
    assert main(["build", *WORDS, "--output", str(built)]) == 0
    with (built / "firmware.elf").open("rb") as file:
        sections = {each.name: each for each in ELFFile(file).iter_sections()}
        own, given = sections[".atoll.pool.own"], sections[".atoll.pool.w"]
        assert own["sh_addr"] == 0x2_0000
        assert given["sh_addr"] == 0x2_4000
        assert given["sh_size"] > own["sh_size"] > 0
        assert sections[".atoll.pool.lp"]["sh_addr"] == 0x2000_0000
    header = (built / "bsp" / "digits_int8.h").read_text()
    assert "struct digits_int8_parameters" in header
    assert "struct digits_int8_pools" in header
    script = (built / "bsp" / "crab.ld").read_text()
    assert "KEEP(*(.atoll.pool.w PARAMETERS))" in script
    assert "KEEP(*(.atoll.pool.lp LEFT))" in script


@pytest.mark.parametrize("thread", ["cpu.net.stack", "cpu.ui.stack"])
def test_data_may_not_lie_over_the_stack_of_a_thread(thread: str, tmp_path: Path) -> None:
    """Not even of one that nothing in the image runs on: the linker refuses it."""
    made = compile_file(load_soc(WORDS[0]), DIGITS)
    host = made.soc.host_cpu
    (stack,) = (each for each in host.threads if each.name == thread)
    right = f"ORIGIN = 0x{host.data.origin:08X}"

    def edited(script: str) -> str:
        assert script.count(right) == 1
        return script.replace(right, f"ORIGIN = 0x{stack.end - 32:08X}")

    with pytest.raises(AtollError, match=f"data lies over stack '{thread}'"):
        link_unchecked(made.soc, (part_of(made),), tmp_path, None, edited)


@pytest.mark.parametrize(("pool", "origin"), [("lp", 0x2000_0000), ("rp", 0x2100_0000)])
@pytest.mark.parametrize("by", [-128, 0, 128])
def test_m7_a_workspace_of_the_application_is_where_commands_have_it(
    pool: str, origin: int, by: int, tmp_path: Path
) -> None:
    """The run function compares symbols, which move along; the host may touch none of its bytes."""
    made = compile_file(load_soc(WORDS[0]), DIGITS)
    right = f"  pool_{pool} (rw) : ORIGIN = 0x{origin:08X}"

    def edited(script: str) -> str:
        assert script.count(right) == 1
        return script.replace(right, f"  pool_{pool} (rw) : ORIGIN = 0x{origin + by:08X}")

    if not by:
        link_unchecked(made.soc, (part_of(made),), tmp_path, None, edited)
        return
    with pytest.raises(AtollError, match=f"pool '{pool}' is not where the networks have it") as it:
        link_unchecked(made.soc, (part_of(made),), tmp_path, None, edited)
    assert f"to begin at 0x{origin:08X}" in str(it.value)


def with_run_time_sizes(folder: Path) -> list[str]:
    """Write the chip with a kernel of example 09 that takes blocks of a heap; return the words.

    The kernel belongs to a unit beside VexRiscv, which caches what lies below 0x8000_0000.
    """
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    text = (DATA / "crab.yaml").read_text()
    chip = re.sub(
        r"(registers|mailbox|origin): (0x[\dA-F_]+)",
        lambda found: f"{found[1]}: {int(found[2], 16) + 0x8000_0000:#x}",
        text,
    )
    build = (DATA / "crab.build.yaml").read_text()
    unit = "core: vexriscv_cfu, function_unit: ./nonzero_kernels.yaml"
    for old, new in (
        ("isa: rv32imc, core: picorv32", f"isa: rv32im, {unit}"),
        ("lean: {isa: rv32im}", "lean: {isa: rv32i}"),
        ("size: 8 KiB, reach: {cpu: rw}", "size: 8 KiB, heap: 1 KiB, reach: {cpu: rw}"),
    ):
        assert chip.count(old) == 1
        chip = chip.replace(old, new)
    for old, new in (
        ("place: {add_3: rest}", "place: {add_3: rest, fully_connected_8: cpu}"),
        ("from: average_pool_2d_6, to: fully_connected_8", "operators: average_pool_2d_6"),
    ):
        assert build.count(old) == 1
        build = build.replace(old, new)
    (folder / "crab.yaml").write_text(chip)
    (folder / "crab.build.yaml").write_text(build)
    return [str(folder / "crab.yaml"), str(DIGITS), "--build", str(folder / "crab.build.yaml")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cpu", ["iss", pytest.param("rtl", marks=(pytest.mark.rtl, pytest.mark.slow))]
)
def test_w1_d1_c1_k1_a_chip_with_all_of_it_and_run_time_sizes_is_exact(
    cpu: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = with_run_time_sizes(tmp_path / "example")
    monkeypatch.syspath_prepend(tmp_path / "example")
    for name in ("dot4", "nonzero_kernels"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert main(["build", *words, "--output", str(tmp_path / "built")]) == 0
    assert main(["explain", *words, "--buffer", "fully_connected_8.places", "--json"]) == 0
    assert '"size_bytes": null' in capsys.readouterr().out
    assert main(["run", *words, "--cpu", cpu, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    with (tmp_path / "built" / "firmware.elf").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        assert "atoll_workspace_allocate" in {each.name for each in table.iter_symbols()}
