# SPDX-License-Identifier: Apache-2.0
"""What is installed where points are computed, and does not travel: it must be the same there."""

import platform
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, requires, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import atoll
from atoll.description.share import shared_folder
from atoll.utils.kept import name_of

ABSENT = "absent"
"""The sign of what is not there."""
_OWN = ("atoll", "atoll_sim", "atoll_sweep")
_ENTRY = re.compile(r"([A-Za-z_]\w*)[\w.]*:[A-Za-z_]\w*")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:.*extra == '([\w-]+)')?")
_USED = (None, "cores", "ethos-u", "iss", "onnx", "sweep", "systemrdl")
"""Extras of Atoll that a point may need."""

_DIGITS = 64
"""Of a sign that says nothing to people."""

_CODE = (".py", ".yaml", ".sv", ".svh", ".v", ".vlt", ".c", ".cpp", ".h", ".S", ".json", ".j2")


def names_in(words: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the plug-ins, and what descriptions name by ``module:name`` or below `packages`.

    Args:
        words: what descriptions say, each text with the key that says it.
    """
    found = {word if key == "packages" else _module(word) for key, word in words}
    groups = (group for group in entry_points().groups if group.startswith("atoll."))
    found |= {_module(each.value) for group in groups for each in entry_points(group=group)}
    return tuple(sorted(name for name in found if name and not name.startswith("atoll")))


def _module(word: str) -> str:
    matched = _ENTRY.fullmatch(word)
    return matched[1] if matched else ""


def signs_of(names: Iterable[str]) -> dict[str, str]:
    """Return a sign of everything installed that a point depends on, by what it is.

    Args:
        names: of modules and packages beside Atoll and what it requires.
    """
    found = {"Atoll": atoll.__version__, "Python": platform.python_version()}
    return {**found, **_requirements(), **{_display_name(name): _sign(name) for name in names}}


@cache
def _requirements() -> Mapping[str, str]:
    """Return a sign of Atoll's own files, and the versions of the packages that it requires."""
    chips = sorted(shared_folder("socs").glob("*.yaml"))
    found = {
        "the files of Atoll": name_of(*map(_sign, _OWN), *(each.read_bytes() for each in chips))
    }
    for line in requires("atoll") or ():
        matched = _REQUIREMENT.match(line)
        if matched and matched[2] in _USED:
            found[_display_name(matched[1])] = _version(matched[1])
    return found


def is_installed(module: ModuleType) -> bool:
    """Tell whether a module is of Atoll, of Python or of a package that is installed with it."""
    file = getattr(module, "__file__", None)
    folders = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    own = module.__name__.partition(".")[0] in _OWN
    return file is None or own or any(Path(file).is_relative_to(each) for each in folders)


def _display_name(name: str) -> str:
    return f"the package '{name}'"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT


def _sign(name: str) -> str:
    """Return a sign of the version and the files of a module or package."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return _version(name)
    files = sorted(_files(spec.origin, spec.submodule_search_locations or ()))
    return name_of(_version(name), *(path.read_bytes() for path in files))


def _files(origin: str | None, folders: Iterable[str]) -> Iterator[Path]:
    for folder in map(Path, folders):
        yield from (path for path in folder.rglob("*") if path.suffix in _CODE)
    if origin and Path(origin).is_file():
        yield Path(origin)


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Say how another installation differs from this one, by the signs of both; nothing if not."""
    for what, sign in here.items():
        found = there.get(what, ABSENT)
        if found == sign:
            continue
        if found == ABSENT:
            return f"lacks {what}"
        if len(sign) == _DIGITS:
            return f"has {what} in another version"
        return f"has {what} {found}, and this is {sign}"
    return ""
