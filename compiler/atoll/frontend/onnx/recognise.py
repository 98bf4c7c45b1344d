# SPDX-License-Identifier: Apache-2.0
"""Tell an ONNX file by its content, without the package `onnx`.

The format has no identifier. So the outermost message of the protocol buffer is walked: it must
hold a graph, nothing but the fields of a model, and end where the file ends.
"""

from collections.abc import Iterator
from io import SEEK_CUR, SEEK_END
from pathlib import Path
from typing import IO

GRAPH = 7
NUMBER, TEXT = 0, 2
_FIELDS = {
    **dict.fromkeys((1, 5), NUMBER),
    **dict.fromkeys((2, 3, 4, 6, GRAPH, 8, 14, 20, 25, 26), TEXT),
}
"""How the fields of a model lie in a file, by their number in `onnx.proto`."""

_MOST_FIELDS = 10_000
_LONGEST_NUMBER = 10


def is_onnx(path: Path) -> bool:
    """Tell whether a file can be read and its content is that of an ONNX model."""
    try:
        with path.open("rb") as file:
            return GRAPH in set(_fields(file))
    except (OSError, ValueError):
        return False


def _fields(file: IO[bytes]) -> Iterator[int]:
    """Yield the number of each field of the outermost message.

    Raises:
        ValueError: a field is none of a model's, or leads out of the file.
    """
    end = file.seek(0, SEEK_END)
    file.seek(0)
    for _ in range(_MOST_FIELDS):
        if file.tell() == end:
            return
        number, kind = divmod(_number(file), 8)
        if _FIELDS.get(number) != kind:
            raise ValueError(number)
        length = _number(file)
        if kind == TEXT and file.seek(length, SEEK_CUR) > end:
            raise ValueError(length)
        yield number
    raise ValueError(_MOST_FIELDS)


def _number(file: IO[bytes]) -> int:
    """Read a number of seven bits a byte, the lowest first."""
    number = 0
    for place in range(_LONGEST_NUMBER):
        byte = file.read(1)
        if not byte:
            break
        number |= (byte[0] & 127) << 7 * place
        if byte[0] < 128:
            return number
    raise ValueError(number)
