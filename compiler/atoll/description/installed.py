# SPDX-License-Identifier: Apache-2.0
"""Find the descriptions that installed packages bring."""

from importlib.util import find_spec
from pathlib import Path

from atoll.description.share import shortest
from atoll.diagnostics.errors import DescriptionError, SourceLoc


def is_path(word: str) -> bool:
    """Tell whether a chip means a file by `word`, and not an installed name."""
    return "/" in word or word.endswith((".yaml", ".yml"))


def described_in(package: str, name: str, group: str, at: SourceLoc | None) -> Path:
    """Return ``NAME.yaml`` in the folder of a package, whose code does not run.

    Raises:
        DescriptionError: E041; the package, which an entry point of `group` names, is not there.
    """
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise DescriptionError(
            "E041",
            f"cannot find '{package}', which entry points of {group} name",
            at=at,
            remedy="install the package again that brings it",
        )
    return shortest(Path(next(iter(spec.submodule_search_locations))) / f"{name}.yaml")
