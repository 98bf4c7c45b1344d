"""What the user reads where a network cannot be compiled for an Ethos-U."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from tests.refusal import refusal

from atoll.vela import optimised, run
from atoll.vela.allocation import Location, allocations

pytest.importorskip("ethosu.vela")

MESSAGES = Path(__file__).parent / "ethos_u"
ROOT = Path(__file__).parents[2]
DIGITS = "examples/01_digits/digits_int8.tflite"
Patch = pytest.MonkeyPatch


def nothing(patch: Patch) -> None:
    """Leave Vela as it is."""


def absent(patch: Patch) -> None:
    """Uninstall Vela."""

    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    patch.setattr(run, "version", version)


def other(patch: Patch) -> None:
    """Install a Vela without some option."""
    options = run.options_of
    patch.setattr(run, "options_of", lambda *given: (*options(*given), "--newer-option"))


def elsewhere(patch: Patch) -> None:
    """Have Vela's tables say that tensors begin 16 bytes further on than its commands have them."""

    def moved(text: str) -> list[dict[str, tuple[Location, ...]]]:
        return [
            {
                n: tuple(replace(at, begin=at.begin + 16) for at in found)
                for n, found in each.items()
            }
            for each in allocations(text)
        ]

    patch.setattr(optimised, "allocations", moved)


ASKED = {
    "pinned_away": ("--pin", "image=private"),
    "placed_on_a_core": ("--place", "ethos_u_9=cpu"),
}
CASES: dict[str, tuple[Callable[[Patch], None], tuple[str, ...]]] = {
    **dict.fromkeys(ASKED, (nothing, ())),
    "missing": (absent, ()),
    "refused": (other, ()),
    "elsewhere": (elsewhere, ()),
    "too_small": (
        nothing,
        (
            "pools.shared.size=2 KiB",
            "pools.fpga.others=none",
            "pools.fpga.reach={cpu: rw}",
        ),
    ),
    "not_shared": (nothing, ("pools.weights.reach.cpu=none",)),
    "seen_elsewhere": (nothing, ("memories.sram.views={ethos_u55: 0x5000_0000}",)),
}


@pytest.mark.parametrize("name", CASES)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    monkeypatch: Patch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    change, settings = CASES[name]
    change(monkeypatch)
    overrides = [word for each in settings for word in ("--set", each)]
    command = ["plan", "corstone300_u55", DIGITS, *overrides, *ASKED.get(name, ())]
    text = refusal(command, capsys)
    golden(MESSAGES / f"{name}.txt", re.sub(r"Vela \d+\.\d+\.\d+", "Vela X.Y.Z", text))
