"""Fixtures that several suites share."""

from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SHARED = TESTS.parent.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare text with a file below tests/; ``--update-golden`` rewrites the file."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert text == path.read_text()

    return check


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
