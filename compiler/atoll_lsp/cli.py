# SPDX-License-Identifier: Apache-2.0
"""The command `atoll lsp`."""

import sys
from contextlib import redirect_stdout
from importlib.util import find_spec

from atoll.diagnostics.errors import UsageError
from atoll.utils.garbage import collect_often


def lsp() -> None:
    """Serve an editor by the Language Server Protocol.

    Editors start it and talk to it by standard input and output: diagnostics as those of atoll
    check, completion, values and their layers, definitions, references, renaming, quick fixes, and
    bytes left in memories and pools.

    Example: atoll lsp 2> lsp.log
    """
    if find_spec("pygls") is None:
        raise UsageError(
            "E232",
            "'atoll lsp' needs the package 'pygls', which is not installed",
            remedy="install it with: pip install 'atoll[lsp]'",
        )
    from atoll_lsp.features import server  # needs pygls

    collect_often()
    answers = sys.stdout.buffer
    with redirect_stdout(sys.stderr):  # what code of plug-ins prints is no answer
        server.start_io(sys.stdin.buffer, answers)
