# SPDX-License-Identifier: Apache-2.0
"""Whom an entry of build options is about: operators by name, by pattern, or in a region."""

from collections.abc import Container

from pydantic import Field

from atoll.description.fields import Described

NAMES = r"[A-Za-z_*?\[][\w.*?!\[\]-]{0,255}"
"""The name of a buffer or of an operator, or a pattern of names."""


def is_pattern(name: str) -> bool:
    """Tell whether a name stands for all names that match it."""
    return any(each in name for each in "*?[")


class Whom(Described):
    """The operators of a name or of a pattern, or those of a region."""

    operators: str | None = Field(
        default=None,
        max_length=256,
        description="The operator, or a pattern of names.",
        examples=["conv_2d_*"],
    )
    first: str | None = Field(
        default=None,
        alias="from",
        max_length=256,
        description="The operator with which a region begins.",
        examples=["conv_2d_0"],
    )
    last: str | None = Field(
        default=None,
        alias="to",
        max_length=256,
        description="The operator with which it ends; all that lie on a way between are in it.",
        examples=["add_3"],
    )

    @property
    def whom(self) -> str:
        """What it names, for people."""
        return self.operators if self.operators is not None else f"{self.first}..{self.last}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names and patterns in it."""
        return tuple(filter(None, (self.operators, self.first, self.last)))


def says_whom(keys: Container[str]) -> bool:
    """Tell whether an entry has the keys of one form, and none of the other."""
    ends = [end in keys for end in ("from", "to")]
    return not any(ends) if "operators" in keys else all(ends)
