# SPDX-License-Identifier: Apache-2.0
"""Load parts by name: our own lazily, third parties' through entry points; run their code."""

import hashlib
import inspect
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import EntryPoint
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from atoll.diagnostics.errors import AtollError, SourceLoc
from atoll.records import dataclass

MOST_TEXT = 300
"""Characters of an exception that a message repeats."""
_OWN = ("atoll", "atoll_sim")
_NOT_FOREIGN = frozenset({*_OWN, "atoll_sweep", *sys.stdlib_module_names})
_LOAD_REMEDY = (
    "install the package that provides it or name its folder in PYTHONPATH, "
    "or correct the 'module:Attribute' name"
)
_FILE_REMEDY = "correct the file, or the 'FILE.py:name' that names it relative to the YAML"

CORRECT_MEMBER = "correct it as docs/extending.md shows, or remove the package"

Methods = Mapping[str, Sequence[str]]
"""The methods that an object must have, and the names of what each takes."""


@lru_cache(maxsize=256)
def is_own(entry: str) -> bool:
    """Tell whether ``module:Attribute`` is of Atoll itself."""
    return entry.partition(":")[0].partition(".")[0] in _OWN


def load(entry: str, group: str = "atoll.parts", *, at: SourceLoc | None = None) -> Any:
    """Import the object that ``module:Attribute`` or ``FOLDER/FILE.py:Attribute`` names.

    A description does so at `at`. A file is read once; the modules beside it can be imported.

    Raises:
        AtollError: E041; the module or the attribute is not there, or the module fails.
    """
    file, _, attribute = entry.rpartition(":")
    if file in sys.modules and hasattr(sys.modules[file], attribute):
        return getattr(sys.modules[file], attribute)
    remedy = _FILE_REMEDY if "/" in file else _LOAD_REMEDY
    with foreign_code(f"cannot load '{entry}'", code="E041", at=at, remedy=remedy):
        if "/" not in file:
            return EntryPoint(entry, entry, group).load()
        module = _module(Path(file))
        if not hasattr(module, attribute):
            raise AttributeError(f"the file defines no '{attribute}'")
        return getattr(module, attribute)


def _module(path: Path) -> ModuleType:
    """Import a file under a name that no other file has."""
    name = f"atoll_own_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = module_from_spec(spec)
    folder = str(path.parent)
    sys.modules[name] = module
    sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(folder)
    return module


@contextmanager
def foreign_code(
    what: str,
    *,
    code: str = "E111",
    at: SourceLoc | None = None,
    remedy: str = "correct the code that is named",
    passing: tuple[type[BaseException], ...] = (),
) -> Iterator[None]:
    """Turn what the code of a plug-in raises into one error that begins with `what`.

    Nobody knows what such code raises; here, and nowhere else, every exception is caught.
    Exceptions of the types `passing` and Atoll's own errors go through, and Ctrl-C, which the main
    thread alone hears.
    """
    through: tuple[type[BaseException], ...] = (AtollError, GeneratorExit, *passing)
    if threading.current_thread() is threading.main_thread():
        through += (KeyboardInterrupt,)
    try:
        yield
    except through:
        raise
    except BaseException as fault:
        raise AtollError(code, f"{what}: {fault_text(fault)}", at=at, remedy=remedy) from fault


def fault_text(fault: BaseException) -> str:
    """Return type, text and place of an exception in one line."""
    lines = str(fault).strip().splitlines()
    text = lines[0][:MOST_TEXT] if lines else ""
    kind = type(fault).__name__
    return (f"{kind}: {text}" if text else kind) + _place(fault)


