# SPDX-License-Identifier: Apache-2.0
"""A campaign that was interrupted goes on after the trials that ended, if nothing has changed."""

from pathlib import Path

import pytest

from atoll.diagnostics.errors import UsageError
from atoll_sim.campaign import journal
from atoll_sim.campaign.journal import Journal


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "campaigns"


def never() -> str:
    pytest.fail("tried again")


def interrupted(*parts: str) -> None:
    notes = Journal(*parts, resume=False)
    assert notes.recall("one", lambda: "noticed") == "noticed"
    assert notes.recall("two", lambda: {"by": ""}) == {"by": ""}


def test_what_has_ended_is_not_tried_again() -> None:
    interrupted("a")
    again = Journal("a", resume=True)
    assert again.recall("one", never) == "noticed"
    assert again.recall("two", lambda: pytest.fail("tried again")) == {"by": ""}
    assert again.recall("three", lambda: "new") == "new"
    assert Journal("a", resume=True).recall("three", never) == "new"


def test_without_resume_all_is_tried() -> None:
    interrupted("a")
    anew = Journal("a", resume=False)
    assert anew.recall("one", lambda: "now") == "now"
    assert Journal("a", resume=True).recall("two", lambda: "now") == "now"


def test_another_campaign_or_another_atoll_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted("a")
    assert Journal("b", resume=True).recall("one", lambda: "other") == "other"
    monkeypatch.setattr(journal, "_own_code", lambda: "changed")
    assert Journal("a", resume=True).recall("one", lambda: "other") == "other"


def test_a_line_that_was_cut_is_tried_again(cache: Path) -> None:
    interrupted("a")
    (path,) = cache.iterdir()
    path.write_text(path.read_text()[:-3])
    again = Journal("a", resume=True)
    assert again.recall("one", never) == "noticed"
    assert again.recall("two", lambda: "again") == "again"
    assert Journal("a", resume=True).recall("two", never) == "again"


def test_a_campaign_that_is_over_leaves_nothing(cache: Path) -> None:
    notes = Journal("a", resume=False)
    notes.recall("one", lambda: "noticed")
    notes.close()
    assert [*cache.iterdir()] == []


def test_a_cache_that_takes_nothing_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot write") as caught:
        Journal("a", resume=True)
    assert caught.value.faults[0].code == "E092"
