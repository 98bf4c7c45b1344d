# SPDX-License-Identifier: Apache-2.0
"""Names that C allows, from what files and their tensors are called."""

import re
from pathlib import Path

LONGEST = 40

# Words of C99 and C++20 that an identifier made here could equal.
_KEYWORD = re.compile(
    r"alignas|alignof|and|asm|auto|bitand|bitor|bool|break|case|catch|char|class|compl|"
    r"concept|const|consteval|constexpr|constinit|continue|decltype|default|delete|do|"
    r"double|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|int|"
    r"long|main|mutable|namespace|new|noexcept|not|nullptr|operator|or|private|protected|"
    r"public|register|reinterpret_cast|requires|restrict|return|short|signed|sizeof|"
    r"static|struct|switch|template|this|throw|true|try|typedef|typeid|typename|union|"
    r"unsigned|using|virtual|void|volatile|while|xor"
)


def identifier(text: str, fallback: str) -> str:
    """Make a C identifier of at most 40 characters; `fallback` where nothing is left."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:LONGEST].strip("_") or fallback
    return f"{fallback}_{name}" if name[0].isdigit() or _KEYWORD.fullmatch(name) else name


def network_name(path: Path) -> str:
    """Return what the network of a file is called; one of several in a file has its name too."""
    return identifier(path.stem + "".join(path.suffix.partition("#")[1:]), "model")
