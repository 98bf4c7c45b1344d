# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several suites share."""

import gc
import importlib.util
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.remember import forget

TESTS = Path(__file__).parent
pytest_plugins = ("tests.quick", "tests.skips")
SHARED = TESTS.parent.parent / "shared"


def _forgetting(method: Callable[..., None]) -> Callable[..., None]:
    """Return a method of `MonkeyPatch` after which nothing is known of unpatched code."""

    @wraps(method)
    def forgetful(self: pytest.MonkeyPatch, *arguments: Any, **named: Any) -> None:
        if method.__name__ != "undo" or self._setattr:
            forget()
        method(self, *arguments, **named)

    return forgetful


for _name in ("setattr", "delattr", "syspath_prepend", "undo"):
    setattr(pytest.MonkeyPatch, _name, _forgetting(getattr(pytest.MonkeyPatch, _name)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name files of the repository in a test's name as they lie in it."""
    folder = f"{TESTS.parent}/"
    text = str(val) if isinstance(val, str | Path) else ""
    return text.replace(folder, "") if folder in text else None


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what was collected, and look seldom at the rest."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands print as in a pipe, whatever the terminal and the test workers say."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare text with a file below tests/; ``--update-golden`` rewrites the file."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert text == path.read_text()

    return check


def _support(name: str) -> ModuleType:
    """Import a module of tests/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tflite_builder() -> ModuleType:
    """The module tests/tflite_builder.py."""
    return _support("tflite_builder")


@pytest.fixture(scope="session")
def vcd_reader() -> ModuleType:
    """The module tests/vcd_reader.py."""
    return _support("vcd_reader")


@pytest.fixture(scope="session")
def tflite_samples() -> ModuleType:
    """The module tests/tflite_samples.py."""
    return _support("tflite_samples")


@pytest.fixture(scope="session")
def mutants() -> ModuleType:
    """The module tests/mutants.py."""
    return _support("mutants")


@pytest.fixture(scope="session")
def overlap_planner() -> ModuleType:
    """The module tests/overlap_planner.py."""
    return _support("overlap_planner")


@pytest.fixture(scope="session")
def every_operator(tflite_builder: ModuleType, tflite_samples: ModuleType) -> Any:
    """A model with every operator, for the builder to write."""
    return tflite_samples.every_operator(tflite_builder)


@pytest.fixture(scope="session")
def duo() -> Callable[..., ResolvedSoc]:
    """Load tests/data/duo.yaml, a chip with two cores, with overrides."""

    def load(*overrides: str) -> ResolvedSoc:
        return load_soc(TESTS / "data" / "duo.yaml", overrides)

    return load


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"needs the shared folder '{name}' beside the checkout")
    return folder


@pytest.fixture(scope="session")
def shared_models() -> Path:
    """Folder of the MLPerf Tiny networks with golden tensors of every layer."""
    return _shared("models")


@pytest.fixture(scope="session")
def shared_planner() -> Path:
    """Folder of the public memory-planning instances."""
    return _shared("planner")
