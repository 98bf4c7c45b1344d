# SPDX-License-Identifier: Apache-2.0
"""Compiled templates are kept whole or not used."""

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from atoll.utils.kept_templates import KeptTemplates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    return tmp_path / "templates"


def rendered(text: str = "{{ 6 * n }}") -> str:
    environment = Environment(loader=DictLoader({"t": text}), bytecode_cache=KeptTemplates())
    return environment.get_template("t").render(n=7)


def test_a_second_command_compiles_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered() == "42"
    assert len([*folder.iterdir()]) == 1
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("compiled"))
    assert rendered() == "42"


def test_another_text_is_another_template(folder: Path) -> None:
    assert (rendered(), rendered("{{ n }}")) == ("42", "7")


def test_a_damaged_file_is_compiled_again(folder: Path) -> None:
    text = "from {{ n }} on"
    assert rendered(text) == "from 7 on"
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for damaged in (whole.replace(b"from ", b"form "), whole[:-1], whole[:10], b""):
        assert damaged != whole
        kept.write_bytes(damaged)
        assert rendered(text) == "from 7 on"
        assert kept.read_bytes() == whole


def test_a_cache_that_takes_nothing_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file"))
    assert rendered() == "42"
