# SPDX-License-Identifier: Apache-2.0
"""The shadow memory's library is built once, and says what is missing if it cannot be."""

from pathlib import Path

import pytest

from atoll.diagnostics.errors import ToolchainError
from atoll_sim.shadow.memory import HostShadow, shadow_library


def test_it_is_built_once() -> None:
    library = shadow_library()
    built = library.stat().st_mtime_ns
    assert shadow_library() == library
    assert library.stat().st_mtime_ns == built


@pytest.mark.parametrize(("compiler", "code"), [("no-such-compiler", "E070"), ("false", "E077")])
def test_no_compiler(
    compiler: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", compiler)
    with pytest.raises(ToolchainError, match=compiler) as caught:
        HostShadow()
    assert caught.value.faults[0].code == code
    assert not list(tmp_path.rglob("*.so"))


def test_nothing_is_judged_before_a_contract_is_loaded() -> None:
    shadow = HostShadow()
    assert not shadow.load(b"")
    records, total = shadow.findings()
    assert (len(records), total) == (0, 0)
