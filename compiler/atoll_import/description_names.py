# SPDX-License-Identifier: Apache-2.0
"""Names of a description out of whatever a file calls things."""

import os
import re
from collections.abc import Container
from itertools import chain, count
from pathlib import Path

from atoll.description.aliases import WORDS_OF_ONE
from atoll.description.fields import is_name
from atoll.description.undecided import UNDECIDED
from atoll.description.yaml_text import scalar
from atoll_import.facts import MEMORY_NOUNS, MEMORY_WORDS, PLACE_WORDS

PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+-]{1,256}")
"""A path that a description may have without further ado."""

_LONGEST = 32
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LETTERS = re.compile(r"[a-z]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def identifier(text: str, taken: Container[str], otherwise: str) -> str:
    """Return a name for `text` that is not `taken`; `otherwise` if nothing of it can stay."""
    words = _NO_LETTER.sub("_", text[: 4 * _LONGEST].lower()).strip("_")
    base = words if words[:1].isalpha() else f"{otherwise}_{words}".rstrip("_")
    base = base[:_LONGEST].rstrip("_")
    tails = chain([""], (f"_{number}" for number in count(2)))
    names = (base[: _LONGEST - len(tail)] + tail for tail in tails)
    return next(name for name in names if name not in taken and _means_itself(name))


def _means_itself(name: str) -> bool:
    """Tell whether a description takes the word as a name, and YAML as text."""
    return is_name(name) and isinstance(scalar(name), str) and name != UNDECIDED


def path_from(folder: Path, path: Path) -> str:
    """Return `path` as a description in `folder` names it."""
    shown = Path(os.path.relpath(path, folder)).as_posix()
    return shown if shown.startswith(("/", "../")) else f"./{shown}"


def writable_by_name(name: str) -> bool | None:
    """Tell whether a memory is written to whose name is a word for it, and where it is at most.

    Any other word means something else: registers of a flash, the messages of a CAN.
    """
    words = [word.lower() for word in _WORD.findall(name[: 4 * _LONGEST])]
    said = {MEMORY_WORDS.get(word) for word in words if word not in PLACE_WORDS | WORDS_OF_ONE}
    return said.pop() if len(said) == 1 else None


def ends_as_memory(name: str) -> bool:
    """Tell whether the last word of a name of a node or model is a memory: ``psu_ocm_ram_0``."""
    words = _LETTERS.findall(name[-4 * _LONGEST :].lower())
    return bool(words) and words[-1] in MEMORY_NOUNS
