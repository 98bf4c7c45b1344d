"""The widget keeps what its description promises."""

import subprocess
import sys
from pathlib import Path

import atoll

FOLDER = Path(__file__).parents[1]


def test_the_description_is_right() -> None:
    """The RTL elaborates in the chip."""
    assert atoll.load_soc(FOLDER / "chip.yaml").check(simulate=True)


def test_it_is_exact_and_survives_broken_hardware() -> None:
    """The conformance kit finds nothing wrong."""
    command = [sys.executable, "-m", "atoll", "accelerator", "test"]
    subprocess.run([*command, FOLDER / "widget" / "widget.yaml"], check=True)
