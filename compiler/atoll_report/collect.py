# SPDX-License-Identifier: Apache-2.0
"""The documents of a report, from results, build folders and files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import atoll
from atoll.api.reports import Subject
from atoll.diagnostics.errors import UsageError
from atoll_report.builds import compilation_at
from atoll_report.files import documents_at, is_build
from atoll_report.tried import try_changes

Documents = Mapping[str, Any]
NOTHING: Documents = {
    **dict.fromkeys(("chip", "check"), None),
    **dict.fromkeys(("plan", "explanation", "candidates", "estimate", "run", "image"), ()),
    "validate": None,
    "tried": (),
    **dict.fromkeys(("diff", "sweep", "prove", "before"), None),
}
"""A report that knows nothing."""


def collect(subjects: Sequence[Subject], try_seconds: float) -> Documents:
    """Return what is known of the subjects; of two of a kind the last counts.

    Networks are of a kind that have one name, and images that run on one core. For `try_seconds`,
    changes of chips are tried that might help.
    """
    documents = {key: [] if value == () else value for key, value in NOTHING.items()}
    chips: dict[str, None] = {}
    for subject in subjects:
        found = {key: value for key, value in _documents(subject).items() if value}
        chips |= dict.fromkeys(_chips(found))
        for key in (*_OF_NETWORKS, "image"):
            known = {_name(each) for each in found.get(key, ())}
            older = [each for each in documents[key] if _name(each) not in known]
            found[key] = [*older, *found.get(key, ())]
        documents |= found
        if isinstance(subject, atoll.Compilation) and try_seconds:
            documents["tried"] = try_changes(subject, documents["estimate"], try_seconds)
    if len(several := sorted(chips)) > 1:
        raise _strangers(f"documents are of '{several[0]}' and of '{several[1]}'")
    _refuse_strangers(documents)
    return documents


def _name(document: Documents) -> object:
    """Return the name of a network, or of the core of an image."""
    return document.get("model") or document.get("core", document.get("image"))


def _chips(documents: Documents) -> Iterator[str]:
    found = [*filter(None, map(documents.get, ("chip", "check", "prove")))]
    found += [each for key in _OF_NETWORKS for each in documents.get(key, ())]
    found += [each for each in documents.get("image", ()) if "soc" in each]
    for campaigns in ("networks", "faults", "caches"):
        found += documents.get("validate", {}).get(campaigns, ())
    yield from (each["soc"] for each in found)


def _refuse_strangers(documents: Documents) -> None:
    """Refuse results of a network that is another in the plan, or that had another clock.

    Raises:
        UsageError: E228.
    """
    _refuse_other_weights(documents)
    plans = {each["model"]: each for each in documents["plan"]}
    for each in (each for each in documents["run"] if each["model"] in plans):
        planned = {name: _sizes(use) for name, use in plans[each["model"]]["pools"].items()}
        if any(planned.get(name) != _sizes(use) for name, use in each["pools"].items()):
            raise _strangers(f"the run of '{each['model']}' had another plan than the one given")
    clocks = {
        each["device"]: each["clock_hz"] for each in (documents["chip"] or NO_CHIP)["devices"]
    }
    for run in documents["run"]:
        for layer in run["cycles"]["by_layer"]:
            if layer["clock_hz"] != clocks.get(layer["device"], layer["clock_hz"]):
                raise _strangers(
                    f"in the run of '{run['model']}' '{layer['device']}' had another clock"
                )


def _refuse_other_weights(documents: Documents) -> None:
    """Refuse two networks of one name.

    Raises:
        UsageError: E228.
    """
    found = [each for key in _OF_NETWORKS for each in documents[key]]
    found += [each["right_build"] for each in (documents["validate"] or {}).get("networks", ())]
    digests: dict[str, str] = {}
    for each in found:
        if digests.setdefault(each["model"], each["model_sha256"]) != each["model_sha256"]:
            raise _strangers(f"'{each['model']}' is two networks: their files differ")


NO_CHIP: Documents = {"devices": ()}
_OF_NETWORKS = ("plan", "explanation", "candidates", "estimate", "run")


def _sizes(use: Mapping[str, Any]) -> tuple[object, ...]:
    return use["size_bytes"], use["used_bytes"]


def _strangers(what: str) -> UsageError:
    return UsageError(
        "E228",
        f"{what}, so one page would show what does not belong together",
        remedy="give what was found of one chip and its networks, made by one command",
    )


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
    return {
        **_documents(subject.soc),
        "plan": _several(subject.to_json()),
        "explanation": [each.explain().to_json() for each in subject],
        "candidates": [each.candidates_json() for each in subject],
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
def _(subject: atoll.ReachProof) -> dict[str, Any]:
    return {"prove": subject.to_json()}


@_documents.register
def _(subject: atoll.ImageCheck) -> dict[str, Any]:
    return {"image": [subject.to_json()]}


@_documents.register
def _(subject: atoll.Diff) -> dict[str, Any]:
    return {"diff": subject.to_json()}


@_documents.register
def _(subject: atoll.SweepResults) -> dict[str, Any]:
    return {"sweep": subject.to_json()}


def _several(found: dict[str, Any] | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return found if isinstance(found, list) else [found]
