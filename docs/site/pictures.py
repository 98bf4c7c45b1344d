# SPDX-License-Identifier: Apache-2.0
"""Pictures of the documents: Atoll draws them when the site is built, from chips and a network.

A document says where one belongs: ``<!-- picture: CHIP PAGE -->``, a page of that chip's report.
Who reads the Markdown as it is sees nothing there. A click on a picture opens the report.
"""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import atoll

ROOT = Path(__file__).parents[2]
NETWORK = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
TUTORIAL = "first-chip.md", "my_chip", "two_memories"
"""The document whose reader describes a chip, the one that it extends, and its own name."""

MARK = re.compile(r"^<!-- picture: (\w+) (\w+) -->$", re.MULTILINE)
BLOCK = r"^```yaml {name}\.yaml\n(.*?)^```$"
SECTION = re.compile(r'<section id="(\w+)".*?</section>', re.DOTALL)
DRAWN = re.compile(r"<svg.*?</svg>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
SVG = "http://www.w3.org/2000/svg"
LOOK = "background: var(--paper); font-family: system-ui, sans-serif"


def draw(folder: Path) -> Mapping[tuple[str, str], str]:
    """Write reports, and the first picture of each of their pages; return what each shows."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str], str] = {}
    with TemporaryDirectory() as temporary:
        for chip in (atoll.load_soc("lagoon"), _chip_of_the_tutorial(Path(temporary))):
            made = atoll.compile(chip, NETWORK)
            page = atoll.make_report(made, atoll.estimate(made)).to_html()
            (folder / f"{chip.name}.html").write_text(page, encoding="utf-8")
            for section in SECTION.finditer(page):
                if drawn := DRAWN.search(section[0]):
                    text, shows = _alone(drawn[0], STYLE.findall(page))
                    file = folder / f"{chip.name}_{section[1]}.svg"
                    file.write_text(text, encoding="utf-8")
                    found[chip.name, section[1]] = shows
    return found


def insert(text: str, pictures: Mapping[tuple[str, str], str], folder: str) -> str:
    """Return a document with the pictures that it names, which lie in `folder` as seen from it."""

    def picture(mark: re.Match[str]) -> str:
        chip, page = mark.groups()
        shows = escape(pictures[chip, page])
        image = f'<img src="{folder}/{chip}_{page}.svg" alt="{shows}">'
        return f'<p><a href="{folder}/{chip}.html" title="opens the report">{image}</a></p>'

    return MARK.sub(picture, text)


def _chip_of_the_tutorial(folder: Path) -> atoll.Soc:
    document, base, name = TUTORIAL
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    atoll.new_soc(base, folder / f"{base}.yaml")
    path = folder / f"{name}.yaml"
    block = re.findall(BLOCK.format(name=name), text, re.DOTALL | re.MULTILINE)[-1]
    path.write_text(block, encoding="utf-8")
    return atoll.load_soc(path)


def _alone(drawn: str, styles: list[str]) -> tuple[str, str]:
    """Return a page's picture as a file of its own, and what it shows.

    The page says how a `figure` looks; here the picture is not in one.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(drawn.replace("<svg", f'<svg xmlns="{SVG}"', 1))
    root.set("style", LOOK)
    style = ElementTree.Element(f"{{{SVG}}}style")
    style.text = "\n".join(styles).replace("figure ", "svg ")
    root.insert(0, style)
    return ElementTree.tostring(root, encoding="unicode"), root.attrib["aria-label"]