def _place(fault: BaseException) -> str:
    """Name the last line of the plug-in on the way to `fault`, else the last line of ours."""
    lines = [
        (frame.f_globals.get("__name__", "").partition(".")[0], frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(fault.__traceback__)
        if frame.f_globals.get("__name__") != __name__
    ]
    found = [(file, line) for package, file, line in lines if package not in _NOT_FOREIGN]
    found = [each for each in found if each[0] == found[0][0]]
    found = found or [(file, line) for package, file, line in lines if package in _OWN]
    return f" ({found[-1][0]}, line {found[-1][1]})" if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An object of a plug-in, whose methods are called so that what they do wrong is said.

    Attributes:
        who: such as ``emitter 'mine:Emitter' of accelerator 'mine'``.
        value: the object.
        at: where a description names it.
    """

    who: str
    value: object
    at: SourceLoc | None = None

    def call(self, method: str, *arguments: object, about: str = "") -> Any:
        """Call a method; `about` says what it is asked about.

        Raises:
            AtollError: E111; it raised.
        """
        try:
            return getattr(self.value, method)(*arguments)
        except BaseException:
            doing = f"{self.who} failed in '{method}'" + (f" for {about}" if about else "")
            remedy = (
                f"correct '{method}', or delete from 'operators' what it cannot do; "
                "docs/accelerators.md says what it gets and returns"
            )
            with foreign_code(doing, at=self.at, remedy=remedy):
                raise

    def wrong(self, method: str, what: str, about: str = "") -> AtollError:
        """Return the error that a method returned `what`, which is not what it must return."""
        doing = f"'{method}'" + (f" for {about}" if about else "")
        return AtollError(
            "E112",
            f"{self.who}: {doing} returned {what}",
            at=self.at,
            remedy=f"correct '{method}'; docs/accelerators.md says what it returns",
        )


class Guarded:
    """A function or an object of another package: what it raises is one error that names it.

    Errors of Atoll go through, which is how such code refuses its input.
    """

    def __init__(self, who: str, inner: Any) -> None:
        self._who = who
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        """Return an attribute; a method is guarded too."""
        with foreign_code(f"{self._who} lacks '{name}'", code="E110", remedy=CORRECT_MEMBER):
            found = getattr(self._inner, name)
        return Guarded(f"{self._who}: '{name}'", found) if callable(found) else found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call what is guarded."""
        with foreign_code(f"{self._who} failed", remedy=CORRECT_MEMBER):
            return self._inner(*arguments, **named)


def make_part(
    entry: str,
    who: str,
    methods: Methods,
    arguments: Sequence[object] = (),
    at: SourceLoc | None = None,
) -> Part:
    """Make an object of the class that ``module:Class`` names.

    Args:
        entry: the class.
        who: as `Part.who`.
        methods: what the object must have.
        arguments: of the class.
        at: where a description names it.

    Raises:
        AtollError: E041, E110; it cannot be loaded or made, or is not what it must be.
    """
    made = load(entry, at=at)
    if not isinstance(made, type):
        kind = f"is no class, but of type '{type(made).__name__}'"
        raise _unusable(f"{who} {kind}", "name a class: 'module:Class'", at)
    remedy = (
        f"let '{made.__name__}' take {len(arguments) or 'no'} argument{'s' * (len(arguments) != 1)}"
    )
    with foreign_code(f"{who} cannot be made", code="E110", at=at, remedy=remedy):
        value: object = made(*arguments)
    if missing := [name for name in methods if not callable(getattr(value, name, None))]:
        lacks = ", ".join(f"'{name}({', '.join(methods[name])})'" for name in missing)
        remedy = f"write {'it' if len(missing) == 1 else 'them'}: see docs/accelerators.md"
        raise _unusable(f"{who} lacks {lacks}", remedy, at)
    for name, taken in methods.items():
        if not takes(getattr(value, name), len(taken)):
            listed = f"{name}({', '.join(taken)})"
            raise _unusable(f"{who} cannot be called as '{listed}'", f"write 'def {listed}'", at)
    return Part(who=who, value=value, at=at)


def _unusable(message: str, remedy: str, at: SourceLoc | None) -> AtollError:
    return AtollError("E110", message, at=at, remedy=remedy)


def takes(method: Any, count: int) -> bool:
    """Say whether `method` can be called with `count` positional arguments, as far as known."""
    function = getattr(method, "__func__", None)
    return _takes(method, count) if function is None else _takes(function, count + 1)


@lru_cache(maxsize=1024)
def _takes(method: Any, count: int) -> bool:
    try:
        signature = inspect.signature(method)
    except ValueError:
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
