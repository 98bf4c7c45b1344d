# SPDX-License-Identifier: Apache-2.0
"""Random networks are compiled for the host at -O0, those of slow campaigns at -O3."""

import pytest

from atoll.codegen import llvm_jit


@pytest.fixture(autouse=True)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time was LLVM's; how Atoll compiles for cores is the same."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(llvm_jit, "LEVEL", 0)
