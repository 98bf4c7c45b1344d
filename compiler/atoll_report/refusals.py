# SPDX-License-Identifier: Apache-2.0
"""Why a file tells nothing that a report shows: it is damaged, of another version, or not ours."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.report.json_shapes import FAULTS, Shape
from atoll.report.output_schemas import OUTPUTS
from atoll_report.shapes import fits, misfits

_ALIKE = 0.5
"""Keys of an output that a text has, as a part of all, from which on it is taken for one."""


def not_json(path: Path, text: str, fault: Exception) -> UsageError:
    """Say why a text is no JSON: E223, or E226 of a page that is no report."""
    again = "run the command again, and let it end: atoll plan SOC MODEL --json > FILE"
    if text.lstrip().startswith("<"):
        return UsageError(
            "E226",
            f"'{path}' is a page, and no report of Atoll: it has no documents",
            remedy="give a page that atoll report, or an option --report, wrote",
        )
    if not text.strip():
        return UsageError("E223", f"'{path}' is empty", remedy=again)
    if not isinstance(fault, json.JSONDecodeError):
        deep = isinstance(fault, RecursionError)
        why = "is nested too deep" if deep else "has a number of more than 20 digits"
        return UsageError("E223", f"'{path}' is no JSON of Atoll: it {why}", remedy=again)
    at = SourceLoc(path, fault.lineno, fault.colno)
    if fault.msg == "Extra data":
        message, remedy = "has more than one JSON text", "give each in a file of its own"
    elif fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated"):
        message, remedy = "is damaged: its JSON ends in the middle", again
    else:
        message, remedy = f"is no JSON: {fault.msg}", again
    return UsageError("E223", f"'{path}' {message}", at=at, remedy=remedy)


def not_text(path: Path) -> UsageError:
    """Say that a file has bytes that are no text: E223."""
    return UsageError(
        "E223",
        f"'{path}' is no text, and so no JSON and no report",
        remedy="give what a command printed with --json, or a report; a network comes after its "
        "chip: atoll report SOC MODEL",
    )


def not_shown(path: Path, data: Any, shown: Mapping[str, Shape]) -> UsageError:
    """Say why JSON is nothing of what is `shown`, by command: E224 if it nearly is, else E226."""
    names = list(shown)
    remedy = (
        f"give the folder of a build, a report, or what atoll {', '.join(names[:-1])} or "
        f"{names[-1]} of this version print with --json"
    )
    if fits(data, FAULTS):
        fault = data["faults"][0]
        return UsageError(
            "E224",
            f"'{path}' has the faults of a command that failed: {fault['code']}, "
            f"{fault['message']}",
            remedy="correct that, run the command again, and give what it prints then",
        )
    other = next((name for name, (_, shape) in OUTPUTS.items() if fits(data, shape)), None)
    if other is not None:
        what = " without a network on a chip" if other in shown else ""
        return UsageError(
            "E226", f"'{path}' is of atoll {other}{what}, which no report shows", remedy=remedy
        )
    if found := max((_alike(data, name, shape) for name, shape in shown.items())):
        share, name, place = found
        if share >= _ALIKE:
            return UsageError(
                "E224",
                f"'{path}' is not quite what this version's atoll {name} prints: it differs at "
                f"'{place}'",
                remedy=f"run atoll {name} --json again with this version, and give what it prints",
            )
    return UsageError("E226", f"'{path}' holds nothing that a report shows", remedy=remedy)


def _alike(data: Any, name: str, shape: Shape) -> tuple[float, str, str]:
    """Return how many of an output's keys a value has, and the first place that differs.

    Of two kinds of objects that it may be, that counts of which less differs.
    """
    first, where = (data[0], "/0") if isinstance(data, list) and data else (data, "")
    best = (0.0, 0, name, "")
    for each in _objects(shape):
        keys = each["required"]
        if isinstance(first, dict) and keys:
            share = sum(key in first for key in keys) / len(keys)
            wrong = list(misfits(first, each, where)) or [where]
            best = max(best, (share, -len(wrong), name, wrong[0]))
    share, _, name, place = best
    return share, name, place


def _objects(shape: Any) -> Iterator[Any]:
    """Yield the objects that a value may be, or be a list of."""
    if shape.get("type") == "object":
        yield shape
    alternatives: Sequence[Any] = shape.get("anyOf", ())
    for each in (*alternatives, *filter(None, [shape.get("items")])):
        yield from _objects(each)
