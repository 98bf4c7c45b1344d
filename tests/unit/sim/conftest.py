# SPDX-License-Identifier: Apache-2.0
"""What the tests of the shadow memory share."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def shadow() -> ModuleType:
    """The module ``shadow_bench.py`` beside this file."""
    path = Path(__file__).with_name("shadow_bench.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[path.stem])
    return sys.modules[path.stem]
