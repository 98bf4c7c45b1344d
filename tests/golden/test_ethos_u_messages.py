"""What the user reads where a network cannot be compiled for an Ethos-U."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from tests.npu_mutants import block_mutants
from tests.refusal import refusal

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.vela import optimised, run_vela
from atoll.vela.allocation import Location, allocations
from atoll_sim.engines.ethos_u.emitter import EthosUEmitter

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

    patch.setattr(run_vela, "version", version)


def other(patch: Patch) -> None:
    """Install a Vela without some option."""
    options = run_vela.options_of
    patch.setattr(run_vela, "options_of", lambda *given: (*options(*given), "--newer-option"))


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


def other_base(patch: Patch) -> None:
    """Have the emitter give the scratch another address."""
    encode, (change,) = EthosUEmitter.encode, (c for n, c in block_mutants() if n == "word 6")
    patch.setattr(EthosUEmitter, "encode", lambda *given: change(encode(*given)))


ASKED = {
    "pinned_away": ("--pin", "image=private"),
    "placed_on_a_core": ("--place", "ethos_u_9=cpu"),
    "elsewhere": ("--place", "ethos_u_9=ethos_u55"),
}
CASES: dict[str, tuple[Callable[[Patch], None], tuple[str, ...]]] = {
    **dict.fromkeys(ASKED, (nothing, ())),
    "missing": (absent, ()),
    "refused": (other, ()),
    "elsewhere": (elsewhere, ()),
    "other_start": (other_base, ()),
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


def test_message_of_a_changed_image(
    golden: Callable[[Path, str], None],
    monkeypatch: Patch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """The weights are told to begin 16 bytes further on."""
    monkeypatch.chdir(ROOT)
    tree = build((compile_file(load_soc("corstone300_u55"), Path(DIGITS)),), tmp_path)
    (elf,) = tree.firmware.elves
    data, (change,) = elf.read_bytes(), (c for n, c in block_mutants() if n == "word 4")
    at = data.find(b"ETHU")
    elf.write_bytes(data[:at] + change(data[at : at + 128]) + data[at + 128 :])
    capsys.readouterr()
    assert main(["check-image", "corstone300_u55", str(elf)]) == 1
    golden(MESSAGES / "changed_image.txt", capsys.readouterr().err.replace(f"{ROOT}/", ""))
