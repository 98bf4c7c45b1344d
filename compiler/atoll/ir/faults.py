# SPDX-License-Identifier: Apache-2.0
"""The error of a loop program that breaks the rules of its language."""

from atoll.diagnostics.errors import AtollError, Fault


class ProgramError(AtollError):
    """A loop program, or its text, is not well-formed."""


def ill_formed(where: str, message: str) -> Fault:
    """Describe a broken rule (E078).

    Args:
        where: function and statement, or the part of the entry.
        message: what is wrong there.
    """
    return Fault(
        code="E078",
        message=f"{where}: {message}",
        remedy="correct the pass or the text that made it",
    )
