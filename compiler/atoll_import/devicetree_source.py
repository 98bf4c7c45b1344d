# SPDX-License-Identifier: Apache-2.0
"""Devicetree sources: the C preprocessor of zig and dtc make the blob that is read."""

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import ToolchainError
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_tool
from atoll_import.devicetree import IMPORTER as BLOB
from atoll_import.facts import Facts
from atoll_import.reader import Given, Importer

_BEGIN = re.compile(r"^\s*/dts-v1/", re.M)
_DIRECTIVE = re.compile(r"^\s*#\s*(include|define|if|ifdef|ifndef|undef)\b", re.M)
_PLACE = re.compile(r":(\d+)[.:]\d+.*?(?:: | )(?=\S)(.*)")
_MISSING = re.compile(r"'([^']+)' file not found")


class DevicetreeSource(Importer):
    """Reads ``.dts``, with what it includes."""

    suffixes = (".dts",)

    def recognises(self, given: Given) -> bool:
        """Tell by the version that each source states, or by the name: it may be included."""
        return given.path.suffix.lower() in self.suffixes or bool(_BEGIN.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return what the processors of the tree see.

        Raises:
            ToolchainError: E070; dtc is missing.
            UsageError: E138; a file that is included is missing, or the source is damaged.
        """
        dtc = shutil.which("dtc")
        if dtc is None:
            raise ToolchainError(
                "E070",
                f"dtc, which reads '{given.path}', is not installed",
                remedy="install it (Debian: device-tree-compiler), or give a blob that it made",
            )
        path = given.path.absolute()
        with temporary_folder() as folder:
            source, blob = folder / "chip.dts", folder / "chip.dtb"
            source.write_bytes(_preprocess(given, path) if _directs(given) else given.data)
            words = [word for each in _folders(path) for word in ("-i", str(each))]
            made = run_tool(
                [dtc, "-q", "-I", "dts", "-O", "dtb", *words, "-o", str(blob), str(source)],
                folder=folder,
            )
            if made.returncode or not blob.is_file():
                _refuse(given, made.stderr, "correct the source as dtc says")
            return BLOB.read(replace(given, data=blob.read_bytes()))


IMPORTER = DevicetreeSource()


def _directs(given: Given) -> bool:
    return bool(_DIRECTIVE.search(given.text))


def _preprocess(given: Given, path: Path) -> bytes:
    """Return the source with what it includes; lines that are not C's stay."""
    command = [sys.executable, "-m", "ziglang", "cc", "-E", "-nostdinc", "-undef"]
    command += ["-x", "assembler-with-cpp"]
    command += [f"-I{each}" for each in _folders(path)]
    done = run_tool([*command, str(path)], folder=path.parent)
    if done.returncode:
        missing = _MISSING.search(done.stderr)
        what = f"'{missing[1]}'" if missing else "what it includes"
        remedy = f"put {what} beside the file, or give the file within the tree of its project"
        _refuse(given, done.stderr, remedy)
    return done.stdout.encode()


def _folders(path: Path) -> Iterator[Path]:
    """Yield where files that a source includes may be: around it, and in its project.

    That is Linux's ``include``, or Zephyr's ``dts`` with the folders of its architectures, also
    of the modules beside it.
    """
    above: list[Path] = []
    for folder in path.parents:
        above.append(folder)
        include, dts = folder / "include", folder / "dts"
        if any((include / each / "dt-bindings").is_dir() for each in ("", "zephyr")):
            yield from above
            yield from (include, include / "zephyr")
            modules = folder.parent.glob("modules/hal/*/dts")
            for tree in (dts, *sorted(modules)):
                yield from (tree, *sorted(each for each in tree.glob("*") if each.is_dir()))
            return
    yield path.parent


def _refuse(given: Given, said: str, remedy: str) -> None:
    """Refuse a source for the first thing that a tool says against it."""
    errors = [line for line in said.splitlines() if "error" in line.lower()] or said.splitlines()
    found = _PLACE.search(errors[0]) if errors else None
    what = found[2] if found else errors[0] if errors else "dtc made nothing of it"
    given.refuse(
        what.removeprefix("fatal ").removeprefix("error: "), int(found[1]) if found else 0, remedy
    )
