# SPDX-License-Identifier: Apache-2.0
"""Functions of the packages beside the core, which knows none of them but by name."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from atoll.diagnostics.errors import UsageError
from atoll.plugins.loading import load


def function_of(entry: str, what: str) -> Callable[..., Any]:
    """Return ``package.module:function``, which `what` needs.

    Raises:
        UsageError: E090; the package is not installed.
    """
    package = entry.partition(".")[0]
    if find_spec(package) is None:
        raise UsageError(
            "E090",
            f"'{what}' needs the package '{package}', which is not installed",
            remedy="install Atoll whole, with: pip install atoll",
        )
    function: Callable[..., Any] = load(entry)
    return function
