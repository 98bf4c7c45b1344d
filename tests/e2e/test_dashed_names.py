# SPDX-License-Identifier: Apache-2.0
"""D1: a chip whose names have dashes and dots runs, and its devices are named so on the way in."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

ROOT = Path(__file__).parents[2]
DASHED = ROOT / "tests" / "data" / "dashed.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.mark.parametrize(
    "words",
    [
        ("--cpu", "iss", "--accelerator", "npu.conv-0=model", "--accelerator", "dma-a.b=model"),
        pytest.param((), marks=pytest.mark.slow),
    ],
)
def test_d1_a_chip_with_dashes_and_dots_runs_bit_exactly(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--place", "softmax_9=audio-dsp")
    assert main(["run", str(DASHED), str(DIGITS), *place, *words]) == 0
    said = capsys.readouterr().out
    assert "10 of 10 layers bit-exact" in said
    assert "0 placement violations" in said


@pytest.mark.parametrize(
    "words",
    [
        ("check", str(DASHED)),
        ("explain", str(DASHED)),
        ("explain", str(DASHED), str(DIGITS)),
        ("explain", str(DASHED), str(DIGITS), "--scopes"),
        ("plan", str(DASHED), str(DIGITS)),
        ("estimate", str(DASHED), str(DIGITS)),
        ("run", str(DASHED), str(DIGITS), "--cpu", "native", "--accelerator", "model"),
    ],
    ids=lambda words: " ".join(Path(word).name for word in words),
)
def test_d1_tables_have_names_as_the_chip_does(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 0
    told = capsys.readouterr().out
    assert "always-on.cpu" in told or "act.0" in told
    assert not re.findall(r"always_on_cpu|audio_dsp|npu_conv_0|dma_a_b|cam_0|act_0|fast_ram", told)


def test_d1_what_a_network_calls_so_too_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pool has the identifier of an operator, which tables name."""
    chip = tmp_path / "both.yaml"
    chip.write_text(DASHED.read_text().replace("w-0:", "add-3:"))
    assert main(["explain", str(chip), str(DIGITS)]) == 0
    told = capsys.readouterr().out
    assert "add_3 " in told
    assert "add-3" not in told
    assert "npu.conv-0" in told


