# SPDX-License-Identifier: Apache-2.0
"""Documents in files: what commands printed, and reports that are read back."""

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atoll.artifacts.build_tree import MARKER
from atoll.diagnostics.errors import UsageError
from atoll.report.json_shapes import Shape
from atoll.report.output_schemas import OUTPUTS, REPORT
from atoll_report.refusals import not_json, not_shown, not_text
from atoll_report.shapes import fits

READ = (
    *("run", "plan", "estimate", "explain", "check", "validate", "diff", "check-image", "sweep"),
    "prove",
)
"""The commands whose output a report shows."""

PLAIN, PACKED = "application/json", "application/json+gzip"
MOST_PLAIN = 512 * 1024
"""Bytes of documents that a page holds as they are; more are packed."""

_MOST_DIGITS = 20
"""Those of 64 bits: nothing that Atoll counts is larger, and no picture could show it."""

_EMBEDDED = re.compile(
    rf'<script type="({re.escape(PLAIN)}|{re.escape(PACKED)})" id="documents">\n?(.*?)</script>',
    re.DOTALL,
)


def embed(documents: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type and the text of the element that holds the documents of a page."""
    text = json.dumps(documents, separators=(",", ":"), ensure_ascii=True)
    if len(text) > MOST_PLAIN:
        return PACKED, base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return PLAIN, text.replace("<", r"\u003c").replace("&", r"\u0026")


def documents_at(path: Path) -> dict[str, Any]:
    """Return what a file tells.

    Raises:
        UsageError: E223, it is no JSON; E224, of a command that failed, or of another version;
            E226, it tells nothing that a report shows.
        AtollError: E227; it is a report, and damaged.
    """
    text = _read(path)
    if found := _EMBEDDED.search(text):
        return _unpack(path, found[1], found[2])
    try:
        data: Any = _parse(text)
    except (ValueError, RecursionError) as fault:
        raise not_json(path, text, fault) from fault
    if fits(data, REPORT):
        return data  # type: ignore[no-any-return]
    for name in READ:
        for key in _KEYS.get(name, (name,)):
            value = _in_place(key, data)
            if value and fits(value, _DOCUMENTS[key]):
                return {key: value}
    raise not_shown(path, data, {name: OUTPUTS[name][1] for name in READ})


def _parse(text: str | bytes) -> Any:
    return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError
    return int(digits)


_KEYS = {"explain": ("chip", "explanation", "candidates"), "check-image": ("image",)}
"""What of a report a command's output may be, where that is not called as the command."""

_DOCUMENTS: Mapping[str, Shape] = REPORT["properties"]  # type: ignore[assignment]
_LISTS = ("run", "plan", "estimate", "explanation", "candidates", "image")


def _in_place(key: str, data: Any) -> Any:
    return [data] if key in _LISTS and not isinstance(data, list) else data


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise not_text(path) from fault
    except OSError as fault:
        raise UsageError(
            "E226",
            f"'{path}' cannot be read: {fault.strerror}",
            remedy="give the folder of a build, or a file that is there",
        ) from fault


def _unpack(path: Path, kind: str, text: str) -> dict[str, Any]:
    """Return the documents of a page."""
    try:
        plain = gzip.decompress(base64.b64decode(text)) if kind == PACKED else text
        found: Any = _parse(plain)
    except (ValueError, OSError, EOFError, zlib.error, binascii.Error, RecursionError):
        found = None
    if not fits(found, REPORT):
        raise _damage_error(path)
    return found  # type: ignore[no-any-return]


def _damage_error(path: Path) -> UsageError:
    return UsageError(
        "E227",
        f"the documents in '{path}' are damaged, or another version of Atoll made them",
        remedy="make the report again, with this version",
    )


def is_found(path: Path) -> bool:
    """Tell whether a path is that of something found, and not of a chip or a network."""
    return is_build(path) or path.suffix.lower() in (".json", ".html", ".htm")


def is_build(path: Path) -> bool:
    """Tell whether a path is that of a build folder."""
    return (path / MARKER).is_file()
