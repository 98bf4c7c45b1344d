# SPDX-License-Identifier: Apache-2.0
"""Import texts as the command does, and read what comes out as `atoll check` does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atoll.description.tree import plain
from atoll.description.yaml_text import parse_yaml
from atoll_import.imported import Imported, import_files

TARGET = Path("chip.yaml")


def imported(folder: Path, texts: Mapping[str, str | bytes], device: str = "") -> Imported:
    """Import files of these texts by name."""
    for name, text in texts.items():
        data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        (folder / name).write_bytes(data)
    return import_files([folder / name for name in texts], TARGET, "", device)


def chip(found: Imported) -> dict[str, Any]:
    """Return the data of the YAML."""
    data: Any = plain(parse_yaml(found.text, TARGET))
    assert isinstance(data, dict)
    return data


def asked(found: Imported) -> list[str]:
    """Return the keys of the questions."""
    return [".".join(question.key) for question in found.questions]
