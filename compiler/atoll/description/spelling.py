# SPDX-License-Identifier: Apache-2.0
"""Names of a chip as its files write them, for people who wrote them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from atoll.description.faults import Faults
from atoll.description.identifiers import identifier, written_names
from atoll.description.layers import layer_files
from atoll.diagnostics.errors import AtollError

_NOT_OF_THE_CHIP = r"(?<![\w/-])(?<!operator ')(?<!tensor ')(?<!buffer ')"
_NO_FILE = r"(?![\w/-])(?!\.(?:bin|c|elf|h|json|ld|md|o|py|sv|txt|v|yaml)\b)"


def spellings(source: Path | str) -> dict[str, str]:
    """Return how a chip's files write each name that has '-' or '.', by its identifier.

    A name that they write in two ways is left out; so is what cannot be read.
    """
    found: dict[str, set[str]] = {}
    try:
        for _, layer in layer_files(source, Faults()):
            for name in written_names(layer):
                found.setdefault(identifier(name), set()).add(name)
    except AtollError:
        return {}
    return {key: min(names) for key, names in found.items() if len(names) == 1 and {key} != names}


def speller(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what writes identifiers of the chip in a text as in `names`.

    `--set` splits keys at dots, so what follows it stays, as do names of files, operators and
    tensors.
    """
    if not names:
        return str
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    pattern = re.compile(rf"--set \S+|{_NOT_OF_THE_CHIP}({words}){_NO_FILE}")
    return lambda text: pattern.sub(lambda each: names.get(each[1], each[0]), text)
