"""The site of the documents: the Markdown as it is, and a page of the API from its docstrings."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "compiler"), str(ROOT / "hw_sim"), str(ROOT / "docs" / "site")]

import pictures  # noqa: E402

import atoll  # noqa: E402  (it lies on the path that was added)

project = "Atoll"
author = "the authors of Atoll"
version = release = atoll.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**",
    "examples/*/README.md",
]
root_doc = "docs/index"
html_theme = "furo"
html_title = f"Atoll {release}"
html_show_copyright = False

myst_heading_anchors = 4
default_role = "code"
suppress_warnings = ["misc.highlighting_failure"]
napoleon_use_ivar = True
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"

PICTURES = Path("_static", "pictures")
"""Where they lie in the site."""

READING_ORDER = re.compile(r"\(([\w-]+\.md)\)")

PRIVATE = re.compile(r"[(,] ?_\w")


def add_contents(app: Any, name: str, content: list[str]) -> None:
    """Give the index a table of contents, in the order in which it names the documents."""
    if name != root_doc:
        return
    pages = dict.fromkeys(READING_ORDER.findall(content[0]))
    examples = sorted(path.parent.name for path in ROOT.glob("examples/*/README.md"))
    listed = [
        *(f"/docs/{page}" for page in pages),
        "/docs/site/reference",
        *(f"/examples/{example}/README" for example in examples),
        "/README",
        "/CHANGELOG",
        "/CONTRIBUTING",
    ]
    content[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(listed) + "\n```\n"


def draw_pictures(app: Any) -> None:
    """Draw the pictures into the site before the documents are read that show them."""
    app.pictures = pictures.draw(Path(app.outdir, PICTURES))


def insert_pictures(app: Any, name: str, content: list[str]) -> None:
    """Put the pictures where a document names them."""
    folder = Path("../" * name.count("/"), PICTURES).as_posix()
    content[0] = pictures.insert(content[0], app.pictures, folder)


def hide_private_fields(app: Any, what: str, *about: Any) -> tuple[str, None] | None:
    """Leave out how a class is made that only Atoll makes: its parameters are private."""
    signature = about[3]
    if what == "class" and signature and PRIVATE.search(signature):
        return "", None
    return None


def setup(app: Any) -> None:
    """Connect what this file adds."""
    app.connect("builder-inited", draw_pictures)
    app.connect("source-read", add_contents)
    app.connect("source-read", insert_pictures)
    app.connect("autodoc-process-signature", hide_private_fields)
