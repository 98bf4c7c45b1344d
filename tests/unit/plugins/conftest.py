# SPDX-License-Identifier: Apache-2.0
"""A chip whose accelerator is ours but for one word, and commands that must refuse it."""

import importlib
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
REEF = ROOT / "hw_sim" / "atoll_sim" / "engines" / "reef" / "reef.yaml"
NATIVE = ("--cpu", "native", "--accelerator", "model")

HEAD = """
from atoll_sim.engines.reef.emitter import ReefEmitter
from atoll.ir.job import Job
from atoll_sim.engines.interface import BusFault, Outcome
from atoll_sim.engines.reef.model import ReefModel
from dataclasses import replace

"""


@dataclass(frozen=True)
class Workbench:
    """A folder with a chip, a network and an accelerator whose plug-ins a test writes."""

    folder: Path
    module: str
    capsys: pytest.CaptureFixture[str]

    def accelerator(self, *edits: tuple[str, str]) -> None:
        """Write the accelerator's YAML: reef's with some words replaced."""
        text = REEF.read_text().replace("accelerator: reef\n", "accelerator: mine\n", 1)
        for old, new in edits:
            assert old in text, old
            text = text.replace(old, new, 1)
        (self.folder / "mine.yaml").write_text(text)

    def emitter(self, code: str) -> None:
        """Write a module with a class ``Mine`` and let it be the emitter."""
        (self.folder / f"{self.module}.py").write_text(HEAD + code)
        self.accelerator(("atoll_sim.engines.reef.emitter:ReefEmitter", f"{self.module}:Mine"))

    def model(self, code: str) -> None:
        """Likewise for the model."""
        (self.folder / f"{self.module}.py").write_text(HEAD + code)
        self.accelerator(("atoll_sim.engines.reef.model:ReefModel", f"{self.module}:Mine"))

    def place(self, pattern: str) -> str:
        """Return where the group of a pattern begins in the accelerator's YAML, as errors do."""
        text = (self.folder / "mine.yaml").read_text()
        found = re.search(pattern, text, re.MULTILINE)
        assert found is not None, pattern
        before = text[: found.start(1)].splitlines()
        return f"mine.yaml:{len(before)}:{len(before[-1]) + 1}"

    def refusal(self, *arguments: str) -> str:
        """Run a command that must be refused; return what it says."""
        self.capsys.readouterr()
        assert main(arguments) == 1
        said = self.capsys.readouterr().err
        assert "Traceback" not in said
        assert said.count("error[E") == said.count("  help: ") > 0
        return said.replace(f"{self.folder}/", "").replace(self.module, "mine")

    def accepted(self, *arguments: str) -> str:
        """Run a command that must not be refused; return what it prints."""
        self.capsys.readouterr()
        assert main(arguments) == 0
        return self.capsys.readouterr().out


@pytest.fixture
def bench(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Workbench:
    """A workbench in a fresh folder; its module has a name that no other test has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    shutil.copyfile(DIGITS, tmp_path / "digits.tflite")
    chip = (ROOT / "socs" / "lagoon.yaml").read_text()
    chip = chip.replace("accelerator: reef", "accelerator: ./mine.yaml")
    (tmp_path / "chip.yaml").write_text(chip)
    number = abs(hash(request.node.nodeid))
    made = Workbench(folder=tmp_path, module=f"mine_{number}", capsys=capsys)
    made.accelerator()
    return made


@pytest.fixture
def commands() -> dict[str, tuple[str, ...]]:
    """The commands that a broken plug-in may meet."""
    return {
        "check": ("check", "chip.yaml"),
        "plan": ("plan", "chip.yaml", "digits.tflite"),
        "build": ("build", "chip.yaml", "digits.tflite", "-o", "out"),
        "run": ("run", "chip.yaml", "digits.tflite", *NATIVE),
    }


Refuse = Callable[..., str]


Install = Callable[..., None]
"""Takes the name of a module, its text, and the lines of an ``entry_points.txt``."""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install packages of one module each, outside the tree."""
    site = tmp_path / "site"
    site.mkdir()

    def run(
        module: str, code: str, points: str, beside: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        for name, text in beside.items():
            (site / name).write_text(text)
        (site / f"{module}.py").write_text(code)
        folder = site / f"{module}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(site)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, module, raising=False)

    return run
