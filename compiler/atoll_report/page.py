# SPDX-License-Identifier: Apache-2.0
"""The page: sections one below the other, a style sheet, a script, the documents themselves."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from atoll.version import __version__
from atoll_report import (
    chip,
    decisions,
    difference,
    images,
    memory,
    proof,
    sizes,
    sweep,
    timeline,
)
from atoll_report.files import embed
from atoll_report.node import Node, count_text

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent

PAGES: Mapping[str, tuple[str, Callable[[Node], Mapping[str, object] | None]]] = {
    "difference": ("Difference", difference.content),
    "sweep": ("Sweep", sweep.content),
    "proof": ("Proof", proof.content),
    "memory": ("Memory over time", memory.content),
    "chip": ("Chip", chip.content),
    "time": ("Time", timeline.content),
    "decisions": ("Decisions", decisions.content),
    "bytes": ("Bytes", sizes.content),
    "image": ("Image", images.content),
}
"""By name: title, and what fills the template; None where the documents say nothing of it."""


def page(documents: Mapping[str, Any]) -> str:
    """Return the text of an HTML file that shows documents and loads nothing."""
    found = Node(documents)
    sections = [
        {"name": name, "title": title, "html": _fill(name, content, found)}
        for name, (title, make) in PAGES.items()
        if (content := make(found)) is not None
    ]
    style, script = _static("report.css"), _static("report.js")
    kind, data = embed(documents)
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=title_of(found),
            verdict=proof.verdict(found),
            sections=sections,
            style=Markup(style),
            script=Markup(script),
            policy=f"default-src 'none'; style-src '{_digest(style)}'; "
            f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'",
            data_type=kind,
            data=Markup(data),
            version=__version__,
        )
    )


def title_of(documents: Node) -> str:
    """Return what a report is about, in a line."""
    networks = dict.fromkeys(
        each["model"].raw
        for key in ("plan", "run", "estimate", "explanation")
        for each in documents[key]
    )
    chips = dict.fromkeys(
        each["soc"].raw
        for each in (
            *filter(None, (documents["chip"], documents["check"])),
            *documents["plan"],
            *(image for image in documents["image"] if image.get("soc")),
        )
    )
    if sweep := documents.get("sweep"):
        return f"Sweep {sweep['sweep']}"
    return " on ".join(filter(None, (", ".join(networks), ", ".join(chips)))) or "Report"


def _fill(name: str, content: Mapping[str, object], documents: Node) -> Markup:
    template = _environment().get_template(f"{name}.html")
    return Markup(template.render(content, report=documents))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    from atoll.utils.kept_templates import KeptTemplates

    environment = Environment(
        bytecode_cache=KeptTemplates(),
        loader=FileSystemLoader(_FOLDER / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.globals["count_text"] = count_text
    return environment


@cache
def _static(name: str) -> str:
    return (_FOLDER / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy calls an element with this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
