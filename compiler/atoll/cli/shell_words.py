# SPDX-License-Identifier: Apache-2.0
"""How bash splits a command line that it asks to complete."""

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

COMPLETE = "_ATOLL_COMPLETE"
"""The environment variable that asks for completions instead of a command."""


def complete(run: Callable[[], int]) -> int:
    """Print what `run` offers in a shell, and return the status.

    Bash takes `=` and `:` for words of their own: they are joined for `run`, and what follows them
    is printed alone.
    """
    if os.environ[COMPLETE] != "complete_bash" or "COMP_WORDS" not in os.environ:
        return run()
    words = os.environ["COMP_WORDS"].split("\n")
    cursor = int(os.environ.get("COMP_CWORD", len(words) - 1))
    joined, begin = _join_words(words[: cursor + 1])
    os.environ |= {"COMP_WORDS": "\n".join(joined), "COMP_CWORD": str(len(joined) - 1)}
    printed = io.StringIO()
    with redirect_stdout(printed):
        status = run()
    sys.stdout.writelines(f"{line[begin:]}\n" for line in printed.getvalue().splitlines())
    return status


def _join_words(words: Sequence[str]) -> tuple[list[str], int]:
    """Join words around `=` and `:`; also say where the last word of bash begins in its word."""
    joined: list[str] = []
    at = 0
    glue = False
    for word in words:
        separator = word in ("=", ":", "=:")
        if joined and (separator or glue):
            at = len(joined[-1]) + (len(word) if separator else 0)
            joined[-1] += word
        else:
            joined.append(word)
            at = 0
        glue = separator
    return joined, at
