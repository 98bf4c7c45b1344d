# SPDX-License-Identifier: Apache-2.0
"""Which files are sources, and the line that says their licence.

``python -m tests.licence_lines`` adds the line wherever it is missing.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = "SPDX-License-Identifier: Apache-2.0"
HASH, SLASHES, JINJA = "# {}", "// {}", "{{# {} #}}"
COMMENTS = {
    ".S": "/* {} */",
    ".c": "/* {} */",
    ".cpp": SLASHES,
    ".h": "/* {} */",
    ".j2": JINJA,
    ".ld": "/* {} */",
    ".py": HASH,
    ".sv": SLASHES,
    ".svh": SLASHES,
    ".vlt": SLASHES,
    ".yaml": HASH,
}
FOLDERS = ("compiler", "hw_sim", "socs", "examples", "tests", "benchmarks", "findings")
DESCRIPTIONS = ("socs/", "hw_sim/atoll_sim/engines/", "examples/")
"""Where YAML is a source; elsewhere it is an input of a test, or generated."""
NOT_OURS = ("tests/golden/", "tests/bad/", "compiler/atoll/description/skeleton/")
"""Emitted files, faulty inputs, and what `atoll new accelerator` makes its user's own."""


def sources() -> list[Path]:
    """Return the sources of this checkout."""
    return [
        path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if _ours(path)
    ]


def lacks_line(path: Path) -> bool:
    """Return whether a source that is not empty does not say its licence."""
    text = path.read_text(encoding="utf-8")
    return bool(text) and COMMENTS[path.suffix].format(LINE) not in text.splitlines()


def add_line(path: Path) -> None:
    """Write the line: above all else but a `#!`, and last in YAML, where messages count lines."""
    text, line = path.read_text(encoding="utf-8"), COMMENTS[path.suffix].format(LINE) + "\n"
    if path.suffix == ".yaml":
        path.write_text(text + line, encoding="utf-8")
        return
    head, rest = text.split("\n", 1) if text.startswith("#!") else ("", text)
    path.write_text((head + "\n" if head else "") + line + rest, encoding="utf-8")


def _ours(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    if path.suffix not in COMMENTS or name.startswith(NOT_OURS):
        return False
    if name.startswith("examples/") and "/build/" in name:
        return False
    return path.suffix != ".yaml" or name.startswith(DESCRIPTIONS)


if __name__ == "__main__":
    for each in sources():
        if lacks_line(each):
            add_line(each)
            print(each.relative_to(ROOT))
