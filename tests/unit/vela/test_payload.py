# SPDX-License-Identifier: Apache-2.0
"""Payloads of the custom operator `ethos-u`: Vela's format is read, the driver's is written."""

import struct

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.vela.payload import Payload, read_first, read_second

CONFIG, IDENTITY, STOP = 0x0000_1807, 0x1006_6001, 0xFFFF_0000
FEATURES = 12
"""The word of a payload of Vela's that has the features."""


def second(*stream: int) -> list[int]:
    """Return the words that Vela's own test expects of "Direct Drive"."""
    size = 4 * (16 + len(stream))
    cop2, metadata = (int.from_bytes(word, "little") for word in (b"COP2", b"VEUM"))
    header = (cop2, 1, size - 16, 0, 1, size - 24, 36, metadata, 1, 20, CONFIG, IDENTITY, 2)
    return [*header, 5678, 0, 0xFFFF_FFFF, *stream]


def packed(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def test_velas_payload_is_read() -> None:
    payload = read_second(packed(second(0xDEAD_BEEF, STOP)))
    assert payload == Payload(CONFIG, IDENTITY, (0xDEAD_BEEF, STOP))
    assert (payload.product, payload.macs) == (55, 128)
    assert Payload(CONFIG | 1 << 28 | 1, 0, ()).product == 65


def test_the_drivers_payload_is_as_velas_own_test_has_it() -> None:
    made = Payload(CONFIG, IDENTITY, (0xDEAD_BEEF,)).for_driver()
    words = struct.unpack("<9I", made)
    cop1 = int.from_bytes(b"COP1", "little")
    assert words == (cop1, 0x0010_0001, CONFIG, IDENTITY, 5, 5, 5, 0x0001_0002, 0xDEAD_BEEF)


@pytest.mark.parametrize("count", [1, 0xFFFF, 0x1_0000, 0x2_3456])
def test_what_is_written_for_the_driver_is_read_again(count: int) -> None:
    payload = Payload(CONFIG, IDENTITY, (*range(count - 1), STOP))
    assert read_first(payload.for_driver()) == payload


@pytest.mark.parametrize("word", [0, 1, 2, 3, 4, 5, 6, 7, 8, FEATURES])
def test_a_payload_that_differs_anywhere_in_its_header_is_refused(word: int) -> None:
    words = second(STOP)
    words[word] = 0xFF_FFF0
    with pytest.raises(ModelError, match="E143"):
        read_second(packed(words))


@pytest.mark.parametrize("length", [0, 3, 60, 63])
def test_a_short_payload_is_refused(length: int) -> None:
    with pytest.raises(ModelError, match="E143"):
        read_second(packed(second(STOP))[:length])


@pytest.mark.parametrize("word", [0, 1, 7])
def test_a_changed_header_is_none_of_the_drivers(word: int) -> None:
    data = bytearray(Payload(CONFIG, IDENTITY, (STOP,)).for_driver())
    data[4 * word] ^= 1
    assert read_first(bytes(data)) is None
