# SPDX-License-Identifier: Apache-2.0
"""Build C++ of the simulator as a shared library for Python, once for each content."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from atoll.diagnostics.errors import ToolchainError
from atoll.utils.cache import cache_folder, only_builder
from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder

FLAGS = ("-std=c++20", "-O2", "-shared", "-fPIC")


def shared_library(
    name: str, sources: Sequence[Path], headers: Sequence[Path], generated: Mapping[str, str]
) -> Path:
    """Return the library of some sources, from the cache if it was built before.

    Args:
        name: of its folder in the cache.
        sources: what is compiled.
        headers: files that the sources include; their folders are searched for them.
        generated: further headers by name.

    Raises:
        ToolchainError: E070, E077; there is no C++ compiler, or it fails.
    """
    compiler = os.environ.get("CXX", "g++")
    digest = hashlib.sha256(repr((compiler, FLAGS, generated)).encode())
    for path in (*sources, *headers):
        digest.update(path.read_bytes())
    library = cache_folder() / name / f"{digest.hexdigest()[:20]}.so"
    folders = {path.parent for path in headers}
    with only_builder(library):
        if not library.is_file():
            fresh = library.with_suffix(".new")
            with temporary_folder() as folder:
                for header, text in generated.items():
                    (folder / header).write_text(text)
                included = [f"-I{each}" for each in (folder, *sorted(folders))]
                _compile([compiler, *FLAGS, *included, *map(str, sources), "-o", str(fresh)], name)
            fresh.replace(library)
    return library


def _compile(command: list[str], name: str) -> None:
    try:
        done = run(command)
    except OSError as fault:
        raise ToolchainError(
            "E070",
            f"cannot run '{command[0]}', which builds library '{name}': {fault.strerror}",
            remedy="install a C++ compiler, or name one in CXX",
        ) from fault
    if done.returncode:
        raise ToolchainError(
            "E077",
            f"'{command[0]}' failed while building library '{name}':\n{done.stderr}",
            remedy="correct the first error above",
        )
