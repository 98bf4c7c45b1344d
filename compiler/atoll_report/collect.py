# SPDX-License-Identifier: Apache-2.0
"""The documents of a report, from results, build folders and files."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import atoll
from atoll.api.reports import Subject
from atoll_report.builds import compilation_at
from atoll_report.files import documents_at, is_build
from atoll_report.tried import try_changes

Documents = Mapping[str, Any]
NOTHING: Documents = {
    **dict.fromkeys(("chip", "check"), None),
    **dict.fromkeys(("plan", "explanation", "candidates", "estimate", "run"), ()),
    "validate": None,
    "tried": (),
    **dict.fromkeys(("diff", "before"), None),
}
"""A report that knows nothing."""


def collect(subjects: Sequence[Subject], try_seconds: float) -> Documents:
    """Return what is known of the subjects; of two of a kind the last counts.

    For `try_seconds`, changes of chips are tried that might help.
    """
    documents = {key: [] if value == () else value for key, value in NOTHING.items()}
    for subject in subjects:
        documents |= _documents(subject)
        if isinstance(subject, atoll.Compilation) and try_seconds:
            documents["tried"] = try_changes(subject, documents["estimate"], try_seconds)
    return documents


@singledispatch
def _documents(subject: object) -> dict[str, Any]:
    raise TypeError(f"a report is of results and files, not of {type(subject).__name__}")


@_documents.register
def _(subject: Path) -> dict[str, Any]:
    return _documents(compilation_at(subject)) if is_build(subject) else documents_at(subject)


@_documents.register
def _(subject: str) -> dict[str, Any]:
    return _documents(Path(subject))


@_documents.register
def _(subject: atoll.Soc) -> dict[str, Any]:
    return {"chip": subject.to_json(), **_documents(subject.check(simulate=False))}


@_documents.register
def _(subject: atoll.SocCheck) -> dict[str, Any]:
    return {"check": subject.to_json()}


@_documents.register
def _(subject: atoll.Compilation) -> dict[str, Any]:
    chip = subject.soc.name
    return {
        **_documents(subject.soc),
        "plan": _several(subject.to_json()),
        "explanation": [each.explain().to_json() for each in subject],
        "candidates": [
            {"soc": chip, "model": each.name, "candidates": each.candidate_rows()}
            for each in subject
        ],
        **_documents(atoll.estimate(subject)),
    }


@_documents.register
def _(subject: atoll.Estimate) -> dict[str, Any]:
    return {"estimate": _several(subject.to_json())}


@_documents.register
def _(subject: atoll.Run) -> dict[str, Any]:
    return {"run": _several(subject.to_json())}


@_documents.register
def _(subject: atoll.Validation) -> dict[str, Any]:
    return {"validate": subject.to_json()}


@_documents.register
def _(subject: atoll.Diff) -> dict[str, Any]:
    return {"diff": subject.to_json()}


def _several(found: dict[str, Any] | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return found if isinstance(found, list) else [found]
