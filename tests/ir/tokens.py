# SPDX-License-Identifier: Apache-2.0
"""Cut the text of a loop program into tokens."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from atoll.ir.faults import ProgramError

_TOKEN = re.compile(
    r"(?P<hex>0x(?:[0-9a-f]{2})*)|(?P<number>-?\d+)|(?P<name>[A-Za-z_][\w.]*)"
    r'|(?P<quoted>"[^"]*")'
    r"|(?P<mark>->|\.\.|<<|>>|<=|==|!=|[-+*/%<&|^(){}\[\],:=@$])|(?P<space>\s+)|(?P<bad>.)"
)
_KINDS = {
    "name": "a name",
    "quoted": "a text in quotes",
    "number": "a number",
    "hex": "bytes such as '0x00ff'",
}
T = TypeVar("T")


class Tokens:
    """A cursor over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [t for t in _TOKEN.finditer(text) if t.lastgroup != "space"]
        self._position = 0

    @property
    def next(self) -> str:
        """The token that comes next, "" at the end."""
        return "" if self.finished() else self._tokens[self._position].group()

    def accept(self, token: str) -> bool:
        """Step over `token` if it comes next."""
        found = self.next == token
        self._position += found
        return found

    def expect(self, token: str) -> None:
        """Step over `token`.

        Raises:
            ProgramError: E079; something else comes next.
        """
        if not self.accept(token):
            raise self.fault(f"'{token}'")

    def choose(self, choices: Mapping[str, T], what: str) -> T:
        """Step over a token that is a key of `choices` and return its value.

        Raises:
            ProgramError: E079; something else comes next.
        """
        if self.next not in choices:
            raise self.fault(what)
        chosen = choices[self.next]
        self._position += 1
        return chosen

    def name(self) -> str:
        """Step over a name and return it."""
        return self._take("name")

    def quoted(self) -> str:
        """Step over a text in quotes and return it."""
        return self._take("quoted").strip('"')

    def number(self) -> int:
        """Step over a decimal number and return it."""
        return int(self._take("number"))

    def data(self) -> bytes:
        """Step over hexadecimal bytes and return them."""
        return bytes.fromhex(self._take("hex").removeprefix("0x"))

    def _take(self, kind: str) -> str:
        token = None if self.finished() else self._tokens[self._position]
        if token is None or token.lastgroup != kind:
            raise self.fault(_KINDS[kind])
        self._position += 1
        return token.group()

    def nests(self, what: Callable[[], T], opening: str, closing: str) -> tuple[T, ...]:
        """Read items between two marks, with commas between them."""
        self.expect(opening)
        items: list[T] = []
        while self.next != closing:
            if items:
                self.expect(",")
            items.append(what())
        self.expect(closing)
        return tuple(items)

    def finished(self) -> bool:
        """Tell whether nothing is left."""
        return self._position == len(self._tokens)

    def fault(self, wanted: str) -> ProgramError:
        """Say what was wanted at this place, and what is there (E079)."""
        end = self.finished()
        offset = len(self._text) if end else self._tokens[self._position].start()
        line = self._text.count("\n", 0, offset) + 1
        column = offset - self._text.rfind("\n", 0, offset)
        found = "the end" if end else f"'{self.next[:40]}'"
        return ProgramError(
            "E079",
            f"line {line}, column {column} of the loop program: {found} instead of {wanted}",
            remedy="correct this place; `--dump-after` prints well-formed programs",
        )
