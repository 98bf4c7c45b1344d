# SPDX-License-Identifier: Apache-2.0
"""Have the compiler read Verilator's own headers once for all models that are built alike."""

from collections.abc import Sequence
from pathlib import Path

from atoll.diagnostics.errors import ToolchainError
from atoll_sim.build.tools import call_tool

_HEADERS = Path(__file__).with_suffix(".h")
"""Stays where it is: what was read of a file that is gone is of no use."""

_READ = "headers.pch"
_RULES = f"""\
READ = $(CXX) $(OPT_FAST) $(CXXFLAGS) $(CPPFLAGS)
new.pch:
\t$(READ) -x c++-header -fpch-instantiate-templates -Xclang -emit-pch -c -o $@ '{_HEADERS}'
tried:
\t$(READ) -include-pch {_READ} -fsyntax-only /dev/null
"""
_ANY_LEVEL = ("-Xclang", "-fno-validate-pch")
"""Files that are compiled with another level of optimisation take what was read as well."""

_USABLE: set[Path] = set()
"""What this process has tried or written."""


def precompile(objects: Path, shared: Path, make: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the options with which clang takes the headers as it has read them before.

    None if that fails; then each file reads them, which takes it two seconds more. Headers that
    have changed since, or have moved, are read again.

    Args:
        objects: folder that Verilator wrote, in which the compiler runs.
        shared: folder of what all models share that are built alike.
        make: the command that compiles a model, with its flags.
        what: for messages.
    """
    kept = shared / _READ
    (objects / "headers.mk").write_text(_RULES)
    (objects / _READ).symlink_to(kept)

    def works(target: str) -> bool:
        try:
            call_tool([*make, "-f", "headers.mk", target], what)
        except ToolchainError:
            return False
        return True

    if not (kept.exists() and (kept in _USABLE or works("tried"))):
        if not works("new.pch"):
            return ()
        (objects / "new.pch").replace(kept)
    _USABLE.add(kept)
    return ("-include-pch", _READ, *_ANY_LEVEL)
