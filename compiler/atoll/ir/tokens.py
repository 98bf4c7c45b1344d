# SPDX-License-Identifier: Apache-2.0
"""Cut the text of a graph or a loop program into tokens."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from atoll.diagnostics.errors import SourceLoc
from atoll.ir.bytes_text import CHECKSUM, ZEROS
from atoll.ir.faults import ProgramError

_TOKEN = re.compile(
    r"(?P<shape>\[\d+(?:x\d+)+\])|(?P<hex>0x(?:[0-9a-f]{2})*)"
    r"|(?P<real>-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)|-inf\b)|(?P<number>-?\d+)"
    r'|(?P<name>[A-Za-z_][\w.]*)|(?P<quoted>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<mark>->|\.\.|<<|>>|<=|==|!=|[-+*/%<&|^(){}\[\],:=@$#])|(?P<space>\s+)|(?P<bad>.)"
)
_KINDS = {
    "name": "a name",
    "quoted": "a text in quotes",
    "number": "a number",
    "hex": "bytes such as '0x00ff'",
}
LONGEST = 40
"""Characters of a token that a message repeats."""
T = TypeVar("T")


class Tokens:
    """A cursor over the tokens of a text."""

    def __init__(self, text: str, what: str, path: Path | None = None) -> None:
        """Begin with the first token.

        Args:
            text: all of it.
            what: it is, for messages.
            path: the file that it is from.
        """
        self._text, self._what, self._path = text, what, path
        self._tokens = [t for t in _TOKEN.finditer(text) if t.lastgroup != "space"]
        self.position = 0

    @property
    def next(self) -> str:
        """The token that comes next, "" at the end."""
        return self.ahead(0)

    def ahead(self, count: int) -> str:
        """Return the token that comes after `count` others, "" behind the end."""
        at = self.position + count
        return self._tokens[at].group() if at < len(self._tokens) else ""

    @property
    def kind(self) -> str:
        """What the next token is: ``name``, ``number``, ``real``, ``quoted``, ``mark``, ..."""
        return "" if self.at_end() else str(self._tokens[self.position].lastgroup)

    def accept(self, token: str) -> bool:
        """Step over `token` if it comes next."""
        found = self.next == token
        self.position += found
        return found

    def expect(self, token: str) -> None:
        """Step over `token`.

        Raises:
            ProgramError: E222; something else comes next.
        """
        if not self.accept(token):
            self.refuse(f"'{token}'")

    def choose(self, choices: Mapping[str, T], what: str) -> T:
        """Step over a token that is a key of `choices` and return its value.

        Raises:
            ProgramError: E222; something else comes next.
        """
        if self.next not in choices:
            self.refuse(what)
        chosen = choices[self.next]
        self.position += 1
        return chosen

    def name(self, *before: str) -> str:
        """Step over the tokens `before` and a name, and return the name."""
        return self.take("name", *before)

    def names(self, opening: str = "[", closing: str = "]") -> tuple[str, ...]:
        """Read names between two marks, with commas between them."""
        return self.nests(self.name, opening, closing)

    def take_quoted(self, *before: str) -> str:
        """Step over the tokens `before` and a text in quotes, and return the text."""
        for each in before:
            self.expect(each)
        try:
            text = json.loads(self.take("quoted"))
        except ValueError:
            self.position -= 1
            self.refuse(_KINDS["quoted"])
        assert isinstance(text, str)
        return text

    def number(self, *before: str) -> int:
        """Step over the tokens `before` and a decimal number, and return the number."""
        return int(self.take("number", *before))

    def data(self, owner: str, size: int) -> bytes:
        """Step over the bytes of `owner` and return them: `size` zeros, or those that are written.

        Raises:
            ProgramError: E222, there are none; E198, there is their checksum alone.
        """
        if self.accept(ZEROS):
            return bytes(size)
        if self.next == CHECKSUM:
            self.lack(f"the bytes of '{owner}'")
        return bytes.fromhex(self.take("hex").removeprefix("0x"))

    def take(self, kind: str, *before: str) -> str:
        """Step over the tokens `before` and one of a kind, and return that."""
        for each in before:
            self.expect(each)
        if self.kind != kind:
            self.refuse(_KINDS[kind])
        self.position += 1
        return self.ahead(-1)

    def take_enclosed(self, what: Callable[[], T], opening: str, closing: str) -> T:
        """Read one item between two marks."""
        self.expect(opening)
        item = what()
        self.expect(closing)
        return item

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

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        return self.position >= len(self._tokens)

    def refuse(self, wanted: str) -> NoReturn:
        """Say what was wanted at this place, and what is there.

        Raises:
            ProgramError: E222.
        """
        found = "the end" if self.at_end() else f"'{self.next[:LONGEST]}'"
        raise self.fault("E222", f"{found} instead of {wanted}", "correct this place")

    def lack(self, what: str) -> NoReturn:
        """Say what this text leaves out.

        Raises:
            ProgramError: E198.
        """
        raise self.fault(
            "E198",
            f"this text is for people and leaves out {what}",
            "write it with 'atoll build --dump-after STAGE --dump-to FILE', or with 'atoll opt'",
        )

    def fault(
        self, code: str, message: str, remedy: str, position: int | None = None
    ) -> ProgramError:
        """Describe what is wrong at the token of a position, the next one by default."""
        at = self.position if position is None else position
        offset = self._tokens[at].start() if at < len(self._tokens) else len(self._text)
        line = self._text.count("\n", 0, offset) + 1
        column = offset - self._text.rfind("\n", 0, offset)
        if self._path:
            place = SourceLoc(self._path, line, column)
            return ProgramError(code, message, at=place, remedy=remedy)
        where = f"line {line}, column {column} of the {self._what}"
        return ProgramError(code, f"{where}: {message}", remedy=remedy)
