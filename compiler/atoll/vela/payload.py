# SPDX-License-Identifier: Apache-2.0
"""The payload of a custom operator `ethos-u`: what Vela writes, and what Arm's driver reads.

Vela writes "Custom Operator Payload 2" where each input and output has a region of its own, and
Arm's driver for bare metal reads "Custom Operator Payload 1". Both are a header before the same
command stream, in little-endian words; the formats are those of Vela's own tests and of the driver
(test_custom_operator.cpp of ethos-u-vela 5, ethosu_driver.c of ethos-u-core-driver, Apache-2.0).
"""

import struct

from atoll.diagnostics.errors import ModelError
from atoll.records import dataclass

FIRST, SECOND, METADATA = b"COP1", b"COP2", b"VEUM"
_VERSION = 1
_STREAM_ENTRY = 1
_METADATA_AT = 28
_DIRECT = 2
"""Bit of the features: inputs and outputs have regions of their own."""

CONFIG_ACTION, STREAM_ACTION, NOP_ACTION = 0x0010_0001, 2, 5
MOST_WORDS = 2**24 - 1
"""Words of a command stream that a header of the driver can count."""

UPDATE = "install the version of ethos-u-vela that Atoll names: pip install 'atoll[ethos-u]'"


@dataclass(frozen=True, slots=True)
class Payload:
    """A command stream and the NPU that it is for.

    Attributes:
        config: the value of the NPU's register CONFIG.
        identity: the value of its register ID as far as it tells the architecture's version.
        stream: words of the command stream.
    """

    config: int
    identity: int
    stream: tuple[int, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates in a cycle of the NPU that it is for."""
        return 1 << (self.config & 0xF)

    @property
    def product(self) -> int:
        """The NPU that it is for: 55, 65 or 85."""
        return {0: 55, 1: 65}.get(self.config >> 28, 85)

    def for_driver(self) -> bytes:
        """Return it as Arm's driver takes it; the stream begins 32 bytes behind the start.

        Raises:
            ModelError: E143, the stream is too long.
        """
        words = len(self.stream)
        if words > MOST_WORDS:
            message = f"Vela's command stream has {words} words, Arm's driver takes {MOST_WORDS}"
            raise ModelError("E143", message, remedy="build the network in two parts")
        action = STREAM_ACTION | (words >> 16) << 8 | (words & 0xFFFF) << 16
        header = (CONFIG_ACTION, self.config, self.identity, *(NOP_ACTION,) * 3, action)
        return FIRST + struct.pack(f"<{7 + words}I", *header, *self.stream)


def read_second(data: bytes) -> Payload:
    """Read a payload as Vela writes it with a region for each input and output.

    Raises:
        ModelError: E143, it is none of a format that Atoll knows.
    """
    if len(data) < _METADATA_AT + 36 or len(data) % 4 or data[:4] != SECOND:
        raise _unknown(f"a payload of {len(data)} bytes that begins with {data[:4]!r}")
    version, size, entry, entry_size, before = struct.unpack_from("<IQIII", data, 4)
    whole = (version, size, entry, entry_size)
    if whole != (_VERSION, len(data) - 16, _STREAM_ENTRY, len(data) - 24):
        raise _unknown(f"a payload whose header is {whole}")
    start = _METADATA_AT + before
    word, number, _, config, identity, features = struct.unpack_from("<4sIIIII", data, _METADATA_AT)
    if word != METADATA or number != _VERSION or not features & _DIRECT or start > len(data):
        raise _unknown(f"metadata of {before} bytes that begin with {word!r}, features {features}")
    count = (len(data) - start) // 4
    return Payload(config, identity, struct.unpack_from(f"<{count}I", data, start))


def read_first(data: bytes) -> Payload | None:
    """Read a payload as the driver takes it; None if it is none that `for_driver` makes."""
    if len(data) < 32 or len(data) % 4 or data[:4] != FIRST:
        return None
    action, config, identity, *rest = struct.unpack_from("<7I", data, 4)
    words = rest[-1] >> 16 | (rest[-1] >> 8 & 0xFF) << 16
    expected = (CONFIG_ACTION, STREAM_ACTION, len(data) // 4 - 8)
    if (action, rest[-1] & 0xFF, words) != expected:
        return None
    return Payload(config, identity, struct.unpack_from(f"<{words}I", data, 32))


def _unknown(found: str) -> ModelError:
    return ModelError("E143", f"Vela wrote {found}, which Atoll does not know", remedy=UPDATE)
