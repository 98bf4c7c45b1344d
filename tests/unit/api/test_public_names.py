# SPDX-License-Identifier: Apache-2.0
"""Examples, documents and skeletons use public names only: no import of anything private."""

import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PUBLIC = (
    *("atoll", "atoll.extend", "atoll_board.extend", "atoll_import.extend"),
    *("atoll_sim.bench", "atoll_sim.extend"),
)
OURS = tuple(
    path.name for folder in ("compiler", "hw_sim") for path in (ROOT / folder).glob("atoll*")
)
SCRIPTS = sorted(
    {
        *ROOT.glob("examples/*/*.py"),
        *(ROOT / "compiler" / "atoll" / "description" / "skeleton").rglob("*.py"),
    }
)
DOCUMENTS = sorted(
    {ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/README.md")}
)
PYTHON = re.compile(r"^```(python|pycon)[^\n]*\n(.*?)^```", re.M | re.S)
API = sorted(path.stem for path in (ROOT / "compiler" / "atoll" / "api").glob("[!_]*.py"))


def code_of(document: Path) -> Iterator[str]:
    """Yield the Python of a document, that of sessions without what is printed."""
    for kind, text in PYTHON.findall(document.read_text(encoding="utf-8")):
        if kind == "python":
            yield text
            continue
        yield "".join(each.source for each in doctest.DocTestParser().get_examples(text))


def private_uses(code: str) -> list[str]:
    """Return what a program uses of Atoll that is not public."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found += [name for name in names if _is_ours(name) and name not in PUBLIC]
        elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            found += [
                f"{node.module}.{alias.name}"
                for alias in node.names
                if not _is_public(node.module or "", alias.name)
            ]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            if name in OURS and not _is_public(name, node.attr):
                found.append(f"{name}.{node.attr}")
    return found


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS


def _is_public(module: str, name: str) -> bool:
    return module in PUBLIC and name in import_module(module).__all__


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_uses_public_names_only(script: Path) -> None:
    assert private_uses(script.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_uses_public_names_only(document: Path) -> None:
    for code in code_of(document):
        assert private_uses(code) == []


def test_private_names_are_noticed() -> None:
    code = "import atoll.compiled\nfrom atoll.resolve import load_soc\natoll.compiled\natoll.run\n"
    assert private_uses(code) == ["atoll.compiled", "atoll.resolve.load_soc", "atoll.compiled"]
    assert private_uses("from atoll import AtollError\nfrom atoll.extend import Graph\n") == []
    assert private_uses("from atoll_board.package import Board\n") == ["atoll_board.package.Board"]
    assert private_uses("from atoll_board.extend import Board\n") == []


NAMED = sorted(
    ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    for folder in (ROOT / "compiler", ROOT / "hw_sim")
    for path in folder.rglob("*.py")
    if "\n__all__ = " in path.read_text("utf-8") and "skeleton" not in path.parts
)
"""Of modules that say what others may use, those of formats by themselves."""


@pytest.mark.parametrize("module", NAMED)
def test_every_name_of_a_public_module_is_there(module: str) -> None:
    found = import_module(module)
    assert all(hasattr(found, name) for name in found.__all__)
    assert len(found.__all__) == len(set(found.__all__))


@pytest.mark.parametrize("name", API)
def test_examples_of_docstrings_print_what_they_say(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    module = import_module(f"atoll.api.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