@pytest.mark.parametrize(
    ("pool", "stack", "device", "core", "thread"),
    [
        ("act.0", "audio-dsp.stack", "audio-dsp", "always-on.cpu", "net-0"),
        ("act_0", "audio_dsp.stack", "audio_dsp", "always_on_cpu", "net_0"),
    ],
)
def test_d1_requests_take_either_spelling(
    pool: str,
    stack: str,
    device: str,
    core: str,
    thread: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--on-device", f"softmax_9={device}", "--thread", f"{core}={thread}"]
    words += ["--on-device", f"add_3=memory_scope:global.{pool}"]
    words += ["--pin", f"softmax_9_out={pool}", "--scope", f"add_3_out=global.{pool}"]
    words += ["--scope", f"softmax_9.powers={stack}"]
    assert main(["explain", str(DASHED), str(DIGITS), "--json", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    (scope,) = (each for each in told["scopes"]["operators"] if each["name"] == "softmax_9")
    assert scope["device"] == "audio_dsp"
    buffers = {each["name"]: each for each in told["buffers"]}
    assert buffers["softmax_9.powers"]["place"] == "audio_dsp.stack"
    assert buffers["add_3_out"]["left"] == ["act_0"]


@pytest.mark.parametrize("scope", ["always-on.cpu.net.x.stack", "always_on_cpu.net_x.stack"])
@pytest.mark.parametrize("option", ["--scope", "--set-scope"])
def test_c1_d1_dots_of_a_stack_are_parts_of_names_or_not(
    scope: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chip = tmp_path / "dotted.yaml"
    chip.write_text(DASHED.read_text().replace("net-0", "net.x"))
    whom = "softmax_9.powers" if option == "--scope" else "softmax_9"
    words = ["explain", str(chip), str(DIGITS), "--json", "--on-device", "softmax_9=always-on.cpu"]
    status = main([*words, option, f"{whom}={scope}"])
    told = capsys.readouterr()
    assert "which does not exist" not in told.err
    if option == "--scope":
        assert status == 0
        buffers = {each["name"]: each for each in json.loads(told.out)["buffers"]}
        assert buffers["softmax_9.powers"]["place"] == "always_on_cpu.net_x.stack"


@pytest.mark.parametrize("core", ["audio-dsp", "audio_dsp", "always-on.cpu"])
def test_d1_images_are_of_cores_in_either_spelling(core: str, tmp_path: Path) -> None:
    place = ("--place", "softmax_9=audio-dsp")
    assert main(["build", str(DASHED), str(DIGITS), "-o", str(tmp_path / "out"), *place]) == 0
    name = "firmware.elf" if core == "always-on.cpu" else "audio_dsp.elf"
    (image,) = (tmp_path / "out").rglob(name)
    assert main(["check-image", str(DASHED), str(image), "--core", core]) == 0


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("devices.always-on.cpu.stack.size", lambda soc: soc.host_cpu.stack.size),
        ("devices.always-on.cpu.stack.threads.net-0", lambda soc: soc.host_cpu.threads[0].size),
        ("devices.always_on_cpu.stack.size", lambda soc: soc.host_cpu.stack.size),
        ("devices.audio-dsp.stack.size", lambda soc: soc.device("audio_dsp").stack.size),
        ("memories.fast.ram.size", lambda soc: soc.memory("fast_ram").size),
        ("pools.act.0.size", lambda soc: soc.pool("act_0").region.size),
    ],
)
def test_d1_a_set_takes_names_as_the_description_has_them(
    key: str, found: Callable[[ResolvedSoc], int]
) -> None:
    assert found(load_soc(DASHED, (f"{key}=65536",))) == 65536


MISTAKES = {
    "placed": (["--place", "softmax_9=npu.conv-0"], "'npu.conv-0' (asked for", "'always-on.cpu'"),
    "placed_otherwise": (["--place", "softmax_9=npu_conv_0"], "'npu.conv-0'", "'always-on.cpu'"),
    "pinned": (["--pin", "softmax_9_out=w-0"], "pool 'w-0' (role", "pin it"),
    "scope": (
        ["--scope", "softmax_9.powers=audio-dsp.stack"],
        "'always-on.cpu.net-0.stack' and 'act.0' are left",
        "'always-on.cpu.net-0.stack'",
    ),
    "stack": (
        ["--set", "devices.audio_dsp.stack.size=512KiB"],
        "'audio-dsp.stack' ends",
        "'memories.fast.ram.size'",
    ),
    "loader": (
        ["--set", "devices.audio_dsp.loader=external"],
        "its code is in ROM 'boot-rom'",
        "'loader: xip'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_d1_messages_write_names_as_the_chip_does(
    mistake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the command line wrote, and in JSON too; not one identifier is left."""
    words, message, remedy = MISTAKES[mistake]
    assert main(["explain", str(DASHED), str(DIGITS), *words]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert remedy in said.partition("help:")[2]
    assert main(["explain", str(DASHED), str(DIGITS), *words, "--json"]) == 1
    (first, *_) = json.loads(capsys.readouterr().out)["faults"]
    assert message in first["message"]
    identifiers = re.compile(r"always_on_cpu|audio_dsp|npu_conv_0|dma_a_b|boot_rom|fast_ram|act_0")
    assert not identifiers.search(f"{first['message']} {first['remedy']}")


def test_d1_the_remedy_of_a_dashed_name_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DASHED.read_text().replace("fast.ram, size: 2 KiB}", "fast.ram, size: 1 MiB}")
    chip = tmp_path / "chip.yaml"
    chip.write_text(text)
    assert main(["check", str(chip)]) == 1
    (size,) = set(re.findall(r"set 'memories.fast.ram.size' to (\d+) KiB", capsys.readouterr().err))
    chip.write_text(text.replace("size: 256 KiB, kind: ram", f"size: {size} KiB, kind: ram"))
    assert main(["check", str(chip)]) == 0
