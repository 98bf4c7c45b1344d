"""Cut the text of a loop program into tokens."""

import re
from collections.abc import Callable
from typing import TypeVar

from atoll.ir.faults import ProgramError

_TOKEN = re.compile(
    r"(?P<hex>0x[0-9a-f]*)|(?P<number>-?\d+)|(?P<name>[A-Za-z_][\w.]*)"
    r"|(?P<mark>->|\.\.|<<|>>|<=|==|!=|[-+*/%<&|^(){}\[\],:=@])|(?P<space>\s+)|(?P<bad>.)"
)
_END = "the end of the text"
T = TypeVar("T")


class Tokens:
    """A cursor over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [t for t in _TOKEN.finditer(text) if t.lastgroup != "space"]
        self._position = 0

    def at(self, token: str) -> bool:
        """Tell whether `token` comes next."""
        return self._peek() == token

    def accept(self, token: str) -> bool:
        """Step over `token` if it comes next."""
        found = self.at(token)
        self._position += found
        return found

    def expect(self, token: str) -> None:
        """Step over `token`.

        Raises:
            ProgramError: E079; something else comes next.
        """
        if not self.accept(token):
            raise self.fault(f"'{token}'")

    def take(self, kind: str) -> str:
        """Step over a token of `kind` and return it.

        Args:
            kind: ``name``, ``number``, ``hex`` or ``mark``.

        Raises:
            ProgramError: E079; something else comes next.
        """
        if self._position < len(self._tokens):
            token = self._tokens[self._position]
            if token.lastgroup == kind:
                self._position += 1
                return token.group()
        raise self.fault(f"a {kind}")

    def number(self) -> int:
        """Step over a decimal number and return it."""
        return int(self.take("number"))

    def nests(self, what: Callable[[], T], opening: str, closing: str) -> tuple[T, ...]:
        """Read items between two marks, with commas between them."""
        self.expect(opening)
        items: list[T] = []
        while not self.at(closing):
            if items:
                self.expect(",")
            items.append(what())
        self.expect(closing)
        return tuple(items)

    def finished(self) -> bool:
        """Tell whether nothing is left."""
        return self._position == len(self._tokens)

    def fault(self, wanted: str, note: str = "") -> ProgramError:
        """Say what was wanted at this place, and what is there (E079)."""
        end = self.finished()
        offset = len(self._text) if end else self._tokens[self._position].start()
        line = self._text.count("\n", 0, offset) + 1
        column = offset - self._text.rfind("\n", 0, offset)
        found = _END if end else f"'{self._peek()}'"
        return ProgramError(
            "E079",
            f"line {line}, column {column} of the loop program: {found} instead of {wanted}{note}",
            remedy="write what `--dump-after` prints, or correct this place",
        )

    def _peek(self) -> str:
        return "" if self.finished() else self._tokens[self._position].group()
