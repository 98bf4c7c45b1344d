# SPDX-License-Identifier: Apache-2.0
"""Images with accelerators of one's own compute on simulated cores what the network computes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.test_board_packages import cmake
from tests.refusal import refusal

from atoll.cli import main

pytest.importorskip("unicorn")

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = str(EXAMPLES / "01_digits" / "digits_int8.tflite")
MESSAGES = Path(__file__).parents[1] / "golden" / "run"
OWN, PLOVER = EXAMPLES / "07_own_accelerator", EXAMPLES / "10_vector_engine"

Capture = pytest.CaptureFixture[str]
Golden = Callable[[Path, str], None]
Made = Callable[..., tuple[list[str], str]]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make a package and its image; return the words of `run-image`, and of the network."""

    def make(example: Path, *options: str) -> tuple[list[str], str]:
        monkeypatch.syspath_prepend(str(OWN))
        own = example / "network.tflite"
        chip, network = str(example / "chip.yaml"), str(own) if own.exists() else DIGITS
        assert main(["bsp", chip, network, "-o", str(tmp_path / "bsp"), *options]) == 0
        cmake(tmp_path / "bsp", "zig")
        image = tmp_path / "bsp" / "build" / "zig" / "firmware.elf"
        return ["run-image", chip, str(image), "--cpu", "iss"], network

    return make


def is_right(words: list[str], capsys: Capture) -> None:
    capsys.readouterr()
    status = main(words)
    said = capsys.readouterr()
    assert (status, "(WRONG)" in said.out) == (0, False), said.out + said.err
    assert "(right)\n" in said.out


def test_an_accelerator_with_a_program_is_right_or_refused(
    made: Made, golden: Golden, capsys: Capture
) -> None:
    words, network = made(PLOVER)
    known = [*words, "--network", network]
    is_right([*known, "--accelerator", "model"], capsys)
    golden(MESSAGES / "image_of_a_program.txt", refusal(words, capsys))
    said = refusal([*words, "--accelerator", "none"], capsys)
    golden(MESSAGES / "image_that_uses_an_accelerator.txt", said)
    other = ["--place", "conv_2d_0=cpu", "--accelerator", "model"]
    said = refusal([*known, *other], capsys)
    golden(MESSAGES / "image_of_another_placement.txt", said)
    said = refusal([*words, "--network", str(OWN / "network.tflite")], capsys)
    golden(MESSAGES / "image_of_another_network.txt", said)


@pytest.mark.slow
def test_an_accelerator_with_a_model_of_its_commands_is_right(made: Made, capsys: Capture) -> None:
    words, network = made(OWN)
    words += ["--accelerator", "joiner=model"]
    is_right(words, capsys)
    is_right([*words, "--network", network], capsys)


@pytest.mark.parametrize("accelerator", ["rtl", "model"])
@pytest.mark.parametrize("example", [OWN, PLOVER], ids=["tern", "plover"])
@pytest.mark.parametrize("cpu", ["rtl", "iss"])
@pytest.mark.rtl
@pytest.mark.slow
def test_accelerators_in_rtl(
    cpu: str, example: Path, accelerator: str, made: Made, capsys: Capture
) -> None:
    words, network = made(example)
    words[-1] = cpu
    is_right([*words, "--network", network, "--accelerator", accelerator], capsys)
    if accelerator == "rtl" and (cpu == "rtl" or example == OWN):
        is_right(words, capsys)
