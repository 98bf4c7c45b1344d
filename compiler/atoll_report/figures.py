# SPDX-License-Identifier: Apache-2.0
"""Pictures as a page holds them: SVG elements whose colours the style sheet decides."""

from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup


def inline(root: Element, kind: str = "") -> Markup:
    """Return an SVG element for a page; `kind` is a class of its figure."""
    title = root.findtext("title") or ""
    root.attrib.pop("xmlns", None)
    root.set("role", "group")
    root.set("aria-label", title)
    svg = Markup(tostring(root, encoding="unicode"))
    return Markup(
        '<figure class="chart {}"><div class="scroll" tabindex="0" role="region" '
        'aria-label="{}">{}</div></figure>'
    ).format(kind, title, svg)
