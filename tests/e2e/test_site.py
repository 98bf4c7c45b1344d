# SPDX-License-Identifier: Apache-2.0
"""`make docs`: the site has every document, picture and public name, and no warning."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

import atoll

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^<!-- picture: .* -->$", re.MULTILINE)
IMAGE = re.compile(r'<a href="([^"]*_static/pictures/[^"]*)"[^>]*><img src="([^"]*)"')


@pytest.mark.slow
@pytest.mark.skipif(find_spec("sphinx") is None, reason="the extra 'docs' is not installed")
def test_the_site_has_every_document_and_every_public_name(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs/site", "."]
    done = subprocess.run([*command, str(site)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for document in (*ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/README.md")):
        assert (site / document.relative_to(ROOT)).with_suffix(".html").is_file(), document
    reference = (site / "docs" / "site" / "reference.html").read_text(encoding="utf-8")
    missing = [name for name in atoll.__all__ if f'id="atoll.{name}"' not in reference]
    assert not missing
    assert "_resolved" not in reference
    assert (site / "searchindex.js").stat().st_size > 100_000
    shown = 0
    for document in ROOT.glob("docs/*.md"):
        marks = MARK.findall(document.read_text(encoding="utf-8"))
        page = (site / document.relative_to(ROOT)).with_suffix(".html")
        images = IMAGE.findall(page.read_text(encoding="utf-8"))
        assert len(images) == len(marks), document
        for chip, source in images:
            root = ElementTree.parse(page.parent / source).getroot()
            assert root.attrib["aria-label"]
            assert (page.parent / chip).is_file()
        shown += len(images)
    assert shown > 4
