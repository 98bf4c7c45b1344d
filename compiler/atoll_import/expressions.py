# SPDX-License-Identifier: Apache-2.0
"""Numbers that a file writes as expressions of SystemVerilog, as IP-XACT does since 2014.

Source: IEEE 1685-2014, annex C; IEEE 1800, clause 11.
"""

import re
from collections.abc import Callable, Mapping

from atoll.records import dataclass
from atoll_import.vendor_values import number_of

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]*'[sS]?[hHdDoObB][0-9a-fA-F_]+|[0-9][0-9a-zA-Z_]*|#[01]+)"
    r"|(?P<name>\$?[A-Za-z_][\w.]*)|(?P<sign>\*\*|<<|>>|[<>=!]=|&&|\|\||[-+*/%()&|^~?:,<>!])|(?P<end>$))"
)
_LONGEST, _DEEPEST, _MOST_BITS = 1000, 50, 128
_BITS, _POWER = "$clog2", "$pow"


def _quotient(one: int, other: int) -> int:
    """Return a quotient that is rounded towards zero."""
    value = abs(one) // abs(other)
    return value if (one < 0) == (other < 0) else -value


_LEVELS: tuple[Mapping[str, Callable[[int, int], int]], ...] = (
    {"||": lambda one, other: bool(one) or bool(other)},
    {"&&": lambda one, other: bool(one) and bool(other)},
    {"|": lambda one, other: one | other},
    {"^": lambda one, other: one ^ other},
    {"&": lambda one, other: one & other},
    {"==": lambda one, other: one == other, "!=": lambda one, other: one != other},
    {
        "<": lambda one, other: one < other,
        "<=": lambda one, other: one <= other,
        ">": lambda one, other: one > other,
        ">=": lambda one, other: one >= other,
    },
    {"<<": lambda one, other: one << other, ">>": lambda one, other: one >> other},
    {"+": lambda one, other: one + other, "-": lambda one, other: one - other},
    {
        "*": lambda one, other: one * other,
        "/": lambda one, other: _quotient(one, other),
        "%": lambda one, other: one - other * _quotient(one, other),
    },
    {"**": lambda one, other: one**other},
)
"""Operators by how tightly they bind, the loosest first."""


class NoValueError(Exception):
    """An expression has no value; the text says why."""


def value_of(text: str, names: Mapping[str, str]) -> int:
    """Return the value of an expression.

    Args:
        text: the expression; a number alone is one.
        names: expressions by the name of a parameter.

    Raises:
        NoValueError: it is none, or too large, or a parameter of it is not in `names`.
    """
    return _value(text, names, 0)


def _value(text: str, names: Mapping[str, str], depth: int) -> int:
    if (number := number_of(text)) is not None:
        return number
    if len(text) > _LONGEST or depth > _DEEPEST:
        raise NoValueError("the expression is too long")
    reader = _Reader(_tokens(text), names, depth)
    value = reader.choice(0)
    if reader.tokens:
        raise NoValueError(f"'{reader.tokens[0]}' ends the expression too soon")
    return value


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            raise NoValueError(f"'{text[at:].lstrip()[:1]}' means nothing to Atoll")
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


@dataclass
class _Reader:
    """Reads an expression by descent; `tokens` are those that are left."""

    tokens: list[str]
    names: Mapping[str, str]
    depth: int

    def choice(self, nested: int) -> int:
        """Return the value of ``a ? b : c``, or of what is no choice."""
        value = self._level(0, nested)
        if not self._takes("?"):
            return value
        first = self.choice(nested + 1)
        self._expect(":")
        other = self.choice(nested + 1)
        return first if value else other

    def _level(self, level: int, nested: int) -> int:
        if nested > _DEEPEST:
            raise NoValueError("the expression is nested too deep")
        if level == len(_LEVELS):
            return self._single(nested)
        value = self._level(level + 1, nested)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            sign = self.tokens.pop(0)
            value = _apply_bounded(sign, value, self._level(level + 1, nested))
        return value

    def _single(self, nested: int) -> int:
        if not self.tokens:
            raise NoValueError("the expression ends too soon")
        token = self.tokens.pop(0)
        if token in "+-~!":
            value = self._single(nested + 1) if nested < _DEEPEST else self._level(0, nested + 1)
            return {"+": value, "-": -value, "~": ~value, "!": int(not value)}[token]
        if token == "(":
            value = self.choice(nested + 1)
            self._expect(")")
            return value
        if token == _BITS:
            self._expect("(")
            value = self.choice(nested + 1)
            self._expect(")")
            return max(value - 1, 0).bit_length()
        if token == _POWER:
            self._expect("(")
            base = self.choice(nested + 1)
            self._expect(",")
            exponent = self.choice(nested + 1)
            self._expect(")")
            return _apply_bounded("**", base, exponent)
        if (number := number_of(token)) is not None:
            return number
        if token not in self.names:
            raise NoValueError(f"'{token}' is no parameter of the component with a value")
        return _value(self.names[token], self.names, self.depth + 1)

    def _takes(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._takes(token):
            raise NoValueError(f"it lacks a '{token}'")


def _apply_bounded(sign: str, one: int, other: int) -> int:
    """Return a result of at most `_MOST_BITS` bits."""
    if sign in ("/", "%") and other == 0:
        raise NoValueError("it divides by 0")
    if sign in ("**", "<<", ">>") and not 0 <= other <= _MOST_BITS:
        raise NoValueError(f"'{sign} {other}' is too large")
    value = int(next(level[sign] for level in _LEVELS if sign in level)(one, other))
    if value.bit_length() > _MOST_BITS:
        raise NoValueError("its value is too large")
    return value
