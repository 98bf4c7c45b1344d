# SPDX-License-Identifier: Apache-2.0
"""The files that a sweep is made of: found by their names in other files, and laid out elsewhere.

A folder that has them repeats their absolute paths below itself, so that what is relative stays as
it is, and a message names a file as its author does once the folder is taken out of it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from atoll.description.faults import Faults
from atoll.description.layers import layer_files
from atoll.description.share import find_soc
from atoll.description.sweep import Sweep
from atoll.description.tree import Listing, Node, Scalar, Table
from atoll.description.yaml_text import parse_yaml, read_text
from atoll.diagnostics.errors import AtollError, UsageError

MOST_BYTES = 2**26
"""Of all files together, networks left out: they go to each worker."""

_MOST_NAME = 1024
_YAML = (".yaml", ".yml")
_INCLUDE = re.compile(r"""^\s*[`#]include\s+"([^"\n]+)""", re.MULTILINE)
_QUOTED = re.compile(r"""["']([^/"'\n][^"'\n]*)["']""")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w[\w., ]*)", re.MULTILINE)
_WORD = re.compile(r"[^\s+]+")
_NAMES = dict.fromkeys((".sv", ".svh", ".v", ".vh", ".c", ".h", ".cpp", ".hpp", ".inc"), _INCLUDE)
_NAMES |= {".py": _QUOTED, ".f": _WORD, ".rdl": _INCLUDE}
"""What names other files, by the suffix of a file that is no YAML."""


def files_of(sweep: Sweep, chips: Iterable[str]) -> dict[str, bytes]:
    """Return the files that a sweep and its chips name, networks left out, by absolute path.

    Raises:
        UsageError: E249; they are too large.
    """
    named = [word for key, word in _words(sweep.where.root) if key != "networks"]
    folders = [sweep.folder.resolve()]
    found: dict[str, bytes] = {}
    for name in chips:
        for path, _ in layer_files(find_soc(name, folders[0]), Faults()):
            found[_absolute(path)] = read_text(path).encode()
        folders.append(find_soc(name, folders[0]).parent.absolute())
    waiting = [each for folder in folders for word in named for each in _files(folder, word)]
    for path in [*map(Path, found)]:
        waiting += _names_in(path, found[str(path)], is_yaml=True)
    while waiting:
        name = _absolute(path := waiting.pop(0))
        if name not in found:
            found[name] = path.read_bytes()
            waiting += _names_in(path, found[name], is_yaml=path.suffix in _YAML)
            _require_small(found)
    return found


def texts_in(files: Mapping[str, bytes]) -> dict[Path, str]:
    """Return what the descriptions among some files say, by path."""
    return {
        Path(path): data.decode("utf-8-sig", "replace")
        for path, data in files.items()
        if Path(path).suffix in _YAML
    }


def words_in(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the texts that descriptions among some files say, each with the key that says it."""
    for path, text in texts_in(files).items():
        yield from _words(_tree(path, text))


def lay_out(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder; descriptions name those of them there that they name absolutely.

    Raises:
        OSError: the folder cannot be written.
    """
    for name, data in files.items():
        path = below(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (*_YAML, ".f"):
            text = data.decode("utf-8-sig", "replace")
            path.write_text(named_below(text, files, folder), encoding="utf-8")
        else:
            path.write_bytes(data)


def below(folder: Path, path: str) -> Path:
    """Return where a file of an absolute path lies in a folder of such files."""
    return folder / path.lstrip("/")


def named_below(text: str, files: Iterable[str], folder: Path) -> str:
    """Return a text with `folder` before each absolute path of one of some files."""
    names = sorted(map(re.escape, files), key=len, reverse=True)
    pattern = rf"(?<![\w./-])(?:{'|'.join(names)})(?![\w/-]|\.\w)"
    return re.sub(pattern, lambda found: f"{folder}{found[0]}", text) if names else text


def _names_in(path: Path, data: bytes, *, is_yaml: bool) -> Iterator[Path]:
    """Yield the files that a file names, and the modules beside it that it imports."""
    text = data.decode("utf-8", "replace")
    if is_yaml:
        words: Iterable[str] = [word for _, word in _words(_tree(path, text))]
    else:
        pattern = _NAMES.get(path.suffix)
        words = pattern.findall(text) if pattern else ()
    for word in dict.fromkeys(words):
        yield from _files(path.parent, word)
    for line in _IMPORT.findall(text) if path.suffix == ".py" else ():
        for module in (word.strip().partition(".")[0] for word in line.split(",")):
            yield from _files(path.parent, f"{module}.py")
            if (path.parent / module / "__init__.py").is_file():
                yield from sorted((path.parent / module).rglob("*.py"))


def _files(folder: Path, word: str) -> Iterator[Path]:
    """Yield the file that a word means, with or without ``:name``, or the files of a folder."""
    for name in dict.fromkeys((word, word.rpartition(":")[0])):
        if not name or len(name) > _MOST_NAME or "\0" in name:
            continue
        path = folder / name
        try:
            if path.is_file():
                yield path
            elif name.endswith("/") and path.is_dir():
                yield from sorted(each for each in path.iterdir() if each.is_file())
        except OSError:
            continue


def _tree(path: Path, text: str) -> Node:
    """Return what a description says; nothing if it cannot be read, which its readers report."""
    try:
        return parse_yaml(text, path)
    except AtollError:
        return Table({}, None)


def _words(node: Node, key: str = "") -> Iterator[tuple[str, str]]:
    match node:
        case Scalar():
            if isinstance(node.value, str):
                yield key, node.value
                if node.value.startswith(("{", "[")):
                    yield from _words(_tree(Path(key), node.value), key)
        case Listing():
            for item in node.items:
                yield from _words(item, key)
        case Table():
            for name, entry in node.entries.items():
                yield key, name
                yield from _words(entry.value, key if key == "networks" else name)


def _absolute(path: Path) -> str:
    return os.path.normpath(path.absolute())


def _require_small(files: Mapping[str, bytes]) -> None:
    if sum(map(len, files.values())) > MOST_BYTES:
        largest = max(files, key=lambda name: len(files[name]))
        raise UsageError(
            "E249",
            f"the files that the sweep names are larger than {MOST_BYTES >> 20} MiB together;"
            f" '{largest}' is the largest",
            remedy="name fewer or smaller ones in it and in files that it names",
        )
