# SPDX-License-Identifier: Apache-2.0
"""Text from outside is printed escaped and cut, wherever a user reads it."""

import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest

from atoll.cli import main
from atoll_sim.waves.gtkwave import gtkwave_text

ROOT = Path(__file__).parents[2]
LAGOON = (ROOT / "socs" / "lagoon.yaml").read_text()
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"

EVIL = "e\x1b[31m\u202e\u2066\x9b\x07l"
UNPRINTABLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def quoted(text: str) -> str:
    """Write text as a YAML scalar whose escapes YAML resolves."""
    return json.dumps(text)


DESCRIPTIONS = {
    "E011": LAGOON.replace("version: 1", f"version: 1\n{quoted(EVIL)}: 1"),
    "E012": LAGOON.replace("size: 8 KiB", f"size: {quoted(EVIL)}"),
    "E014": LAGOON.replace("input_lanes: 8", f"{quoted(EVIL)}: 8"),
    "E001": LAGOON.replace("version: 1", f"version: 1\nextends: {quoted(EVIL + '.yaml')}"),
    "E004": LAGOON.replace("version: 1", f"version: 1\n{quoted(EVIL)}: 1\n{quoted(EVIL)}: 2"),
    "E022": LAGOON.replace("accelerator: reef", f"accelerator: {quoted(EVIL)}"),
}
BUILDS = {
    "E026": f"pin: {{{quoted(EVIL)}: shared}}",
    "E027": f"free: [{quoted(EVIL)}]\npin: {{input: {{pool: {quoted(EVIL)}}}}}",
    "E025": f"place: {{{quoted(EVIL)}: npu}}",
    "E021": f"place: {{conv_2d_0: {quoted(EVIL)}}}",
}
ARGUMENTS = {
    "E090": ["check", "lagoon", f"--{EVIL}"],
    "E098": ["check", "lagoon", "--set", f"{EVIL}.x=1"],
    "E097": ["check", "lagoon", "--set", EVIL],
    "E008": ["check", EVIL],
    "E050": ["plan", "lagoon", f"{EVIL}.tflite"],
    "E028": ["explain", "lagoon", str(DIGITS), "--buffer", EVIL],
    "E094": ["schema", EVIL],
    "E099": ["new", EVIL],
}


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that fails and return what it printed, which has nothing unprintable."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert not UNPRINTABLE.search(out + err), ascii(out + err)
    return err


@pytest.mark.parametrize("code", DESCRIPTIONS)
def test_keys_and_values(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chip.yaml").write_text(DESCRIPTIONS[code])
    message = refused(["check", "chip.yaml"], capsys)
    assert f"error[{code}]" in message
    assert r"\x1b[31m\u202e\u2066\x9b\x07" in message


@pytest.mark.parametrize("code", BUILDS)
def test_build_options(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("build.yaml").write_text(BUILDS[code])
    message = refused(["plan", "lagoon", str(DIGITS), "--build", "build.yaml"], capsys)
    assert f"error[{code}]" in message


@pytest.mark.parametrize("code", ARGUMENTS)
def test_arguments(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(ARGUMENTS[code], capsys)
    assert f"error[{code}]" in message
    assert r"\x1b[31m\u202e" in message


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [("nan_scale", "E056", b"network/conv/R"), ("unsupported", "E053", b"Mystery")],
)
def test_names_in_a_network(
    name: str, code: str, word: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (ROOT / "tests" / "bad" / f"model_{name}.tflite").read_bytes()
    assert word in data
    model = tmp_path / "model.tflite"
    model.write_bytes(data.replace(word, b"\x1b[2J\x07\r".ljust(len(word), b"x")))
    message = refused(["plan", "lagoon", str(model)], capsys)
    assert f"error[{code}]" in message
    assert r"\x1b[2J\x07\r" in message


@pytest.mark.parametrize("machine", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("command", ["check", "explain", "plan"])
def test_paths(
    command: str, machine: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / EVIL
    folder.mkdir()
    chip = folder / "chip.yaml"
    chip.write_text(LAGOON)
    instance = folder / f"{EVIL}.csv"
    instance.write_text("id,lower,upper,size\na,0,2,64\n")
    asked = ["--instance", str(instance)] if command == "plan" else [str(chip)]
    assert main([command, *asked, *machine]) == 0
    out, err = capsys.readouterr()
    assert not UNPRINTABLE.search(out + err), ascii(out + err)
    if machine:
        assert not UNPRINTABLE.search(str(json.loads(out)))


def test_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance = tmp_path / f"{EVIL}.csv"
    instance.write_text("id,lower,upper,size\na,0,2,64\n")
    figure = tmp_path / f"{EVIL}.svg"
    assert main(["plan", "--instance", str(instance), "--figure", str(figure), "--picture"]) == 0
    out, err = capsys.readouterr()
    assert not UNPRINTABLE.search(out + err), ascii(out + err)
    assert not UNPRINTABLE.search(figure.read_text())
    xml.etree.ElementTree.parse(figure)


def test_generated_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / EVIL
    folder.mkdir()
    (folder / "chip.yaml").write_text(LAGOON)
    model = folder / f"{EVIL}*/.tflite"
    model.parent.mkdir()
    model.write_bytes(DIGITS.read_bytes())
    assert main(["build", str(folder / "chip.yaml"), str(model), "-o", str(tmp_path / "out")]) == 0
    assert not UNPRINTABLE.search("".join(capsys.readouterr()))
    texts = [*tmp_path.glob("out/*.*"), *tmp_path.glob("out/bsp/*.*")]
    written = [path for path in texts if path.suffix not in {".elf", ".tflite", ".o", ".map"}]
    assert len(written) > 12
    for path in written:
        assert not UNPRINTABLE.search(path.read_text().replace("\t", " ")), path


def test_save_files_of_waves() -> None:
    text = gtkwave_text(Path(f"{EVIL}\n[x].vcd"), (), (), (0, 10))
    assert not UNPRINTABLE.search(text)
    assert r"\x1b[31m" in text
    assert "\n[x]" not in text


def test_words_for_files_that_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{EVIL}.yaml"
    assert main(["new", "chip", "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "wrote" in err
    assert not UNPRINTABLE.search(out + err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "lagoon", f"--{'x' * 130_000}"],
        ["check", "lagoon", "--set", f"{'x' * 130_000}=1"],
        ["check", "lagoon", "--set", "devices.cpu.isa=" + "x" * 130_000],
        ["check", "lagoon", "--set", "devices.cpu.isa=" + "x " * 65_000],
        ["schema", "x" * 130_000],
        ["explain", "lagoon", str(DIGITS), "--buffer", "x" * 130_000],
    ],
    ids=["option", "key", "value", "words", "schema", "buffer"],
)
def test_messages_are_bounded(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert len(refused(arguments, capsys)) < 2_000
