# SPDX-License-Identifier: Apache-2.0
"""One chip with scopes, ordered pools, threads, targets and dashes: all of it holds together."""

import json
import re
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from atoll.artifacts.build_tree import part_of
from atoll.bsp.firmware import link_unchecked
from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

DATA = Path(__file__).parents[1] / "data"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
WORDS = [str(DATA / "crab.yaml"), str(DIGITS), "--build", str(DATA / "crab.build.yaml")]

Capture = pytest.CaptureFixture[str]


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
    assert "softmax_9.powers                local       audio_dsp.thread0.stack" in said
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
