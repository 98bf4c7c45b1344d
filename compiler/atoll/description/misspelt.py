# SPDX-License-Identifier: Apache-2.0
"""Find out which key or kind is meant where a document holds one that does not exist."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from atoll.description.shape import Shape, keys_of, kinds_of, shape_at
from atoll.description.tree import inside

Path = tuple[str, ...]

_KIND = "kind"


@dataclass(frozen=True, slots=True)
class Misspelt:
    """The keys of a document that do not exist, each with the absent one that it is like.

    Attributes:
        meant: by the path of a key that does not exist, if it is like an absent one.
    """

    schema: Shape
    data: Any
    meant: dict[Path, str]

    @classmethod
    def among(cls, found: Sequence[tuple[Path, Any]], schema: Shape, data: Any) -> "Misspelt":
        """Return what is misspelt among the errors that pydantic found."""
        misspelt = cls(schema, data, {})
        for path, detail in found:
            if detail["type"] != "extra_forbidden":
                continue
            free = [key for key in misspelt.absent(path) if (*path[:-1], key) not in misspelt.found]
            if close := get_close_matches(path[-1].lower(), free, n=1):
                misspelt.meant[path] = close[0]
        return misspelt

    @property
    def found(self) -> set[Path]:
        """The paths of the keys that are meant."""
        return {(*path[:-1], key) for path, key in self.meant.items()}

    def absent(self, path: Path) -> tuple[str, ...]:
        """Return the keys that the mapping around `path` could have and has not."""
        present = self._value(path[:-1])
        keys = keys_of(shape_at(self.schema, path[:-1], self.data))
        return tuple(key for key in keys if key not in present)

    def kind_of(self, device: Path) -> str:
        """Return the kind that the keys of a device fit best."""
        entries, kinds = self._value(device), kinds_of(self.schema)
        written = entries.get(_KIND)
        close = get_close_matches(written.lower(), kinds, n=1) if isinstance(written, str) else ()
        return next(iter(close), max(kinds, key=lambda kind: len(entries.keys() & kinds[kind])))

    def word_for_kind(self, device: Path) -> str | None:
        """Return the key of a device that is like ``kind``, if it has such."""
        known = {key for keys in kinds_of(self.schema).values() for key in keys}
        strange = [key for key in self._value(device) if key not in known]
        return next(iter(get_close_matches(_KIND, strange, n=1)), None)

    def _value(self, path: Path) -> dict[str, Any]:
        value = self.data
        for name in path:
            value = inside(value, name)
        return value if isinstance(value, dict) else {}
