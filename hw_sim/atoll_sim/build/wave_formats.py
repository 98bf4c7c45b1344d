# SPDX-License-Identifier: Apache-2.0
"""The formats of waveforms, and whether this machine can build a model that writes them."""

import os
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from atoll.diagnostics.errors import UsageError
from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder

FST_PACKAGES = "zlib1g-dev and liblz4-dev (zlib-devel and lz4-devel)"
PROBE = """\
#include <lz4.h>
#include <zlib.h>
int main() { return LZ4_versionNumber() == 0 || zlibVersion() == nullptr; }
"""
"""Needs what Verilator's FST writer needs; g++ finds it below CPATH and LIBRARY_PATH as well."""


class WaveFormat(StrEnum):
    """A format by its file extension: plain text, or GTKWave's compressed one."""

    VCD = "vcd"
    FST = "fst"


def format_of(path: Path) -> WaveFormat:
    """Return the format that the extension of `path` names.

    Raises:
        UsageError: E089, none, or one that this machine cannot write.
    """
    try:
        found = WaveFormat(path.suffix.removeprefix(".").lower())
    except ValueError:
        raise UsageError(
            "E089",
            f"waveforms cannot be written to {path}: its extension names no format",
            remedy=f"name a .vcd or .fst file, such as {path.with_suffix('.vcd')}",
        ) from None
    if found is WaveFormat.FST and not can_write_fst():
        raise UsageError(
            "E089",
            "this machine cannot write FST waveforms: the headers or libraries of zlib or LZ4"
            " are missing",
            remedy=f"install {FST_PACKAGES}, or write {path.with_suffix('.vcd')}",
        )
    return found


@lru_cache(maxsize=1)
def can_write_fst() -> bool:
    """Compile and link a program with the libraries that an FST writer needs."""
    compiler = os.environ.get("CXX", "g++")
    with temporary_folder() as folder:
        source = folder / "probe.cpp"
        source.write_text(PROBE)
        command = [compiler, str(source), "-o", f"{folder}/probe", "-llz4", "-lz"]
        try:
            return run(command).returncode == 0
        except OSError:
            return False
