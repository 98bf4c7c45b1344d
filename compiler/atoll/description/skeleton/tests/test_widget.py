"""The widget keeps what its description promises."""

from pathlib import Path

from atoll.cli import main

FOLDER = Path(__file__).parents[1]


def test_the_description_is_right() -> None:
    """The RTL elaborates in the chip."""
    assert main(["check", str(FOLDER / "chip.yaml"), "--simulate"]) == 0


def test_it_is_exact_and_survives_broken_hardware() -> None:
    """The conformance kit finds nothing wrong."""
    assert main(["accelerator", "test", str(FOLDER / "widget" / "widget.yaml")]) == 0
